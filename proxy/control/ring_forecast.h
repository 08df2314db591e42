#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/reply_writer.h"
#include "proxy/control/ring_change.h"
#include "proxy/move/move_plan.h"
#include "proxy/topology.h"

namespace ringway::proxy {

// What a change of the shards would move. Building the ring after it takes tens of milliseconds, and with
// hundreds of shards a second: no work for a thread that clients wait for.
struct RingForecast {
  std::shared_ptr<const MovePlan> plan;  // its figures mean nothing
  // Of all hashes, by the weights: what any ring would have to move.
  double least_possible_share = 0;
};

// `before` is kStable; `after` is without error and has `before`'s shards to begin with.
RingForecast Forecast(const Topology& before, const ChangedShards& after, const ring::RingOptions& options);

// What one shard says that it holds.
struct ShardLoad {
  uint64_t keys = 0;
  uint64_t bytes = 0;
};

// RING PLAN's reply. `loads`: in the order of plan->from(); those that did not tell are left out of the
// estimates and named.
void WriteForecast(const RingForecast& forecast, std::span<const std::optional<ShardLoad>> loads,
                   protocol::ReplyWriter& reply);

}  // namespace ringway::proxy
