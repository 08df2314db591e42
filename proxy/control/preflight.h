#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/control/shard_client.h"
#include "proxy/move/move_plan.h"

namespace ringway::proxy {

// Looks, before anything moves, whether a move can succeed: targets are there, writable and without keys of
// their own, sources answer, and each source moves a probe key to each of its targets with the very command
// of the move. Copies the sources' functions and the known scripts to joining shards and, where that is
// wanted, removes what targets do not own. All servers at once; each step is bounded. Thread: the loop's.
// Owns: its connections.
class Preflight {
 public:
  struct Options {
    uint32_t databases = 16;  // that clients may select
    bool purge_target = false;
    int64_t timeout_usec = 1'000'000;
    std::vector<std::string> scripts;  // that joining shards are to know
  };
  struct Result {
    std::vector<std::string> problems;  // one sentence each; empty: go
    std::vector<std::string> warnings;
    uint64_t keys_purged = 0;
  };
  // May destroy the preflight.
  using Done = std::function<void(const Result&)>;

  explicit Preflight(ControlLinks& links);
  // Calls nobody back.
  ~Preflight();
  Preflight(const Preflight&) = delete;
  Preflight& operator=(const Preflight&) = delete;

  // Once.
  void Start(std::shared_ptr<const MovePlan> plan, const Options& options, Done done);

 private:
  class Run;
  ControlLinks& links_;
  std::unique_ptr<Run> run_;
};

}  // namespace ringway::proxy
