// Every order in which the events of a move can come.
#include <deque>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "proxy/control/migration.h"

namespace ringway::proxy {
namespace {

using Kind = Migration::Action::Kind;
using Phase = Migration::Action::Phase;
using Ack = TopologyAck::Kind;

// Plays what carries the actions out, and tells the machine what may come next, at random.
class RandomRun {
 public:
  RandomRun(std::minstd_rand& random, int64_t& now) : random_(random), now_(now), machine_(now) {}

  // Whether it came to its end.
  bool Play() {
    Begin();
    for (int step = 0; step < 400; ++step) {
      while (const auto action = machine_.NextAction()) See(*action);
      if (machine_.idle()) return true;
      Happen();
    }
    return false;
  }

 private:
  bool Chance(unsigned one_in) { return random_() % one_in == 0; }

  void Begin() {
    Migration::Facts facts;
    facts.epoch = epoch_;
    facts.participants = {0, 1};
    facts.leaving = Chance(2);
    facts.joining = Chance(2);
    facts.gives_up = Chance(4);
    went_on_ = Chance(4);
    if (went_on_) {
      machine_.GoOn(facts, Chance(2));
    } else {
      machine_.Start(facts);
    }
  }

  void See(const Migration::Action& action) {
    switch (action.kind) {
      case Kind::kPublishMoving:
        EXPECT_EQ(published_, Kind::kPublishHolding) << "keys moved without a hold";
        EXPECT_TRUE(drained_.size() == 2 || went_on_) << "keys moved under older commands";
        break;
      case Kind::kPublishHolding:
      case Kind::kPublishLeaving:
        EXPECT_FALSE(mover_) << "the mover works beside a hold or behind the end";
        break;
      case Kind::kStartMover:
        EXPECT_EQ(published_, Kind::kPublishMoving);
        EXPECT_FALSE(mover_);
        mover_ = true;
        break;
      case Kind::kStopMover:
        EXPECT_TRUE(mover_ && !stopping_);
        stopping_ = true;
        break;
      case Kind::kSave:
        saves_.push_back(action.phase);
        if (action.phase == Phase::kOver) over_on_disk_ = false;
        break;
      case Kind::kFinish:
        EXPECT_TRUE(over_on_disk_) << "the end was told before it was saved";
        EXPECT_FALSE(mover_);
        break;
      default:
        break;
    }
    if (action.epoch == 0) return;
    EXPECT_EQ(action.epoch, ++epoch_);
    published_ = action.kind;
    drained_.clear();
  }

  void Acknowledge() {
    const auto worker = static_cast<uint32_t>(random_() % 2);
    drained_.insert(worker);
    machine_.OnAck(worker, epoch_, Ack::kAdopted, false);
    machine_.OnAck(worker, epoch_, Ack::kDrained, Chance(2));
  }

  void EndSave() {
    if (saves_.empty()) return;
    const Phase phase = saves_.front();
    saves_.pop_front();
    const bool ok = !Chance(5);
    if (ok && phase == Phase::kOver) over_on_disk_ = true;
    machine_.OnSaved(ok ? "" : "disk full");
  }

  void StopMover() {
    if (!stopping_) return;
    mover_ = stopping_ = false;
    machine_.OnMoverStopped();
  }

  void Happen() {
    switch (random_() % 14) {
      case 0:
        return machine_.OnChecked(Chance(8) ? "no" : "");
      case 1:
      case 2:
        return EndSave();
      case 3:
      case 4:
        return Acknowledge();
      case 5:
        return machine_.OnAck(0, epoch_ - 1, Ack::kDrained, false);
      case 6:
        return machine_.OnFenced(Chance(2) ? "" : "no");
      case 7:
        if (mover_ && Chance(3)) machine_.OnMoverIdle();
        return;
      case 8:
        return StopMover();
      case 9:
        if (Chance(8)) machine_.Abort();
        return;
      case 10:
        machine_.Pause();
        return;
      case 11:
        machine_.Resume();
        return;
      case 12:
        return machine_.OnLeaversChecked();
      default:
        now_ += static_cast<int64_t>(random_() % 400'000);
        return machine_.Tick();
    }
  }

  std::minstd_rand& random_;
  int64_t& now_;
  Migration machine_;
  uint64_t epoch_ = 10;
  Kind published_ = Kind::kPublishBefore;
  std::set<uint32_t> drained_;
  std::deque<Phase> saves_;
  bool went_on_ = false;
  bool mover_ = false;
  bool stopping_ = false;
  bool over_on_disk_ = true;
};

TEST(MigrationOrderTest, AnyOrderOfEventsBreaksTheOrderOfSteps) {
  int64_t now_usec = 1'000'000;
  const uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::minstd_rand random(seed);
  int finished = 0;
  constexpr int kRounds = 500;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    if (RandomRun(random, now_usec).Play()) ++finished;
  }
  EXPECT_GT(finished, kRounds / 2) << "hardly any move came to its end: the events are badly chosen";
}

}  // namespace
}  // namespace ringway::proxy
