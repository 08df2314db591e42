#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/control/migration.h"
#include "proxy/topology.h"
#include "tests/sim/move_sim_worker.h"

namespace ringway::proxy {

// The control side of a simulated proxy: random changes of the shards, carried out in the order that
// Migration says. Saves, fences and acknowledgements take their time; the background mover is a model.
// Thread: one. Owns: the plan and the members.
class MoveSimControl {
 public:
  struct Figures {
    size_t settled = 0;
    size_t aborted = 0;
    size_t failed = 0;
    size_t holds_called_off = 0;
    uint64_t keys_on_access = 0;
    uint64_t keys_background = 0;
  };

  MoveSimControl(MoveSimShared& shared, config::Mover mover);

  // Some of what has happened, and what follows from it.
  void Step();
  bool idle() const { return migration_.idle() && events_.empty(); }
  const std::vector<Shard>& members() const { return members_; }
  const ring::HashRing& ring() const { return ring_; }
  const Figures& figures() const { return figures_; }

 private:
  using Action = Migration::Action;

  uint64_t Below(uint64_t limit) { return shared_.Below(limit); }
  Shard NewServer(const std::string& name, uint32_t weight);
  ring::HashRing RingFor(const std::vector<Shard>& members) const;
  std::vector<Shard> ChangedMembers();
  void StartMove();
  void Steer();
  void Act(const Action& action);
  void Publish(const Action& action);
  void OnAck(const TopologyAck& ack);
  void Fence();
  void CheckLeavers();
  void Finish(const Action& action);
  void StepMover();
  void MoveBatch(const MovePlan::Pair& pair, uint32_t pair_index);
  void RelayOne(uint32_t pair_index, uint32_t db, const std::string& key);
  void Later(std::function<void()> event) { events_.push_back(std::move(event)); }

  MoveSimShared& shared_;
  const config::Mover mover_;
  Migration migration_;
  std::deque<std::function<void()>> events_;
  uint32_t next_server_id_ = 100;
  std::vector<Shard> members_;  // in the order of their names
  ring::HashRing ring_;
  std::shared_ptr<const MovePlan> plan_;
  std::shared_ptr<const MovePlan> forward_;  // the plan before it was turned round
  uint64_t next_plan_id_ = 1;
  uint64_t epoch_ = 1;
  uint64_t generation_ = 0;
  std::vector<LostConnection> lost_;  // acknowledged for the present epoch
  bool mover_on_ = false;
  bool mover_paused_ = false;
  bool mover_told_idle_ = false;
  bool mover_stopping_ = false;
  size_t relays_ = 0;  // under way for the mover
  Figures figures_;
};

}  // namespace ringway::proxy
