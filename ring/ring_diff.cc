#include "ring/ring_diff.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "ring/check.h"

namespace ringway::ring {
namespace {

bool IsModula(const HashRing& ring) { return ring.options().distribution == Distribution::kModula; }

// How many slots of each member leave a given remainder: one map for each remainder modulo `modulus`.
std::vector<std::map<uint32_t, uint32_t>> OwnersByRemainder(const HashRing& ring, uint32_t modulus) {
  std::vector<std::map<uint32_t, uint32_t>> owners(modulus);
  const auto slots = ring.slots();
  for (size_t slot = 0; slot < slots.size(); ++slot) ++owners[slot % modulus][slots[slot]];
  return owners;
}

}  // namespace

std::optional<std::string> RingDiff::CheckComparable(const HashRing& from, const HashRing& to) {
  if (from.options().hash != to.options().hash) {
    return "the hash changes from " + std::string(Name(from.options().hash)) + " to " +
           std::string(Name(to.options().hash));
  }
  if (from.options().hash_tag != to.options().hash_tag) {
    return "the hash tag changes from \"" + from.options().hash_tag + "\" to \"" + to.options().hash_tag +
           "\"";
  }
  if (IsModula(from) != IsModula(to)) {
    return "the distribution changes from " + std::string(Name(from.options().distribution)) + " to " +
           std::string(Name(to.options().distribution));
  }
  return std::nullopt;
}

RingDiff::RingDiff(HashRing from, HashRing to) : from_(std::move(from)), to_(std::move(to)) {
  const std::optional<std::string> problem = CheckComparable(from_, to_);
  RINGWAY_RING_CHECK(!problem, problem->c_str());
  MatchMembers();
  if (IsModula(from_)) {
    CompareSlots();
  } else {
    CompareArcs();
  }
  std::sort(pairs_.begin(), pairs_.end(),
            [](const Move& a, const Move& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
  for (const Move& move : pairs_) moving_share_ += move.share;
}

void RingDiff::MatchMembers() {
  std::unordered_map<std::string_view, uint32_t> new_members;
  for (uint32_t m = 0; m < to_.members().size(); ++m) new_members.emplace(to_.Identifier(m), m);
  // At the least, what shards should own more than before has to arrive there.
  std::vector<double> growth;
  for (uint32_t m = 0; m < to_.members().size(); ++m) growth.push_back(to_.WantedShare(m));
  for (uint32_t m = 0; m < from_.members().size(); ++m) {
    const auto match = new_members.find(from_.Identifier(m));
    new_index_.push_back(match == new_members.end() ? HashRing::kNoShard : match->second);
    if (match != new_members.end()) growth[match->second] -= from_.WantedShare(m);
  }
  for (double share : growth) least_possible_share_ += std::max(share, 0.0);
}

void RingDiff::CompareArcs() {
  const std::vector<HashRing::Arc> before = from_.Arcs();
  const std::vector<HashRing::Arc> after = to_.Arcs();
  std::unordered_map<uint64_t, double> shares;
  // Both lists cover all positions in order, so they are walked side by side, from border to border.
  uint64_t first = 0;
  for (size_t i = 0, j = 0; i < before.size() && j < after.size();) {
    const uint64_t last = std::min(before[i].last, after[j].last);
    const uint32_t source = before[i].owner;
    const uint32_t target = after[j].owner;
    if (new_index_[source] != target) {
      const double share = std::ldexp(static_cast<double>(last - first) + 1, -from_.hash_bits());
      shares[uint64_t{source} << 32 | target] += share;
      if (!arcs_.empty() && arcs_.back().last + 1 == first && arcs_.back().from == source &&
          arcs_.back().to == target) {
        arcs_.back().last = last;
      } else {
        arcs_.push_back({first, last, source, target});
      }
    }
    if (before[i].last == last) ++i;
    if (after[j].last == last) ++j;
    first = last + 1;
  }
  for (const auto& [pair, share] : shares) {
    pairs_.push_back({static_cast<uint32_t>(pair >> 32), static_cast<uint32_t>(pair), share});
  }
}

void RingDiff::CompareSlots() {
  // A hash has remainder a in the old table and b in the new one for some hashes if and only if a and b agree
  // modulo the greatest common divisor of the two sizes; all such (a, b) are equally frequent (Chinese
  // remainder theorem). So it is enough to count owners by that common remainder.
  const uint32_t old_size = static_cast<uint32_t>(from_.slots().size());
  const uint32_t new_size = static_cast<uint32_t>(to_.slots().size());
  const uint32_t common = std::gcd(old_size, new_size);
  const auto before = OwnersByRemainder(from_, common);
  const auto after = OwnersByRemainder(to_, common);
  const double combinations = static_cast<double>(old_size) * (new_size / common);
  std::unordered_map<uint64_t, double> counts;
  for (uint32_t remainder = 0; remainder < common; ++remainder) {
    for (const auto& [source, old_count] : before[remainder]) {
      for (const auto& [target, new_count] : after[remainder]) {
        if (new_index_[source] == target) continue;
        counts[uint64_t{source} << 32 | target] += static_cast<double>(old_count) * new_count;
      }
    }
  }
  for (const auto& [pair, count] : counts) {
    pairs_.push_back({static_cast<uint32_t>(pair >> 32), static_cast<uint32_t>(pair), count / combinations});
  }
}

}  // namespace ringway::ring
