#include "proxy/control/migration.h"

#include <algorithm>
#include <utility>

#include "proxy/check.h"

namespace ringway::proxy {
namespace {

constexpr std::string_view kNoMove = "no move is under way";
constexpr std::string_view kSettles = "the move is settling: all its keys have moved";

}  // namespace

// --- actions ---

std::optional<Migration::Action> Migration::NextAction() {
  if (actions_.empty()) return std::nullopt;
  Action action = std::move(actions_.front());
  actions_.pop_front();
  return action;
}

Migration::Action& Migration::Do(Action::Kind kind) {
  actions_.push_back({});
  actions_.back().kind = kind;
  return actions_.back();
}

void Migration::Save(Action::Phase phase) {
  Action& action = Do(Action::Kind::kSave);
  action.phase = phase;
  action.result = result_;
  action.text = failure_;
  saving_.push_back(phase);
}

void Migration::Publish(Action::Kind kind) {
  Action& action = Do(kind);
  action.epoch = ++facts_.epoch;
  action.generation = facts_.generation;
  drained_.clear();
  lost_ = false;
}

// --- begin ---

void Migration::Reset(Facts facts) {
  RINGWAY_CHECK(idle() && !facts.participants.empty());
  facts_ = std::move(facts);
  backward_ = went_on_ = abort_wanted_ = paused_ = mover_idle_ = publish_after_ = false;
  trouble_.clear();
  hold_usec_ = 0;
  hold_attempts_ = 0;
  hold_problem_.clear();
  failure_.clear();
  retry_usec_ = kNever;
}

void Migration::Start(Facts facts) {
  Reset(std::move(facts));
  step_ = Step::kChecking;
  Do(Action::Kind::kCheck);
}

void Migration::GoOn(Facts facts, bool backward) {
  Reset(std::move(facts));
  backward_ = backward;
  went_on_ = true;
  BeginHold();
}

void Migration::OnChecked(std::string_view problem) {
  if (step_ != Step::kChecking) return;
  if (!problem.empty()) {
    End(Action::Result::kFailed, problem);
    return;
  }
  step_ = Step::kSavingHold;
  Save(Action::Phase::kHolding);
}

// --- hold ---

void Migration::BeginHold() {
  step_ = Step::kHolding;
  retry_usec_ = kNever;
  Publish(Action::Kind::kPublishHolding);
  hold_began_usec_ = now_usec_;
  // Who has not even heard of the end of the last hold has held all the time.
  if (held_.empty()) held_since_usec_ = now_usec_;
  held_ = facts_.participants;
  hold_end_epoch_ = 0;
}

void Migration::NoteReleased(uint32_t participant) {
  if (held_.erase(participant) == 0 || !held_.empty()) return;
  hold_usec_ = std::max(hold_usec_, now_usec_ - held_since_usec_);
}

void Migration::OnAck(uint32_t participant, uint64_t epoch, TopologyAck::Kind kind, bool has_lost) {
  if (idle()) return;
  if (hold_end_epoch_ != 0 && epoch >= hold_end_epoch_) NoteReleased(participant);
  if (epoch != facts_.epoch || kind != TopologyAck::Kind::kDrained) return;
  if (facts_.participants.count(participant) == 0) return;
  drained_.insert(participant);
  lost_ = lost_ || has_lost;
  if (drained_.size() == facts_.participants.size()) OnAllDrained();
}

void Migration::OnAllDrained() {
  if (step_ == Step::kSettling) {
    step_ = Step::kCheckingLeavers;
    if (Leaving()) {
      Do(Action::Kind::kCheckLeavers);
    } else {
      OnLeaversChecked();
    }
  } else if (step_ == Step::kHolding) {
    // A connection of an earlier run may be open too.
    if (!lost_ && !went_on_) {
      BeginMoving();
      return;
    }
    step_ = Step::kFencing;
    Do(Action::Kind::kFence);
  }
}

void Migration::OnFenced(std::string_view problem) {
  if (step_ != Step::kFencing) return;
  if (problem.empty()) {
    BeginMoving();
  } else {
    CallOffHold(problem);
  }
}

void Migration::CallOffHold(std::string_view why) {
  hold_problem_ = why;
  if (went_on_) {
    Do(Action::Kind::kWarn).text =
        "keys move although " + hold_problem_ + ": the move was under way when the proxy ended";
    BeginMoving();
    return;
  }
  if (!backward_ && ++hold_attempts_ >= kHoldAttempts) {
    End(Action::Result::kFailed, hold_problem_);
    return;
  }
  Publish(Action::Kind::kPublishBefore);
  hold_end_epoch_ = facts_.epoch;
  step_ = Step::kRetrying;
  retry_usec_ = now_usec_ + kRetryUsec;
}

// --- move ---

void Migration::BeginMoving() {
  step_ = Step::kMoving;
  went_on_ = false;
  mover_idle_ = false;
  hold_problem_.clear();
  ++facts_.generation;
  Publish(Action::Kind::kPublishMoving);
  hold_end_epoch_ = facts_.epoch;
  Do(Action::Kind::kStartMover).paused = paused_;
  // After a crash before this is on disk the move goes on just as well, so no client waits for the disk.
  if (!backward_) Save(Action::Phase::kMoving);
}

void Migration::OnMoverTrouble(std::string_view text) {
  if (step_ == Step::kMoving) trouble_ = text;
}

void Migration::OnMoverWell() { trouble_.clear(); }

void Migration::OnMoverIdle() {
  if (step_ != Step::kMoving) return;
  mover_idle_ = true;
  if (!paused_) Settle();
}

void Migration::OnMoverStopped() {
  if (step_ == Step::kTurning) {
    TurnBack();
  } else if (step_ == Step::kStopping) {
    step_ = Step::kSavingSettle;
    Save(Action::Phase::kSettling);
  }
}

void Migration::TurnBack() {
  backward_ = true;
  paused_ = false;
  Do(Action::Kind::kTurnBack);
  step_ = Step::kSavingHold;
  Save(Action::Phase::kAborting);
}

// --- settle ---

void Migration::Settle() {
  step_ = Step::kStopping;
  trouble_.clear();
  Do(Action::Kind::kStopMover);
}

void Migration::OnLeaversChecked() {
  if (step_ != Step::kCheckingLeavers) return;
  publish_after_ = Leaving();
  result_ = backward_ ? Action::Result::kAborted : Action::Result::kSettled;
  step_ = Step::kSavingEnd;
  Save(Action::Phase::kOver);
}

void Migration::End(Action::Result result, std::string_view why) {
  result_ = result;
  failure_ = why;
  retry_usec_ = kNever;
  if (step_ == Step::kChecking || step_ == Step::kSavingHold) {
    // Nobody has heard of it.
    OnSavedEnd();
    return;
  }
  if (Held()) {
    Publish(Action::Kind::kPublishBefore);
    hold_end_epoch_ = facts_.epoch;
  }
  step_ = Step::kSavingEnd;
  Save(Action::Phase::kOver);
}

void Migration::OnSavedEnd() {
  if (publish_after_) Publish(Action::Kind::kPublishAfter);
  Action& action = Do(Action::Kind::kFinish);
  action.result = result_;
  action.text = failure_;
  step_ = Step::kIdle;
  backward_ = false;
  held_.clear();
}

void Migration::OnSaved(std::string_view problem) {
  if (saving_.empty()) return;
  const Action::Phase phase = saving_.front();
  saving_.pop_front();
  if (!problem.empty()) {
    Do(Action::Kind::kWarn).text = problem;
    // What a crash would undo is only where the move goes on from.
    if (phase == Action::Phase::kMoving) return;
    if (phase == Action::Phase::kHolding) {
      End(Action::Result::kFailed, problem);
    } else {
      retry_usec_ = now_usec_ + kRetryUsec;
    }
    return;
  }
  if (step_ == Step::kSavingHold && abort_wanted_) {
    step_ = Step::kRetrying;
    End(Action::Result::kAborted, "");
  } else if (step_ == Step::kSavingHold) {
    BeginHold();
  } else if (step_ == Step::kSavingSettle && phase == Action::Phase::kSettling) {
    step_ = Step::kSettling;
    ++facts_.generation;
    Publish(Action::Kind::kPublishLeaving);
  } else if (step_ == Step::kSavingEnd && phase == Action::Phase::kOver) {
    OnSavedEnd();
  }
}

// --- time ---

void Migration::Tick() {
  if (Held() && now_usec_ - hold_began_usec_ >= kHoldUsec) {
    CallOffHold(step_ == Step::kHolding ? "commands that were under way did not end within a second"
                                        : "servers with lost connections did not answer within a second");
    return;
  }
  if (now_usec_ < retry_usec_) return;
  retry_usec_ = kNever;
  switch (step_) {
    case Step::kRetrying:
      BeginHold();
      return;
    case Step::kSavingHold:
      Save(Action::Phase::kAborting);
      return;
    case Step::kSavingSettle:
      Save(Action::Phase::kSettling);
      return;
    case Step::kSavingEnd:
      Save(Action::Phase::kOver);
      return;
    default:
      return;
  }
}

// --- what people want ---

std::string_view Migration::Pause() {
  if (idle()) return kNoMove;
  if (Settling()) return kSettles;
  if (!paused_ && step_ == Step::kMoving) Do(Action::Kind::kPauseMover);
  paused_ = true;
  return {};
}

std::string_view Migration::Resume() {
  if (idle()) return kNoMove;
  if (Settling()) return kSettles;
  if (!std::exchange(paused_, false) || step_ != Step::kMoving) return {};
  Do(Action::Kind::kResumeMover);
  if (mover_idle_) Settle();
  return {};
}

std::string_view Migration::Abort() {
  if (idle()) return kNoMove;
  if (Settling()) return kSettles;
  if (backward_ || step_ == Step::kTurning || abort_wanted_) return "the move is being aborted already";
  if (step_ == Step::kChecking) {
    Do(Action::Kind::kStopChecking);
    End(Action::Result::kAborted, "");
  } else if (step_ == Step::kSavingHold) {
    abort_wanted_ = true;
  } else if (CanCancel()) {
    End(Action::Result::kAborted, "");
  } else if (facts_.gives_up) {
    return "keys of a removed shard are given up: there is no way back";
  } else if (step_ == Step::kMoving) {
    step_ = Step::kTurning;
    trouble_.clear();
    Do(Action::Kind::kStopMover);
  } else {
    TurnBack();
  }
  return {};
}

std::string_view Migration::StateName() const {
  if (idle()) return "idle";
  if (Settling()) return "settling";
  if (step_ == Step::kMoving && (paused_ || !trouble_.empty())) return "paused";
  if (backward_ || step_ == Step::kTurning) return "aborting";
  return step_ == Step::kMoving ? "moving" : "holding";
}

std::string Migration::PauseReason() const {
  if (step_ == Step::kRetrying) return hold_problem_;
  if (step_ != Step::kMoving) return {};
  return paused_ ? "paused by RING PAUSE" : trouble_;
}

}  // namespace ringway::proxy
