#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "proxy/control/saved_state.h"
#include "proxy/move/move_plan.h"
#include "proxy/proxy_state.h"

namespace ringway::proxy {

// The shards before and after a change, as lists of the configuration. A value.
struct MoveSides {
  std::vector<config::ShardConfig> from;
  std::vector<config::ShardConfig> to;
  std::vector<std::string> given_up;  // names of `from` whose keys are not fetched
  std::vector<std::string> replaced;  // names of both that stand for two servers

  // For the way back, on which every key counts.
  MoveSides Reversed() const { return {to, from, {}, replaced}; }
  SavedMove ToSaved(SavedMove::Phase phase, const MigrationReport& report) const;
};

// The plan for that, with the ids that the names of `from` have and new ones for the servers that join. Null
// with `problem` set when it cannot be made.
std::shared_ptr<const MovePlan> MakePlan(ProxyState& state, uint64_t id, const MoveSides& sides,
                                         std::string* problem);
// The same two sides, exchanged.
std::shared_ptr<const MovePlan> ReversedPlan(const MovePlan& plan);

// All servers that a move concerns, but for those given up.
std::vector<Shard> ServersOf(const MovePlan& plan);

// The board's key counts, spread over the plan's pairs, as a first estimate of what is to be moved.
void EstimateRemaining(const ShardBoard& board, const MovePlan& plan);

}  // namespace ringway::proxy
