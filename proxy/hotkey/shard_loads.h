#pragma once

#include <cstdint>
#include <vector>

#include "proxy/topology.h"
#include "proxy/worker_stats.h"

namespace ringway::proxy {

// Which of two shards has less to do for this worker: fewer requests in flight for its share of the ring, or,
// when these are equal, fewer requests lately. Thread: one worker. Owns: nothing.
class ShardLoads {
 public:
  explicit ShardLoads(WorkerStats& stats) : stats_(stats) {}

  void Adopt(const Topology& topology);
  // About ten times a second: half of what has been counted is forgotten.
  void Tick();

  // By their indices in the topology.
  bool IsLighter(uint32_t shard, uint32_t than) const;

 private:
  struct Load {
    ShardStats* stats;
    double share;
    uint64_t forgotten = 0;  // of stats->requests
    double in_flight() const { return static_cast<double>(stats->in_flight.Get()) / share; }
    double lately() const { return static_cast<double>(stats->requests.Get() - forgotten) / share; }
  };

  WorkerStats& stats_;
  std::vector<Load> loads_;
};

}  // namespace ringway::proxy
