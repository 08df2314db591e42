#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/control/fence.h"
#include "proxy/control/key_mover.h"
#include "proxy/control/leaver_check.h"
#include "proxy/control/migration.h"
#include "proxy/control/move_sides.h"
#include "proxy/control/preflight.h"
#include "proxy/control/reconcile.h"
#include "proxy/control/ring_change.h"
#include "proxy/control/shard_client.h"
#include "proxy/control/state_file.h"
#include "proxy/control/worker_relay.h"
#include "proxy/info/rate_sampler.h"
#include "proxy/local/pending_reply.h"
#include "proxy/net/event_loop.h"
#include "proxy/proxy_state.h"

namespace ringway::proxy {

// Carries out what Migration decides: publishes topologies and counts their acknowledgements, keeps the state
// on disk, and runs the preflight, the fence and the mover. One change of the shards at a time. It alone
// publishes topologies once the proxy serves.
// Thread: the control loop's; Post* from any. Owns: the state file, the move under way. Limits: kMaxWaiters.
class Migrator final : private KeyMover::Host {
 public:
  class Host {
   public:
    virtual ~Host() = default;
    // Shards have come, gone, moved house, or have other credentials.
    virtual void OnTopology(const Topology& topology) = 0;
  };

  // Clients that wait for the end of a move: all that there can be by default.
  static constexpr size_t kMaxWaiters = 10'000;

  // Publishes the first topology, before there are workers. `file`: the configuration as it was read.
  Migrator(ProxyState& state, EventLoop& loop, Host& host, std::unique_ptr<StateFile> state_file,
           Beginning beginning, config::Config file);
  ~Migrator() override;
  Migrator(const Migrator&) = delete;
  Migrator& operator=(const Migrator&) = delete;

  // When the workers run: goes on with what was under way, or begins what the configuration asks for.
  void Begin();
  // About ten times a second.
  void Tick();
  // The loop has ended: what is under way stays as it is, and nobody waits any more.
  void End();

  // --- any thread ---
  // Answered with the move's id when it has begun, or with why it cannot.
  void PostApply(std::vector<RingChange> changes, PendingReply reply);
  // Answered with 1 when no move is under way, with 0 after `timeout_ms`; 0: however long it takes.
  void PostWait(int64_t timeout_ms, PendingReply reply);
  void PostPause(PendingReply reply);
  void PostResume(PendingReply reply);
  void PostAbort(PendingReply reply);
  // The file has been read again: what it changes takes effect, a changed list of shards as a move.
  void PostReload(config::Config file);

 private:
  using Action = Migration::Action;

  struct Waiter {
    int64_t until_usec;
    PendingReply reply;
  };
  // The change under way.
  struct Move {
    uint64_t id = 0;
    MoveSides sides;
    std::shared_ptr<const MovePlan> plan;
    std::shared_ptr<const MovePlan> forward;  // what the plan was before it was turned back
    std::vector<SavedShard> configured;       // SavedState::configured once it has begun
    std::string change;
    PendingReply reply;  // until it has begun
    bool begun = false;
  };

  // --- migrator.cc: what happens ---
  void OnAck(const TopologyAck& ack);
  void OnMoverIdle() override;
  void OnMoverTrouble(const std::string& problem) override;
  void OnMoverWell() override;
  void Apply(const std::vector<RingChange>& changes, std::vector<SavedShard> configured, PendingReply reply);
  void Wait(int64_t timeout_ms, PendingReply reply);
  void Reload(config::Config file);
  void TakeFile(const config::Config& file);
  void GoOn();
  void Steer(std::string_view (Migration::*wish)(), PendingReply reply);
  Migration::Facts FactsOf(const MovePlan& plan) const;
  // Tells the machine something, and does what follows.
  void Tell(const std::function<void()>& input);
  void CarryOutAll();
  void ShowReport();
  void AnswerWaiters();
  void ArmTimer();
  static void OnTimer(evutil_socket_t fd, short what, void* self);

  // --- migrator_actions.cc: what is done ---
  void CarryOut(const Action& action);
  void Check();
  void OnPreflight(const Preflight::Result& result);
  void Save(const Action& action);
  void SavePaused();
  // Empty, or why it could not be saved.
  std::string SaveState(SavedState next);
  void Publish(std::shared_ptr<const Topology> topology);
  std::shared_ptr<const Topology> TopologyFor(const Action& action) const;
  std::shared_ptr<const Topology> TopologyBeforeHold(uint64_t epoch, uint64_t generation) const;
  void BeginReport();
  void RunFence(std::vector<LostConnection> lost);
  void OnFenced(const std::vector<Fence::Verdict>& verdicts);
  void ForgetLost(std::vector<LostConnection> lost, const std::vector<Fence::Verdict>& verdicts);
  void TurnBack();
  void StartMover(bool paused);
  KeyMover::Limits MoverLimits() const;
  void FollowLimits();
  void CheckLeavers();
  void LetGo();
  void Finish(const Action& action);
  int64_t timeout_usec() const { return state_.config()->timeouts.connect_ms * 1000; }

  ProxyState& state_;
  EventLoop& loop_;
  Host& host_;
  const std::unique_ptr<StateFile> state_file_;
  ControlLinks links_;

  SavedState saved_;  // as on disk
  std::vector<RingChange> first_changes_;
  std::vector<SavedShard> first_configured_;
  std::optional<config::Config> waiting_file_;  // its shards are looked at when the move has settled

  int64_t now_usec_ = 0;
  Migration machine_{now_usec_};
  bool carrying_out_ = false;
  Move move_;
  MigrationReport report_;
  RateSampler rate_;
  int64_t next_rate_usec_ = 0;
  std::vector<LostConnection> lost_;  // of the present hold
  std::unique_ptr<Preflight> preflight_;
  std::unique_ptr<Fence> fence_;
  std::unique_ptr<WorkerRelay> relay_;  // of the mover
  std::unique_ptr<KeyMover> mover_;
  KeyMover::Limits mover_limits_;
  std::unique_ptr<LeaverCheck> leaver_check_;
  std::vector<Waiter> waiters_;
  Event timer_;
};

}  // namespace ringway::proxy
