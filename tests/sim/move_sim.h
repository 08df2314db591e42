#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/move_sim_control.h"
#include "tests/sim/move_sim_worker.h"

namespace ringway::proxy {

// A whole proxy without sockets, model servers and random clients, while shards are added, removed, reweighed
// and replaced, moves are turned back, servers fill up, MIGRATE fails half way, connections go and requests
// time out. What the servers do must be what one server would have done (ModelServer), each client's own keys
// must be what it made them, and in the end each key is on its owner alone. Everything follows from the seed.
// Thread: one. Owns: all of it.
class MoveSim {
 public:
  struct Options {
    uint64_t seed = 1;
    size_t workers = 3;
    size_t clients = 3;  // of each worker
    int steps = 3000;
    config::Mover mover = config::Mover::kMigrate;
  };
  explicit MoveSim(const Options& options);

  // Runs to the end, all moved and all answered; the first thing that was wrong, or nothing.
  std::string Run();

  const MoveSimControl::Figures& figures() const { return control_->figures(); }
  size_t replies() const;
  size_t errors() const;

 private:
  void Drain();
  void CheckKeys();

  const Options options_;
  MoveSimShared shared_;
  std::vector<std::unique_ptr<MoveSimWorker>> workers_;
  std::unique_ptr<MoveSimControl> control_;
};

}  // namespace ringway::proxy
