#include "ring/hash_ring.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ring/capped_table.h"
#include "ring/check.h"
#include "ring/ketama_ring.h"
#include "ring/virtual_nodes.h"

namespace ringway::ring {
namespace {

uint64_t LastPosition(int hash_bits) { return hash_bits == 64 ? UINT64_MAX : (uint64_t{1} << hash_bits) - 1; }

void AppendArc(std::vector<HashRing::Arc>& arcs, uint64_t first, uint64_t last, uint32_t owner) {
  if (!arcs.empty() && arcs.back().owner == owner) {
    arcs.back().last = last;
  } else {
    arcs.push_back({first, last, owner});
  }
}

}  // namespace

HashRing::HashRing(std::vector<Member> members, RingOptions options)
    : members_(std::move(members)),
      options_(std::move(options)),
      tag_(options_.hash_tag),
      hash32_(Hash32Of(options_.hash)),
      points_(members_.size(), 0) {
  const std::optional<std::string> problem = CheckRing(members_, options_);
  RINGWAY_RING_CHECK(!problem, problem->c_str());
  for (const Member& member : members_) identifiers_.push_back(TwemproxyIdentifier(member));
  switch (options_.distribution) {
    case Distribution::kRing:
      BuildRing();
      break;
    case Distribution::kKetama:
      BuildKetama();
      break;
    case Distribution::kModula:
      BuildModula();
      break;
  }
  for (uint32_t count : points_) total_points_ += count;
  MeasureShares();
}

void HashRing::BuildRing() {
  // Built in canonical order, so that neither ties nor the rounding of sums depend on how members are listed.
  const std::vector<uint32_t> order = CanonicalOrder(members_);
  std::vector<Member> sorted;
  std::vector<double> weights;
  for (uint32_t m : order) {
    sorted.push_back(members_[m]);
    weights.push_back(members_[m].weight);
    points_[m] = VirtualNodeCount(members_[m].weight, options_.virtual_nodes);
  }
  std::vector<Point> nodes = PlaceVirtualNodes(sorted, options_.virtual_nodes);
  if (!options_.balance_cap) {
    for (Point& node : nodes) node.owner = order[node.owner];
    circle_owner_ = std::make_shared<const Circle>(nodes, hash_bits());
    circle_ = circle_owner_.get();
    return;
  }
  std::vector<uint16_t> slots = ResolveCapped(nodes, weights, *options_.balance_cap, kSlotBits);
  for (uint16_t& owner : slots) owner = static_cast<uint16_t>(order[owner]);
  slot_bits_ = kSlotBits;
  SetSlots(std::move(slots));
}

void HashRing::BuildKetama() {
  const std::vector<Point> points = PlaceKetamaPoints(members_);
  for (const Point& point : points) ++points_[point.owner];
  circle_owner_ = std::make_shared<const Circle>(points, hash_bits());
  circle_ = circle_owner_.get();
}

void HashRing::BuildModula() {
  SetSlots(ModulaSlots(members_));
  for (uint16_t owner : slots()) ++points_[owner];
}

void HashRing::SetSlots(std::vector<uint16_t> slots) {
  slots_owner_ = std::make_shared<const std::vector<uint16_t>>(std::move(slots));
  slots_ = slots_owner_->data();
  slot_count_ = static_cast<uint32_t>(slots_owner_->size());
}

void HashRing::MeasureShares() {
  shares_.assign(members_.size(), 0);
  if (circle_ == nullptr) {
    std::vector<uint32_t> counts(members_.size(), 0);
    for (uint16_t owner : slots()) ++counts[owner];
    for (size_t m = 0; m < counts.size(); ++m) shares_[m] = counts[m] / static_cast<double>(slot_count_);
  } else {
    for (const Arc& arc : Arcs()) {
      shares_[arc.owner] += std::ldexp(static_cast<double>(arc.last - arc.first) + 1, -hash_bits());
    }
  }

  double total_weight = 0;
  for (const Member& member : members_) total_weight += member.weight;
  double largest = 0;
  double smallest = INFINITY;
  double squares = 0;
  size_t live = 0;
  for (size_t m = 0; m < members_.size(); ++m) {
    wanted_shares_.push_back(members_[m].weight / total_weight);
    if (members_[m].weight <= 0) continue;
    const double relative = shares_[m] / wanted_shares_[m];
    largest = std::max(largest, relative);
    smallest = std::min(smallest, relative);
    squares += (relative - 1) * (relative - 1);
    ++live;
  }
  balance_ = {largest, smallest, std::sqrt(squares / static_cast<double>(live))};
}

void HashRing::Successors(uint64_t hash, size_t count, std::vector<uint32_t>* out) const {
  out->clear();
  const auto owners = std::count_if(shares_.begin(), shares_.end(), [](double share) { return share > 0; });
  count = std::min(count, static_cast<size_t>(owners));
  std::vector<bool> seen(members_.size(), false);
  const auto add = [&](uint32_t owner) {
    if (!seen[owner]) out->push_back(owner);
    seen[owner] = true;
  };
  if (circle_ == nullptr) {
    const uint64_t first = slot_bits_ != 0 ? hash >> (64 - slot_bits_) : hash % slot_count_;
    for (uint64_t i = 0; out->size() < count; ++i) add(slots_[(first + i) % slot_count_]);
  } else {
    const uint64_t first = circle_->PointAt(hash);
    for (uint64_t i = 0; out->size() < count; ++i) {
      // Not the point's own member: of points on one position only the first owns anything.
      const auto point = static_cast<uint32_t>((first + i) % circle_->size());
      add(circle_->Owner(circle_->position(point)));
    }
  }
}

std::vector<HashRing::Arc> HashRing::Arcs() const {
  std::vector<Arc> arcs;
  if (slot_bits_ != 0) {
    const uint64_t width = uint64_t{1} << (64 - slot_bits_);
    for (uint64_t slot = 0; slot < slot_count_; ++slot) {
      AppendArc(arcs, slot * width, slot * width + (width - 1), slots_[slot]);
    }
  } else if (circle_ != nullptr) {
    uint64_t first = 0;
    for (uint32_t i = 0; i < circle_->size(); ++i) {
      const uint64_t last = circle_->position(i);
      // Of points on one position only the first owns anything.
      if (i > 0 && last == circle_->position(i - 1)) continue;
      AppendArc(arcs, first, last, circle_->owner(i));
      first = last + 1;
    }
    const uint64_t end = LastPosition(hash_bits());
    if (arcs.back().last != end) AppendArc(arcs, first, end, circle_->owner(0));
  }
  return arcs;
}

}  // namespace ringway::ring
