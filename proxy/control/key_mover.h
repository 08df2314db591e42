#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/control/mover_pace.h"
#include "proxy/control/shard_client.h"
#include "proxy/move/move_plan.h"

namespace ringway::proxy {

// Moves keys through the proxy, where servers cannot be told to MIGRATE.
class RelayPort {
 public:
  virtual ~RelayPort() = default;
  struct Outcome {
    uint64_t moved = 0;    // of the keys, that are at the target now
    uint64_t bytes = 0;    // of these
    std::string problem;   // why others are not, unless they were not there
    bool refused = false;  // `problem`: the target answered an error of its own to each that failed
  };
  // Called once, on the control loop, and not from within Relay.
  using Done = std::function<void(const Outcome& outcome)>;
  // `pair`: index into the plan's pairs. Whoever relays passes the gate of the plan's figures; the mover
  // counts.
  virtual void Relay(uint32_t pair, uint32_t db, std::vector<std::string> keys, Done done) = 0;
};

// Moves in the background what a plan moves, until a full pass over all databases of all sources finds
// nothing left. Sources are worked on at once, each with one call at a time. Trouble with a server
// (unreachable, out of memory) makes those that need it wait, and try again each second. Thread: the loop's.
// Owns: a connection to each source.
class KeyMover {
 public:
  class Host {
   public:
    virtual ~Host() = default;
    // A full pass of every source has found nothing that moves; the mover has ended. May destroy it.
    virtual void OnMoverIdle() = 0;
    // A sentence that names the server. Again when it changes. This and the next must not destroy the mover.
    virtual void OnMoverTrouble(const std::string& problem) = 0;
    virtual void OnMoverWell() = 0;
  };
  struct Limits {
    int64_t keys_per_second = 0;    // of all sources together; 0: no limit
    double max_source_busy = 0.25;  // share of each source's time; 0 and 1: no limit
  };

  struct Options {
    int64_t timeout_usec = 1'000'000;  // for calls that move no keys
    uint32_t databases = 16;           // looked into where a source does not tell which it has
  };

  // `relay`: only needed for plans of mover kRelay.
  KeyMover(ControlLinks& links, Host& host, RelayPort* relay, const Options& options);
  // Calls nobody back. A call under way may still be carried out by its server: Stop first.
  ~KeyMover();
  KeyMover(const KeyMover&) = delete;
  KeyMover& operator=(const KeyMover&) = delete;

  // Once. Adds to plan->figures().
  void Start(std::shared_ptr<const MovePlan> plan, const Limits& limits);
  void SetLimits(const Limits& limits);
  // No further calls until Resume; one under way for each source ends.
  void Pause();
  void Resume();
  // For good. `done` when no call is under way, maybe at once; it may destroy the mover.
  void Stop(std::function<void()> done);

 private:
  class Sources;
  std::unique_ptr<Sources> sources_;
};

}  // namespace ringway::proxy
