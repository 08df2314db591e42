// The command line of `ringway reshard`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/result.h"

namespace ringway::proxy::reshard {

struct ReshardOptions {
  config::ShardConfig proxy;  // its address, user and password; the rest means nothing here
  bool yes = false;           // do not ask
  bool watch = false;         // of a move under way; no change then
  bool pause_on_exit = false;
  int64_t patience_seconds = 0;  // for a proxy that does not answer
  bool help = false;             // only help_text counts
  std::string help_text;
  std::vector<std::string> change;  // words of RING APPLY
};

// argv[0] is the name of the sub-command. `environment_password`: RINGWAY_PASSWORD, or empty.
config::Result<ReshardOptions> ParseReshardOptions(int argc, const char* const* argv,
                                                   const std::string& environment_password);

// Shell commands that do for this proxy what the words say, for hints: "redis-cli -h 10.0.0.1 -p 6380 RING
// PAUSE" and "ringway reshard --connect 10.0.0.1:6380 --watch".
std::string RedisCliHint(const config::ShardConfig& proxy, const std::string& words);
std::string WatchHint(const config::ShardConfig& proxy);

}  // namespace ringway::proxy::reshard
