#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/control/copy_sweep.h"
#include "proxy/control/info_values.h"
#include "proxy/control/shard_client.h"

namespace ringway::proxy {

// A server of a move, as a preflight sees it. Thread: the loop's. Owns: a connection to the server.
struct PreflightServer {
  PreflightServer(ControlLinks& links, const Shard& its_shard, int64_t timeout_usec)
      : shard(its_shard), client(links, its_shard, 0, timeout_usec) {}

  // Asks the server what it is; ends in `done`.
  void Inspect(bool with_functions, std::function<void()> done);

  // In all databases; 0 if they are but copies of hot keys.
  uint64_t Keys() const;
  std::string Label() const { return client.Label(); }

  const Shard shard;
  ShardClient client;
  bool is_source = false;
  bool is_target = false;
  bool is_joining = false;

  // --- by Inspect ---
  std::string problem;  // to follow its label; then the rest is unknown
  std::string run_id;   // empty: it does not show it
  bool is_replica = false;
  int64_t databases = 0;               // 0: it does not tell
  std::vector<KeyspaceLine> keyspace;  // databases with keys
  std::string functions;               // of FUNCTION DUMP; empty if there are none

 private:
  void Read(const ShardClient::Answer& answer);
  // Of a server that joins: whether it has nothing but copies of hot keys.
  void LookForCopies(std::function<void()> done);

  std::unique_ptr<CopySweep> sweep_;
  bool only_copies_ = false;
};

}  // namespace ringway::proxy
