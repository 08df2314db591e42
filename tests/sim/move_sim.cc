#include "tests/sim/move_sim.h"

#include <algorithm>

namespace ringway::proxy {

MoveSim::MoveSim(const Options& options) : options_(options), shared_(options.seed) {
  // A relay measures what is left of a key's time by the proxy's clock, so it is not the same to the
  // microsecond.
  shared_.expiries = options.mover == config::Mover::kMigrate;
  for (size_t i = 0; i < options.workers; ++i) {
    workers_.push_back(std::make_unique<MoveSimWorker>(shared_, i, options.clients));
    shared_.workers.push_back(workers_.back().get());
  }
  control_ = std::make_unique<MoveSimControl>(shared_, options.mover);
}

std::string MoveSim::Run() {
  for (int i = 0; i < options_.steps && shared_.problem.empty(); ++i) {
    shared_.now_usec += static_cast<int64_t>(shared_.Below(4000));
    workers_[shared_.Below(workers_.size())]->Step();
    control_->Step();
  }
  if (shared_.problem.empty()) Drain();
  if (shared_.problem.empty()) CheckKeys();
  for (auto& worker : workers_) {
    const std::string leak = worker->Close();
    if (shared_.problem.empty()) shared_.problem = leak;
  }
  return shared_.problem;
}

// Everybody behaves until the move is over and all is answered.
void MoveSim::Drain() {
  shared_.calm = true;
  for (auto& [id, server] : shared_.servers) server->full = false;
  for (int round = 0; round < 20'000 && shared_.problem.empty(); ++round) {
    shared_.now_usec += 2000;
    bool waiting = !control_->idle();
    for (auto& worker : workers_) {
      worker->StepCalmly();
      waiting = waiting || worker->waiting();
    }
    control_->Step();
    if (!waiting) return;
  }
  if (!shared_.problem.empty()) return;
  shared_.problem = control_->idle() ? "a reply was lost" : "the move does not end";
}

void MoveSim::CheckKeys() {
  shared_.truth.DropExpired(shared_.now_usec);
  for (auto& [id, server] : shared_.servers) {
    server->store().DropExpired(shared_.now_usec);
    const auto& members = control_->members();
    const auto member = std::find_if(members.begin(), members.end(),
                                     [id = id](const Shard& shard) { return shard.id == id; });
    for (const auto& [key, entry] : server->store().entries()) {
      const bool owned = member != members.end() && control_->ring().Locate(key.second) ==
                                                        static_cast<uint32_t>(member - members.begin());
      if (!owned) shared_.problem = server->host() + " holds the key " + key.second + " of another";
    }
  }
  for (const auto& [key, entry] : shared_.truth.entries()) {
    const Shard& owner = control_->members()[control_->ring().Locate(key.second)];
    if (shared_.Server(owner.id).store().Find(key, shared_.now_usec) != entry) {
      shared_.problem = "the key " + key.second + " is not what it should be";
    }
  }
  size_t keys = 0;
  for (auto& [id, server] : shared_.servers) keys += server->store().entries().size();
  if (keys != shared_.truth.entries().size()) shared_.problem = "there are more keys than there should be";
}

size_t MoveSim::replies() const {
  size_t sum = 0;
  for (const auto& worker : workers_) sum += worker->replies();
  return sum;
}

size_t MoveSim::errors() const {
  size_t sum = 0;
  for (const auto& worker : workers_) sum += worker->errors();
  return sum;
}

}  // namespace ringway::proxy
