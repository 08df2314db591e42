#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "proxy/control/ring_change.h"
#include "proxy/control/saved_state.h"

namespace ringway::proxy {

// What a configuration file asks for, against what is. The shards in force are the fact; the file's list is
// the wish, and counts as a whole when it is not what it was when it was last taken. Then
//   - shards it adds, drops or reweighs are changes that move keys,
//   - an address it gives a shard anew says that the server has moved house with its keys,
//   - an address it has not changed is no wish: the shard may have been replaced since.
// A list that is as it was wishes for nothing: what commands have changed stays.
struct Reconciled {
  config::Config config;               // to be in force at once: the fact, with new addresses and credentials
  std::vector<RingChange> changes;     // to be begun then; none: the wish is fulfilled
  std::vector<SavedShard> configured;  // SavedState::configured from now on
  std::vector<SavedShard> configured_begun;  // and once `changes` have begun (not when they are refused)
  std::vector<std::string> notes;            // what changes at once, one line each, fit for the log
  std::vector<std::string> warnings;         // what is not taken, and why
};

// For SIGHUP, and once more when a move has settled during which the file was read. `configured`: see
// SavedState.
Reconciled Reconcile(const config::Config& in_force, const std::vector<SavedShard>& configured,
                     const config::Config& file);

// How a proxy begins.
struct Beginning {
  // A move that was under way. It goes on first, and the file is reconciled with `to` when it has settled.
  struct Resumed {
    std::vector<config::ShardConfig> from;
    std::vector<config::ShardConfig> to;
  };

  SavedState state;                 // to be saved before anything is served; state.move is what is resumed
  config::Config config;            // to be served
  std::optional<Resumed> resumed;   // when state.move is set
  std::vector<RingChange> changes;  // to be begun as soon as it serves; none while something is resumed
  std::vector<SavedShard> configured_begun;  // see Reconciled
  std::vector<std::string> notes;
  std::vector<std::string> warnings;
};

// `file`: the configuration with its shards (those of dev_shards too). `saved`: nothing at the first start.
// `proxy_id`: for a proxy that has none yet.
Beginning Begin(const config::Config& file, const std::optional<SavedState>& saved,
                const std::string& proxy_id, const std::string& run_id);

}  // namespace ringway::proxy
