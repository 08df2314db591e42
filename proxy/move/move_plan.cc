#include "proxy/move/move_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace ringway::proxy {
namespace {

// Below this a share is what rounding leaves of none at all; one hash in 2^18 slots is far above it.
constexpr double kNoShare = 1e-9;

std::vector<Shard> Without(const std::vector<Shard>& shards, const std::vector<Shard>& others) {
  std::vector<Shard> rest;
  for (const Shard& shard : shards) {
    const bool known = std::any_of(others.begin(), others.end(),
                                   [&shard](const Shard& other) { return other.id == shard.id; });
    if (!known) rest.push_back(shard);
  }
  return rest;
}

// Servers and what goes between them.
class Circles {
 public:
  void Add(uint32_t from, uint32_t to, double share) {
    arrows_.emplace(from, to);
    net_outflow_[from] += share;
    net_outflow_[to] -= share;
  }

  // Leaves only arrows that may be part of a circle: those of a server that only gives or only takes are
  // none, and without these others may come to be such servers.
  void Trim() {
    for (size_t before = arrows_.size() + 1; arrows_.size() < before;) {
      before = arrows_.size();
      std::set<uint32_t> gives;
      std::set<uint32_t> takes;
      for (const auto& [from, to] : arrows_) {
        gives.insert(from);
        takes.insert(to);
      }
      std::erase_if(arrows_, [&](const auto& arrow) {
        return !takes.contains(arrow.first) || !gives.contains(arrow.second);
      });
    }
  }

  // Whether the arrow points back, of all servers in the order of what they give more than they take. Without
  // those there is no circle.
  bool PointsBack(uint32_t from, uint32_t to) const {
    if (!arrows_.contains({from, to})) return false;
    const double give = net_outflow_.at(from);
    const double take = net_outflow_.at(to);
    return give != take ? give < take : from > to;
  }

 private:
  std::set<std::pair<uint32_t, uint32_t>> arrows_;
  std::map<uint32_t, double> net_outflow_;
};

}  // namespace

MovePlan::MovePlan(uint64_t id, std::vector<Shard> from, ring::HashRing from_ring, std::vector<Shard> to,
                   ring::HashRing to_ring, const std::vector<uint32_t>& given_up, config::Mover mover)
    : id_(id),
      from_(std::move(from)),
      to_(std::move(to)),
      diff_(std::move(from_ring), std::move(to_ring)),
      mover_(mover) {
  for (const Shard& shard : from_) {
    given_up_.push_back(std::find(given_up.begin(), given_up.end(), shard.id) != given_up.end());
  }
  FindPairs();
  FindRelayed();
  figures_ = std::make_unique<MoveFigures>(pairs_.size());
}

// The rings know names. What a replaced shard keeps on the ring moves as well, to the server that has its
// name now.
void MovePlan::FindPairs() {
  std::vector<double> stays;
  for (uint32_t from = 0; from < from_.size(); ++from) stays.push_back(diff_.from().Share(from));
  for (const ring::Move& move : diff_.pairs()) {
    stays[move.from] -= move.share;
    if (!given_up_[move.from]) pairs_.push_back({move.from, move.to, move.share});
  }
  for (uint32_t from = 0; from < from_.size(); ++from) {
    const uint32_t to = diff_.NewIndex(from);
    if (to == ring::HashRing::kNoShard || from_[from].id == to_[to].id || given_up_[from]) continue;
    if (stays[from] > kNoShare) pairs_.push_back({from, to, stays[from]});
  }
  std::sort(pairs_.begin(), pairs_.end(),
            [](const Pair& a, const Pair& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
  pair_of_.assign(from_.size() * to_.size(), 0);
  for (uint32_t i = 0; i < pairs_.size(); ++i) {
    pair_of_[pairs_[i].from * to_.size() + pairs_[i].to] = i;
    moving_share_ += pairs_[i].share;
  }
}

std::vector<uint32_t> MovePlan::TargetIds() const {
  std::vector<uint32_t> ids;
  for (const Pair& pair : pairs_) {
    const uint32_t id = to_[pair.to].id;
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  return ids;
}

void MovePlan::FindRelayed() {
  Circles circles;
  for (const Pair& pair : pairs_) circles.Add(from_[pair.from].id, to_[pair.to].id, pair.share);
  circles.Trim();
  for (const Pair& pair : pairs_) {
    relayed_.push_back(mover_ == config::Mover::kRelay ||
                       circles.PointsBack(from_[pair.from].id, to_[pair.to].id));
    if (relayed_.back()) relays_any_ = true;
  }
}

std::vector<Shard> MovePlan::Leaving() const { return Without(from_, to_); }

std::vector<Shard> MovePlan::Joining() const { return Without(to_, from_); }

}  // namespace ringway::proxy
