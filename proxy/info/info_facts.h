#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "proxy/info/shard_info.h"
#include "proxy/latency_histogram.h"
#include "proxy/proxy_state.h"
#include "proxy/topology.h"
#include "proxy/worker_stats.h"

namespace ringway::proxy {

// One shard as INFO found it.
struct ShardReport {
  bool up = false;                // it is known to serve, or has just answered
  std::optional<ShardInfo> info;  // its answer; none if it was not asked or did not give any
};

// All that the sections of INFO are written from.
// Thread: a worker's; what it reads of other workers are their counters. Owns: the reports.
struct InfoFacts {
  ProxyState& state;
  std::shared_ptr<const config::Config> config;
  std::shared_ptr<const Topology> topology;
  std::vector<ShardReport> shards;  // in the topology's order

  // Over the shards that answered; 0 when none did.
  uint64_t Sum(std::string_view field) const;
  uint64_t Max(std::string_view field) const;
  // How many told exactly this.
  size_t CountWhere(std::string_view field, std::string_view value) const;
  // What the shards tell when they agree; "mixed" when they do not, empty when none told.
  std::string Agreed(std::string_view field) const;
  // The oldest of the shards' versions (what it can do, all can); empty when none is known.
  std::string RedisVersion() const;
};

// Over all workers.
uint64_t Total(const ProxyState& state, Counter WorkerStats::*counter);

// Feeds ProxyState::rates and shard_rates; from the first worker's tick. `now_usec`: of the monotonic clock.
void SampleRates(ProxyState& state, int64_t now_usec);

// What all workers have seen of one shard.
struct ShardFigures {
  uint64_t requests = 0;
  uint64_t recent_requests = 0;  // of the last RateSampler::Recent
  uint64_t errors = 0;
  uint64_t in_flight = 0;
  LatencySummary latency;
};
ShardFigures FiguresOfShard(const ProxyState& state, uint32_t shard_id);

// What all workers have seen of one command, by its row's id.
struct CommandFigures {
  uint64_t calls = 0;
  uint64_t usec = 0;
  uint64_t rejected = 0;
  uint64_t failed = 0;
  LatencySummary latency;
};
CommandFigures FiguresOfCommand(const ProxyState& state, size_t command_id);

}  // namespace ringway::proxy
