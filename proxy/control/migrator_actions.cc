// What the migrator does for the machine.
#include <algorithm>
#include <utility>

#include "protocol/error_replies.h"
#include "proxy/control/migrator.h"
#include "proxy/log.h"
#include "proxy/net/clock.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

using Kind = Migration::Action::Kind;
using Phase = Migration::Action::Phase;
using Result = Migration::Action::Result;

std::string Joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) {
    if (!text.empty()) text += "; ";
    text += sentence;
  }
  return text;
}

SavedMove::Phase PhaseOnDisk(Phase phase) {
  switch (phase) {
    case Phase::kMoving:
      return SavedMove::Phase::kMoving;
    case Phase::kAborting:
      return SavedMove::Phase::kAborting;
    case Phase::kSettling:
      return SavedMove::Phase::kSettling;
    default:
      return SavedMove::Phase::kHolding;
  }
}

std::string_view NameOf(Result result) {
  if (result == Result::kSettled) return "settled";
  return result == Result::kAborted ? "aborted" : "failed";
}

}  // namespace

void Migrator::CarryOut(const Action& action) {
  switch (action.kind) {
    case Kind::kCheck:
      Check();
      return;
    case Kind::kStopChecking:
      preflight_.reset();
      fence_.reset();
      return;
    case Kind::kSave:
      Save(action);
      return;
    case Kind::kPublishHolding:
      BeginReport();
      lost_.clear();
      Publish(TopologyFor(action));
      return;
    case Kind::kPublishBefore:
    case Kind::kPublishMoving:
    case Kind::kPublishLeaving:
    case Kind::kPublishAfter:
      Publish(TopologyFor(action));
      return;
    case Kind::kFence:
      RunFence(lost_);
      return;
    case Kind::kTurnBack:
      TurnBack();
      return;
    case Kind::kStartMover:
      StartMover(action.paused);
      return;
    case Kind::kPauseMover:
      mover_->Pause();
      return;
    case Kind::kResumeMover:
      mover_->Resume();
      return;
    case Kind::kStopMover:
      mover_->Stop([this] { Tell([this] { machine_.OnMoverStopped(); }); });
      return;
    case Kind::kCheckLeavers:
      CheckLeavers();
      return;
    case Kind::kWarn:
      LogWarn("move " + std::to_string(move_.id) + ": " + action.text);
      return;
    case Kind::kFinish:
      Finish(action);
      return;
  }
}

// --- before it begins ---

void Migrator::Check() {
  const auto config = state_.config();
  Preflight::Options options;
  options.databases = static_cast<uint32_t>(config->databases);
  options.purge_target = config->migration.purge_target;
  options.timeout_usec = timeout_usec();
  options.scripts = state_.scripts.All();
  preflight_ = std::make_unique<Preflight>(links_);
  preflight_->Start(move_.plan, options, [this](const Preflight::Result& result) { OnPreflight(result); });
}

void Migrator::OnPreflight(const Preflight::Result& result) {
  for (const std::string& line : result.warnings) LogWarn("the change " + move_.change + ": " + line);
  if (result.keys_purged > 0) {
    LogWarn("the change " + move_.change + ": removed " + std::to_string(result.keys_purged) +
            " keys which targets held and did not own");
  }
  if (!result.problems.empty()) {
    const std::string problem = Joined(result.problems);
    Tell([&] { machine_.OnChecked(problem); });
  } else if (state_file_->is_kept()) {
    // Connections of an earlier run can be looked for before anybody has to wait.
    RunFence({});
  } else {
    Tell([this] { machine_.OnChecked(""); });
  }
}

// The change has been taken: whoever asked for it is told.
void Migrator::BeginReport() {
  if (move_.begun) return;
  move_.begun = true;
  report_ = {};
  report_.id = move_.id;
  report_.change = move_.change;
  report_.started_usec = WallClockUsec();
  for (uint32_t i = 0; i < move_.plan->from().size(); ++i) {
    if (move_.plan->IsGivenUp(i)) report_.keys_given_up += state_.board.Get(move_.plan->from()[i].id).keys;
  }
  EstimateRemaining(state_.board, *move_.plan);
  LogInfo("move " + std::to_string(move_.id) + " begins: " + move_.change);
  move_.reply.Ok("OK " + std::to_string(move_.id));
}

// --- the state ---

std::string Migrator::SaveState(SavedState next) {
  std::string problem = state_file_->Save(next);
  if (problem.empty()) {
    saved_ = std::move(next);
  } else {
    LogError("the state could not be saved: " + problem);
  }
  return problem;
}

void Migrator::Save(const Action& action) {
  SavedState next = saved_;
  if (action.phase == Phase::kOver) {
    MigrationReport last = report_;
    ReadFigures(*move_.plan, &last);
    for (MovePairCounts& pair : last.pairs) pair.counts.remaining = 0;  // what stays was never to move
    last.result = NameOf(action.result);
    last.error = action.text;
    last.finished_usec = WallClockUsec();
    next.move.reset();
    next.last = std::move(last);
    if (action.result == Result::kSettled) next.shards = ToSaved(move_.sides.to);
  } else {
    MigrationReport report = report_;
    report.id = move_.id;
    report.change = move_.change;
    if (report.started_usec == 0 || !move_.begun) report.started_usec = WallClockUsec();
    ReadFigures(*move_.plan, &report);
    const bool paused = next.move.has_value() && next.move->paused && action.phase != Phase::kAborting;
    next.move = move_.sides.ToSaved(PhaseOnDisk(action.phase), report);
    next.move->paused = paused;
    next.configured = move_.configured;
    next.next_move_id = move_.id + 1;
  }
  const std::string problem = SaveState(std::move(next));
  Tell([&] { machine_.OnSaved(problem.empty() ? "" : "the state could not be saved: " + problem); });
}

// A pause outlives the process.
void Migrator::SavePaused() {
  if (machine_.idle() || !saved_.move.has_value()) return;
  SavedState next = saved_;
  next.move->paused = machine_.paused();
  if (next.move->paused != saved_.move->paused) SaveState(std::move(next));
}

// --- topologies ---

std::shared_ptr<const Topology> Migrator::TopologyFor(const Action& action) const {
  const MovePlan& plan = *move_.plan;
  switch (action.kind) {
    case Kind::kPublishHolding:
      return HoldingTopology(action.epoch, action.generation, move_.plan);
    case Kind::kPublishMoving:
      return MovingTopology(action.epoch, action.generation, move_.plan);
    case Kind::kPublishBefore:
      return TopologyBeforeHold(action.epoch, action.generation);
    case Kind::kPublishLeaving:
      return StableTopology(action.epoch, action.generation, plan.diff().to(), plan.to(), plan.Leaving());
    default:
      return StableTopology(action.epoch, action.generation, plan.diff().to(), plan.to());
  }
}

// A move that turns back was moving.
std::shared_ptr<const Topology> Migrator::TopologyBeforeHold(uint64_t epoch, uint64_t generation) const {
  if (move_.forward != nullptr) return MovingTopology(epoch, generation, move_.forward);
  return StableTopology(epoch, generation, move_.plan->diff().from(), move_.plan->from());
}

void Migrator::Publish(std::shared_ptr<const Topology> topology) {
  state_.Publish(topology);
  host_.OnTopology(*topology);
  for (Worker* worker : state_.workers) {
    worker->PostTopology(topology,
                         [this](const TopologyAck& ack) { loop_.Post([this, ack] { OnAck(ack); }); });
  }
}

// --- the fence ---

void Migrator::RunFence(std::vector<LostConnection> lost) {
  const auto& own = links_.lost.all();
  lost.insert(lost.end(), own.begin(), own.end());
  fence_ = std::make_unique<Fence>(links_);
  fence_->Start(ServersOf(*move_.plan), lost, timeout_usec(),
                [this, lost](const std::vector<Fence::Verdict>& verdicts) {
                  ForgetLost(lost, verdicts);
                  OnFenced(verdicts);
                });
}

void Migrator::OnFenced(const std::vector<Fence::Verdict>& verdicts) {
  std::vector<std::string> problems;
  for (const Fence::Verdict& verdict : verdicts) {
    if (verdict.killed > 0) {
      LogInfo("ended " + std::to_string(verdict.killed) + " lost connections of this proxy to a shard");
    }
    if (verdict.outcome == Fence::Outcome::kUnanswered) problems.push_back(verdict.problem);
    if (verdict.outcome == Fence::Outcome::kNotAllowed) LogWarn(verdict.problem);
  }
  const std::string problem = Joined(problems);
  Tell([&] {
    if (machine_.checking()) {
      machine_.OnChecked(problem);
    } else {
      machine_.OnFenced(problem);
    }
  });
}

// What the fence has ended can do nothing any more, so the next hold need not look for it.
void Migrator::ForgetLost(std::vector<LostConnection> lost, const std::vector<Fence::Verdict>& verdicts) {
  std::erase_if(lost, [&verdicts](const LostConnection& connection) {
    return std::none_of(verdicts.begin(), verdicts.end(), [&](const Fence::Verdict& verdict) {
      return verdict.shard_id == connection.shard_id && verdict.outcome != Fence::Outcome::kUnanswered;
    });
  });
  if (lost.empty()) return;
  links_.lost.Forget(lost);
  for (Worker* worker : state_.workers) worker->PostFenced(lost);
}

// --- the move ---

void Migrator::TurnBack() {
  report_.change = "abort of " + report_.change;
  move_.change = report_.change;
  move_.forward = move_.plan;
  move_.plan = ReversedPlan(*move_.forward);
  move_.sides = move_.sides.Reversed();
  // Towards what was, at least what has come from there.
  for (size_t i = 0; i < move_.plan->pairs().size(); ++i) {
    const MovePlan::Pair& pair = move_.plan->pairs()[i];
    const auto& came = move_.forward->figures().pairs[move_.forward->PairOf(pair.to, pair.from)];
    const uint64_t keys = came.keys_on_access.load(std::memory_order_relaxed) +
                          came.keys_background.load(std::memory_order_relaxed);
    move_.plan->figures().pairs[i].remaining.store(static_cast<int64_t>(keys), std::memory_order_relaxed);
  }
  LogInfo("move " + std::to_string(move_.id) + " is aborted: what has moved goes back");
}

KeyMover::Limits Migrator::MoverLimits() const {
  const config::Migration& migration = state_.config()->migration;
  return {migration.keys_per_second, migration.max_source_busy};
}

void Migrator::FollowLimits() {
  const KeyMover::Limits limits = MoverLimits();
  if (limits.keys_per_second == mover_limits_.keys_per_second &&
      limits.max_source_busy == mover_limits_.max_source_busy) {
    return;
  }
  mover_limits_ = limits;
  mover_->SetLimits(limits);
}

void Migrator::StartMover(bool paused) {
  mover_limits_ = MoverLimits();
  KeyMover::Host& host = *this;
  KeyMover::Options options;
  options.timeout_usec = timeout_usec();
  options.databases = static_cast<uint32_t>(state_.config()->databases);
  mover_.reset();
  relay_ = std::make_unique<WorkerRelay>(state_, loop_, move_.plan);
  mover_ = std::make_unique<KeyMover>(links_, host, relay_.get(), options);
  if (paused) mover_->Pause();
  mover_->Start(move_.plan, mover_limits_);
}

// --- the end ---

void Migrator::CheckLeavers() {
  std::vector<Shard> servers;
  for (const Shard& shard : move_.plan->Leaving()) {
    const auto& from = move_.plan->from();
    const auto index = std::find_if(from.begin(), from.end(),
                                    [&shard](const Shard& other) { return other.id == shard.id; }) -
                       from.begin();
    if (!move_.plan->IsGivenUp(static_cast<uint32_t>(index))) servers.push_back(shard);
  }
  if (servers.empty()) {
    Tell([this] { machine_.OnLeaversChecked(); });
    return;
  }
  leaver_check_ = std::make_unique<LeaverCheck>(
      links_, servers, timeout_usec(), [this](const std::vector<LeaverCheck::Finding>& findings) {
        for (const LeaverCheck::Finding& finding : findings) {
          const std::string label = "shard " + finding.shard.config.name + " " + finding.shard.config.address;
          if (!finding.keys.has_value()) {
            LogWarn(label + " is let go, and does not tell whether it is empty");
          } else if (*finding.keys == 0) {
            LogInfo(label + " is empty and is let go");
          } else {
            LogWarn(label + " is let go with " + std::to_string(*finding.keys) +
                    " keys that were never this proxy's");
          }
        }
        Tell([this] { machine_.OnLeaversChecked(); });
      });
}

// Connections to servers that have left, or were looked at for nothing, must not stay until the next move. In
// the loop's next turn, since this may be what one of these has called back.
void Migrator::LetGo() {
  loop_.Post([this] {
    if (!machine_.idle()) return;
    preflight_.reset();
    fence_.reset();
    mover_.reset();
    relay_.reset();
    leaver_check_.reset();
  });
}

void Migrator::Finish(const Action& action) {
  LetGo();
  if (!move_.begun) {
    const std::string why =
        action.result == Result::kAborted ? "it was aborted before it began" : action.text;
    LogWarn("the shards stay as they are: " + move_.change + ": " + why);
    move_.reply.Error(protocol::MoveFail(why));
    state_.GiveBackShardIds(move_.plan->Joining());
    move_ = {};
    return;
  }
  const bool settled = action.result == Result::kSettled;
  if (settled || move_.forward != nullptr) state_.KeepNames(move_.plan->to());
  if (settled) {
    state_.ChangeConfig([this](config::Config* config) { config->shards = move_.sides.to; });
  }
  report_ = *saved_.last;
  const std::string line = "move " + std::to_string(move_.id) + " (" + move_.change + ") has " +
                           std::string(NameOf(action.result)) + ": " +
                           std::to_string(report_.Total().keys()) + " keys moved";
  if (action.result == Result::kFailed) {
    LogError(line + ": " + action.text);
  } else {
    LogInfo(line);
  }
  move_ = {};
  state_.migration.set_keys_per_second(0);
}

}  // namespace ringway::proxy
