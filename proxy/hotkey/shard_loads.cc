#include "proxy/hotkey/shard_loads.h"

#include <algorithm>

namespace ringway::proxy {

void ShardLoads::Adopt(const Topology& topology) {
  loads_.clear();
  for (uint32_t shard = 0; shard < topology.shards.size(); ++shard) {
    ShardStats& stats = stats_.by_shard.At(topology.shards[shard].id);
    // A server that leaves owns nothing; nobody compares it.
    const double share = topology.IsMember(shard) ? topology.WantedShare(shard) : 1;
    loads_.push_back({&stats, share > 0 ? share : 1, stats.requests.Get()});
  }
}

void ShardLoads::Tick() {
  for (Load& load : loads_) {
    const uint64_t requests = load.stats->requests.Get();
    // CONFIG RESETSTAT sets them to 0.
    load.forgotten = std::min(load.forgotten, requests);
    load.forgotten += (requests - load.forgotten) / 2;
  }
}

bool ShardLoads::IsLighter(uint32_t shard, uint32_t than) const {
  const Load& one = loads_[shard];
  const Load& other = loads_[than];
  if (one.in_flight() != other.in_flight()) return one.in_flight() < other.in_flight();
  return one.lately() < other.lately();
}

}  // namespace ringway::proxy
