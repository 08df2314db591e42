#include "proxy/topology.h"

#include <algorithm>
#include <utility>

namespace ringway::proxy {
namespace {

std::vector<Shard> Join(std::vector<Shard> shards, const std::vector<Shard>& more) {
  shards.insert(shards.end(), more.begin(), more.end());
  return shards;
}

}  // namespace

std::vector<uint32_t> Topology::ServersInMotion() const {
  std::vector<uint32_t> ids;
  if (move == nullptr) {
    for (size_t i = ring.members().size(); i < shards.size(); ++i) ids.push_back(shards[i].id);
    return ids;
  }
  for (const MovePlan::Pair& pair : move->pairs()) {
    ids.push_back(move->from()[pair.from].id);
    ids.push_back(move->to()[pair.to].id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

ring::HashRing RingOf(const std::vector<Shard>& shards, const ring::RingOptions& options) {
  std::vector<ring::Member> members;
  for (const Shard& shard : shards) {
    members.push_back({shard.config.name, shard.config.address, shard.config.weight});
  }
  return ring::HashRing(std::move(members), options);
}

std::shared_ptr<const Topology> StableTopology(uint64_t epoch, uint64_t generation, ring::HashRing ring,
                                               std::vector<Shard> shards, std::vector<Shard> leaving) {
  const auto phase = leaving.empty() ? Topology::Phase::kStable : Topology::Phase::kLeaving;
  return std::make_shared<const Topology>(
      Topology{epoch, generation, phase, std::move(ring), Join(std::move(shards), leaving), nullptr});
}

std::shared_ptr<const Topology> HoldingTopology(uint64_t epoch, uint64_t generation,
                                                std::shared_ptr<const MovePlan> plan) {
  return std::make_shared<const Topology>(Topology{epoch, generation, Topology::Phase::kHolding,
                                                   plan->diff().from(), Join(plan->from(), plan->Joining()),
                                                   plan});
}

std::shared_ptr<const Topology> MovingTopology(uint64_t epoch, uint64_t generation,
                                               std::shared_ptr<const MovePlan> plan) {
  return std::make_shared<const Topology>(Topology{epoch, generation, Topology::Phase::kMoving,
                                                   plan->diff().to(), Join(plan->to(), plan->Leaving()),
                                                   plan});
}

}  // namespace ringway::proxy
