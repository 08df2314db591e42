// The keys of one client, and all that they may hold.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "tests/integration/move_store.h"
#include "tests/integration/move_work.h"

namespace ringway::test {

// What may go wrong just now without being a fault. Set by the test while it does harm.
struct MoveExcuses {
  std::atomic<bool> lost_answers{false};  // SHARDDOWN, SHARDTIMEOUT: the command may have been carried out
  std::atomic<bool> refusals{false};      // MOVEFAIL, OOM: it was not
  std::atomic<bool> connections{false};   // the proxy dies
  std::atomic<bool> new_keys{false};      // a server dies: keys first used now may be lost with it
  // What a move may add to a lifetime: MIGRATE sends the time that is left, and the way takes time. On a
  // loaded machine that is mostly waiting for a processor.
  std::atomic<int64_t> transit_usec{300 * 1000};
  // Longer than a test freezes a server: afterwards a lost command has been carried out, or never will be.
  std::atomic<int64_t> ghost_life_usec{5 * 1000 * 1000};
};

// What an answer says about its command.
enum class MoveFate { kDone, kRefused, kUnknown, kWrong };
MoveFate FateOf(const Reply& reply, const MoveExcuses& excuses);

// Keys that one client alone uses, so that each reply is foretold by those before it. A command whose answer
// was lost may have been carried out, or not, or be carried out later by a server that was frozen; commands
// of one pipeline on the same key in their order. So the unit keeps every state its keys may be in ("worlds"), and an answer
// that fits none of them is a fault. Pure: no socket. Thread: one at a time. Owns: nothing. Limits:
// kMaxWorlds; beyond them new keys are taken.
class MoveUnit {
 public:
  MoveUnit(std::string name, MoveKind kind, uint64_t seed, const MoveExcuses* excuses);

  // The requests of the next pipeline, to be sent in one piece now. Nothing may be unanswered.
  std::vector<Command> NextPipeline();
  // Judges the reply to the oldest unanswered request; empty, or what is wrong.
  std::string Judge(const Reply& reply);
  size_t unanswered() const { return unanswered_; }

  std::vector<std::string> Keys() const { return MoveKeys(kind_, Prefix()); }
  // From now on its keys may be lost with a server: nothing is judged until EndExcuse, which takes new keys.
  void Excuse() { excused_ = true; }
  void EndExcuse();

  // The last requests and replies, for people.
  std::string History() const;
  // How often it has taken new keys.
  int generation() const { return generation_; }

 private:
  struct World {
    ModelStore store;
    std::vector<bool> done;  // by index into lost_: whether it has been carried out
    bool operator==(const World&) const = default;
  };
  // Commands without answer that are carried out at once, after all of `after` (indices into lost_): those of
  // the same pipeline that share a key with it. Others may overtake: one may wait for a key to arrive.
  struct Lost {
    std::vector<Command> commands;
    std::vector<std::string> keys;
    std::vector<size_t> after;
    int64_t sent;
  };
  // A step, of which some requests are answered.
  struct Sent {
    MoveStep step;
    size_t replies = 0;
    bool failed = false;  // a reply before EXEC's was an error
  };

  std::string Prefix() const { return name_ + "g" + std::to_string(generation_) + ":"; }
  void TakeNewKeys();
  void ForgetOldLosses();
  std::string JudgeStep(const Sent& sent, const Reply& reply);
  void Lose(const MoveStep& step, const Moment& moment);
  void AddLosses(const MoveStep& step);
  void AddLoss(std::vector<Command> commands);
  // Lets time and lost commands do what they may have done until now.
  void Spread(const Moment& moment);
  void DecideExpiry(World world, const Moment& moment, std::vector<World>* into) const;
  std::string Narrow(const MoveStep& step, const Reply& reply, const Moment& moment);
  void Note(const std::string& line);

  const std::string name_;
  const MoveKind kind_;
  const MoveExcuses* const excuses_;
  std::mt19937_64 random_;
  int generation_ = 0;
  int64_t serial_ = 0;
  std::vector<World> worlds_{1};
  std::vector<Lost> lost_;
  size_t first_losing_ = 0;  // where those of the pipeline under way begin in lost_
  std::deque<Sent> sent_;
  size_t unanswered_ = 0;
  int64_t sent_at_ = 0;
  bool excused_ = false;
  bool confused_ = false;  // too many worlds: takes new keys before the next pipeline
  std::deque<std::string> history_;
};

}  // namespace ringway::test
