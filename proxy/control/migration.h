#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "proxy/move/topology_ack.h"

namespace ringway::proxy {

// The order of steps by which keys change their owners, and nothing else: what happens is told to it, and
// what is to be done stands in a queue of actions.
//
//   checking -> holding -> moving -> settling -> over
//                  |  ^      |
//                  v  |      v          an abort after keys have begun to move turns the move round:
//                retrying  turning  ->  holding, moving and settling in the other direction
//
// Commands on keys that move wait in a hold, so it is called off when the participants do not drain in time,
// and tried again. Before the first keys have moved that can be done a few times, then the move has failed;
// there is no way out but on for a move that goes on after a restart, or turns back.
//
// Thread: one. Owns: its actions. Limits: kHoldUsec, kHoldAttempts.
class Migration {
 public:
  // As long as a client can wait for nothing but the move.
  static constexpr int64_t kHoldUsec = 1'000'000;
  // Until a hold that was called off, or a state that could not be saved, is tried again.
  static constexpr int64_t kRetryUsec = 1'000'000;
  static constexpr int kHoldAttempts = 5;

  struct Facts {
    uint64_t epoch = 0;  // the present topology's
    uint64_t generation = 0;
    std::set<uint32_t> participants;  // whose acknowledgements count: not empty
    bool leaving = false;             // servers own nothing after the move
    bool joining = false;             // servers owned nothing before it
    bool gives_up = false;            // keys of a server are not fetched, so there is no way back
  };

  struct Action {
    enum class Kind : uint8_t {
      kCheck,         // whether the move can be carried out; ends in OnChecked
      kStopChecking,  // no answer is wanted any more
      kSave,          // `phase`, of kOver with the result; ends in OnSaved
      kPublishBefore,
      kPublishHolding,
      kPublishMoving,
      kPublishLeaving,
      kPublishAfter,
      kFence,       // the lost connections that were acknowledged; ends in OnFenced
      kTurnBack,    // the two sides of the plan change places
      kStartMover,  // `paused` or not
      kPauseMover,
      kResumeMover,
      kStopMover,     // ends in OnMoverStopped
      kCheckLeavers,  // what the servers that leave still hold; ends in OnLeaversChecked
      kWarn,          // `text`
      kFinish,        // `result`, `text` says why it has failed
    };
    enum class Phase : uint8_t { kHolding, kMoving, kAborting, kSettling, kOver };
    enum class Result : uint8_t { kSettled, kAborted, kFailed };

    Kind kind;
    uint64_t epoch = 0;       // kPublish*
    uint64_t generation = 0;  // kPublish*
    Phase phase = Phase::kHolding;
    Result result = Result::kSettled;
    bool paused = false;
    std::string text = {};
  };

  // `now_usec` is monotonic and is read whenever something happens.
  explicit Migration(const int64_t& now_usec) : now_usec_(now_usec) {}

  // The next thing to do, in order; nothing when there is none. Inputs may come while one is carried out.
  std::optional<Action> NextAction();

  // --- what happens; what no step waits for is passed over ---
  // Only when idle().
  void Start(Facts facts);
  // A move that was under way when the process ended; `backward`: it was being aborted.
  void GoOn(Facts facts, bool backward);
  // Empty: it can be carried out.
  void OnChecked(std::string_view problem);
  void OnSaved(std::string_view problem);
  void OnAck(uint32_t participant, uint64_t epoch, TopologyAck::Kind kind, bool has_lost);
  void OnFenced(std::string_view problem);
  void OnMoverIdle();  // all that moves has moved
  void OnMoverStopped();
  void OnMoverTrouble(std::string_view text);
  void OnMoverWell();
  void OnLeaversChecked();
  void Tick();

  // --- what people want; the refusal without its code word, or empty ---
  std::string_view Pause();
  std::string_view Resume();
  std::string_view Abort();

  bool idle() const { return step_ == Step::kIdle; }
  bool checking() const { return step_ == Step::kChecking; }
  // Clients wait, and need not: what was before can be gone back to.
  bool can_call_off() const { return Held() && !went_on_; }
  bool paused() const { return paused_; }
  // As INFO tells it.
  std::string_view StateName() const;
  // Why it does not go on; empty if it does.
  std::string PauseReason() const;
  // The longest hold so far.
  int64_t hold_usec() const { return hold_usec_; }

 private:
  enum class Step : uint8_t {
    kIdle,
    kChecking,
    kSavingHold,  // until the hold may begin
    kHolding,     // until all have drained
    kFencing,     // still held: until no lost connection can do anything
    kRetrying,    // a hold was called off
    kMoving,
    kTurning,   // until the mover has stopped, to turn back
    kStopping,  // until the mover has stopped, to settle
    kSavingSettle,
    kSettling,  // until all have drained
    kCheckingLeavers,
    kSavingEnd,
  };

  static constexpr int64_t kNever = INT64_MAX;

  bool Held() const { return step_ == Step::kHolding || step_ == Step::kFencing; }
  // Nothing has moved yet, whatever happens in between.
  bool CanCancel() const {
    return !backward_ && !went_on_ && step_ >= Step::kSavingHold && step_ <= Step::kRetrying;
  }
  bool Leaving() const { return backward_ ? facts_.joining : facts_.leaving; }
  bool Settling() const { return step_ >= Step::kStopping; }
  Action& Do(Action::Kind kind);
  void Save(Action::Phase phase);
  void Publish(Action::Kind kind);
  void Reset(Facts facts);
  void BeginHold();
  void NoteReleased(uint32_t participant);
  void OnAllDrained();
  void OnSavedEnd();
  void CallOffHold(std::string_view why);
  void BeginMoving();
  void TurnBack();
  void Settle();
  void End(Action::Result result, std::string_view why);

  const int64_t& now_usec_;
  std::deque<Action> actions_;

  Step step_ = Step::kIdle;
  Facts facts_;
  bool backward_ = false;
  bool went_on_ = false;       // after a restart, until keys move
  bool abort_wanted_ = false;  // kSavingHold
  bool paused_ = false;
  bool mover_idle_ = false;
  std::string trouble_;  // the mover's

  std::set<uint32_t> drained_;  // of the present epoch
  bool lost_ = false;           // who has drained has lost connections that may still do something

  std::set<uint32_t> held_;  // whose clients wait, as far as is known
  int64_t held_since_usec_ = 0;
  uint64_t hold_end_epoch_ = 0;  // who adopts it holds no more; 0: the hold goes on
  int64_t hold_usec_ = 0;        // the longest
  int64_t hold_began_usec_ = 0;  // the present attempt
  int hold_attempts_ = 0;
  std::string hold_problem_;  // of the last attempt
  int64_t retry_usec_ = kNever;

  std::deque<Action::Phase> saving_;  // not yet answered by OnSaved
  bool publish_after_ = false;        // kSavingEnd: servers leave
  Action::Result result_ = Action::Result::kSettled;
  std::string failure_;
};

}  // namespace ringway::proxy
