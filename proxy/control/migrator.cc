#include "proxy/control/migrator.h"

#include <algorithm>
#include <utility>

#include "config/config_diff.h"
#include "protocol/error_replies.h"
#include "proxy/check.h"
#include "proxy/log.h"
#include "proxy/net/clock.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

// How exact the times of holds and waiting clients are.
constexpr int64_t kTimerUsec = 10'000;
// A speed is the mean of sixteen of these.
constexpr int64_t kRateUsec = 250'000;

}  // namespace

Migrator::Migrator(ProxyState& state, EventLoop& loop, Host& host, std::unique_ptr<StateFile> state_file,
                   Beginning beginning, config::Config file)
    : state_(state),
      loop_(loop),
      host_(host),
      state_file_(std::move(state_file)),
      links_{loop, state.resolver, state.connection_name_stem(), state.connection_name_prefix(), {}},
      saved_(std::move(beginning.state)),
      first_changes_(std::move(beginning.changes)),
      first_configured_(std::move(beginning.configured_begun)) {
  timer_.Assign(loop_.base(), -1, 0, &Migrator::OnTimer, this);
  if (saved_.last.has_value()) report_ = *saved_.last;
  if (beginning.resumed.has_value()) {
    waiting_file_ = std::move(file);
    move_.sides = {std::move(beginning.resumed->from), std::move(beginning.resumed->to),
                   saved_.move->given_up, saved_.move->replaced};
    GoOn();
  } else {
    state_.Publish(*state_.config(), FirstGeneration(saved_.next_move_id));
  }
  ShowReport();
}

Migrator::~Migrator() = default;

// Nobody may follow the ring of before or after for a moment: keys can be on either side.
void Migrator::GoOn() {
  report_ = saved_.move->report;
  move_.id = report_.id;
  move_.change = report_.change;
  move_.configured = saved_.configured;
  move_.begun = true;
  std::string problem;
  move_.plan = MakePlan(state_, move_.id, move_.sides, &problem);
  RINGWAY_CHECK(move_.plan != nullptr);
  const bool backward = saved_.move->phase == SavedMove::Phase::kAborting;
  if (backward) move_.forward = ReversedPlan(*move_.plan);
  state_.KeepNames(backward ? move_.plan->to() : move_.plan->from());
  // On the way back the generations of the way there have been.
  const uint64_t generation = FirstGeneration(saved_.next_move_id) + (backward ? 1 : 0);
  state_.Publish(HoldingTopology(1, generation, move_.plan));
}

void Migrator::Begin() {
  if (move_.begun) {
    LogInfo("move " + std::to_string(move_.id) + " (" + move_.change + ") goes on");
    Tell([this] {
      machine_.GoOn(FactsOf(*move_.plan), saved_.move->phase == SavedMove::Phase::kAborting);
      if (saved_.move->paused) machine_.Pause();
    });
  } else if (!first_changes_.empty()) {
    Apply(first_changes_, first_configured_, PendingReply());
  }
}

void Migrator::End() {
  // Commands that wait are answered before the workers end.
  if (machine_.can_call_off()) {
    const auto topology = state_.topology();
    Publish(TopologyBeforeHold(topology->epoch + 1, topology->generation));
  }
  waiters_.clear();
  move_.reply = PendingReply();
  preflight_.reset();
  fence_.reset();
  mover_.reset();
  relay_.reset();
  leaver_check_.reset();
}

Migration::Facts Migrator::FactsOf(const MovePlan& plan) const {
  const auto topology = state_.topology();
  Migration::Facts facts;
  facts.epoch = topology->epoch;
  facts.generation = topology->generation;
  for (const Worker* worker : state_.workers) facts.participants.insert(worker->index());
  // A move that has been turned back is told as it was.
  const MovePlan& forward = move_.forward != nullptr ? *move_.forward : plan;
  facts.leaving = !forward.Leaving().empty();
  facts.joining = !forward.Joining().empty();
  facts.gives_up = !move_.sides.given_up.empty();
  return facts;
}

// --- the machine ---

void Migrator::Tell(const std::function<void()>& input) {
  now_usec_ = MonotonicUsec();
  input();
  CarryOutAll();
}

// What an action brings about at once is carried out by the call that carries out the action.
void Migrator::CarryOutAll() {
  if (carrying_out_) return;
  carrying_out_ = true;
  while (const auto action = machine_.NextAction()) CarryOut(*action);
  carrying_out_ = false;
  ShowReport();
  AnswerWaiters();
  ArmTimer();
  if (machine_.idle() && waiting_file_.has_value()) {
    const config::Config file = std::move(*waiting_file_);
    waiting_file_.reset();
    TakeFile(file);
  }
}

void Migrator::OnAck(const TopologyAck& ack) {
  const uint64_t epoch = state_.topology()->epoch;
  bool has_lost = false;
  if (ack.kind == TopologyAck::Kind::kDrained && ack.epoch == epoch && move_.plan != nullptr) {
    const std::vector<Shard> servers = ServersOf(*move_.plan);
    const auto concerned = [&servers](const LostConnection& lost) {
      return std::any_of(servers.begin(), servers.end(),
                         [&lost](const Shard& shard) { return shard.id == lost.shard_id; });
    };
    std::copy_if(ack.lost.begin(), ack.lost.end(), std::back_inserter(lost_), concerned);
    // What the mover had lost is fenced as well.
    const auto& own = links_.lost.all();
    has_lost = std::any_of(ack.lost.begin(), ack.lost.end(), concerned) ||
               std::any_of(own.begin(), own.end(), concerned);
  }
  Tell([&] { machine_.OnAck(ack.worker, ack.epoch, ack.kind, has_lost); });
}

void Migrator::OnMoverIdle() {
  Tell([this] { machine_.OnMoverIdle(); });
}

void Migrator::OnMoverTrouble(const std::string& problem) {
  LogWarn("move " + std::to_string(move_.id) + " waits: " + problem);
  Tell([&] { machine_.OnMoverTrouble(problem); });
}

void Migrator::OnMoverWell() {
  LogInfo("move " + std::to_string(move_.id) + " goes on");
  Tell([this] { machine_.OnMoverWell(); });
}

// --- time ---

void Migrator::OnTimer(evutil_socket_t, short, void* argument) {
  auto* self = static_cast<Migrator*>(argument);
  self->loop_.NoteWake();
  self->timer_.NoteFired();
  self->Tell([self] { self->machine_.Tick(); });
}

void Migrator::ArmTimer() {
  if ((!machine_.idle() || !waiters_.empty()) && !timer_.added()) timer_.AddTimeout(kTimerUsec);
}

void Migrator::Tick() {
  if (mover_ != nullptr) FollowLimits();
  if (loop_.now_usec() < next_rate_usec_) return;
  next_rate_usec_ = loop_.now_usec() + kRateUsec;
  if (machine_.idle()) return;
  rate_.Sample(state_.migration.Get().Total().keys(), loop_.now_usec());
  state_.migration.set_keys_per_second(rate_.PerSecond());
}

void Migrator::ShowReport() {
  if (move_.begun) {
    report_.state = machine_.StateName();
    report_.pause_reason = machine_.PauseReason();
    report_.hold_usec = std::max(report_.hold_usec, machine_.hold_usec());
  } else {
    report_.state = "idle";
  }
  state_.migration.Set(report_, move_.begun ? move_.plan : nullptr);
}

void Migrator::AnswerWaiters() {
  const int64_t now = MonotonicUsec();
  std::erase_if(waiters_, [&](Waiter& waiter) {
    if (!machine_.idle() && now < waiter.until_usec) return false;
    waiter.reply.Integer(machine_.idle() ? 1 : 0);
    return true;
  });
}

// --- what people want ---

void Migrator::PostApply(std::vector<RingChange> changes, PendingReply reply) {
  loop_.Post([this, changes = std::move(changes), reply = std::move(reply)] { Apply(changes, {}, reply); });
}

void Migrator::PostWait(int64_t timeout_ms, PendingReply reply) {
  loop_.Post([this, timeout_ms, reply = std::move(reply)] { Wait(timeout_ms, reply); });
}

void Migrator::PostPause(PendingReply reply) {
  loop_.Post([this, reply = std::move(reply)] { Steer(&Migration::Pause, reply); });
}

void Migrator::PostResume(PendingReply reply) {
  loop_.Post([this, reply = std::move(reply)] { Steer(&Migration::Resume, reply); });
}

void Migrator::PostAbort(PendingReply reply) {
  loop_.Post([this, reply = std::move(reply)] { Steer(&Migration::Abort, reply); });
}

void Migrator::PostReload(config::Config file) {
  loop_.Post([this, file = std::move(file)] { Reload(file); });
}

void Migrator::Steer(std::string_view (Migration::*wish)(), PendingReply reply) {
  std::string_view refusal;
  Tell([&] { refusal = (machine_.*wish)(); });
  if (!refusal.empty()) {
    reply.Error("ERR " + std::string(refusal));
    return;
  }
  SavePaused();
  reply.Ok();
}

void Migrator::Wait(int64_t timeout_ms, PendingReply reply) {
  if (waiters_.size() >= kMaxWaiters) {
    reply.Error("ERR too many clients wait for the move");
    return;
  }
  constexpr int64_t kLongestMs = INT64_MAX / 2000;
  const bool forever = timeout_ms == 0 || timeout_ms > kLongestMs;
  waiters_.push_back({forever ? INT64_MAX : MonotonicUsec() + timeout_ms * 1000, std::move(reply)});
  AnswerWaiters();
  ArmTimer();
}

void Migrator::Apply(const std::vector<RingChange>& changes, std::vector<SavedShard> configured,
                     PendingReply reply) {
  if (!machine_.idle()) {
    reply.Error(std::string(protocol::kRingBusy));
    return;
  }
  const auto config = state_.config();
  ChangedShards changed = ApplyRingChanges(*config, changes);
  Move move;
  std::string problem = changed.error;
  if (problem.empty()) {
    move.sides = {config->shards, std::move(changed.shards), std::move(changed.given_up),
                  std::move(changed.replaced)};
    move.plan = MakePlan(state_, saved_.next_move_id, move.sides, &problem);
  }
  move.change = ToString(changes);
  if (move.plan == nullptr) {
    LogWarn("the shards stay as they are: " + move.change + ": " + problem);
    reply.Error("ERR " + problem);
    return;
  }
  move.id = saved_.next_move_id;
  move.configured = configured.empty() ? saved_.configured : std::move(configured);
  move.reply = std::move(reply);
  move_ = std::move(move);
  Tell([this] { machine_.Start(FactsOf(*move_.plan)); });
}

// --- the configuration file ---

void Migrator::Reload(config::Config file) {
  if (machine_.idle()) {
    TakeFile(file);
    return;
  }
  waiting_file_ = file;
  state_.ChangeConfig([&](config::Config* config) {
    const config::Config before = *config;
    file.shards = before.shards;
    const config::ConfigDiff diff = config::Diff(before, file);
    *config = config::ApplyLive(before, file, diff);
    for (const std::string& line : diff.Describe(before, file)) LogInfo("reload: " + line);
  });
  LogInfo("the configuration is reloaded, but for its shards: these are looked at when the move is over");
}

void Migrator::TakeFile(const config::Config& file) {
  Reconciled reconciled;
  std::vector<config::ShardConfig> before;
  const auto after = state_.ChangeConfig([&](config::Config* config) {
    before = config->shards;
    reconciled = Reconcile(*config, saved_.configured, file);
    *config = reconciled.config;
  });
  for (const std::string& line : reconciled.notes) LogInfo("reload: " + line);
  for (const std::string& line : reconciled.warnings) LogWarn("reload: " + line);
  if (after->shards != before) {
    state_.Publish(*after);
    Publish(state_.topology());
  }
  SavedState next = saved_;
  next.shards = ToSaved(after->shards);
  next.configured = reconciled.configured;
  SaveState(std::move(next));
  LogInfo("the configuration is reloaded");
  if (reconciled.changes.empty()) return;
  LogInfo("reload: the list of shards asks for a move: " + ToString(reconciled.changes));
  Apply(reconciled.changes, reconciled.configured_begun, PendingReply());
}

}  // namespace ringway::proxy
