#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/control/migration.h"
#include "tests/unit/proxy/control_migration_fixture.h"

namespace ringway::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = Migration::Action::Kind;
using Ack = TopologyAck::Kind;

TEST_F(MigrationTest, StepsComeInAnotherOrder) {
  EXPECT_EQ(machine_.StateName(), "idle");
  StartHold();
  EXPECT_EQ(machine_.StateName(), "holding");
  AckBoth(Ack::kAdopted);
  EXPECT_THAT(Take(), IsEmpty()) << "keys moved before older commands had ended";
  AckBoth(Ack::kDrained);
  machine_.OnSaved("");
  EXPECT_THAT(Take(), ElementsAre("move", "start mover", "save moving"));
  EXPECT_EQ(generation_, 4U);
  EXPECT_EQ(machine_.StateName(), "moving");
  Settle();
  EXPECT_EQ(generation_, 5U);
  EXPECT_EQ(machine_.StateName(), "settling");
  AckBoth(Ack::kDrained);
  EXPECT_THAT(Take(), ElementsAre("save over"));
  machine_.OnSaved("");
  EXPECT_THAT(Take(), ElementsAre("finish settled"));
  EXPECT_TRUE(machine_.idle());
}

TEST_F(MigrationTest, LeavingServersAreLetGoBeforeTheyAreLookedAt) {
  Migration::Facts facts = Facts();
  facts.leaving = true;
  StartMoving(facts);
  Settle();
  machine_.OnLeaversChecked();
  EXPECT_THAT(Take(), IsEmpty());
  AckBoth(Ack::kDrained);
  EXPECT_THAT(Take(), ElementsAre("check leavers"));
  machine_.OnLeaversChecked();
  EXPECT_THAT(Take(), ElementsAre("save over"));
  machine_.OnSaved("");
  EXPECT_THAT(Take(), ElementsAre("after", "finish settled"));
}

TEST_F(MigrationTest, KeysMoveBeforeEveryParticipantHasDrained) {
  StartHold();
  machine_.OnAck(0, epoch_, Ack::kDrained, false);
  machine_.OnAck(0, epoch_, Ack::kDrained, false);
  EXPECT_THAT(Take(), IsEmpty()) << "one participant counted twice";
  machine_.OnAck(7, epoch_, Ack::kDrained, false);
  EXPECT_THAT(Take(), IsEmpty()) << "a stranger counted";
  machine_.OnAck(1, epoch_ - 1, Ack::kDrained, false);
  EXPECT_THAT(Take(), IsEmpty()) << "an older epoch counted";
  machine_.OnAck(1, epoch_, Ack::kDrained, false);
  EXPECT_THAT(Take(), ElementsAre("move", "start mover", "save moving"));
}

TEST_F(MigrationTest, KeysMoveBeforeLostConnectionsAreFenced) {
  StartHold();
  machine_.OnAck(0, epoch_, Ack::kDrained, true);
  machine_.OnAck(1, epoch_, Ack::kDrained, false);
  EXPECT_THAT(Take(), ElementsAre("fence"));
  EXPECT_EQ(machine_.StateName(), "holding");
  machine_.OnFenced("");
  EXPECT_THAT(Take(), ElementsAre("move", "start mover", "save moving"));
}

TEST_F(MigrationTest, FailedFenceLetsKeysMove) {
  StartHold();
  AckBoth(Ack::kDrained, true);
  machine_.OnFenced("s1 does not answer");
  EXPECT_THAT(Take(), ElementsAre("fence", "before"));
  EXPECT_EQ(machine_.PauseReason(), "s1 does not answer");
  machine_.OnFenced("");
  EXPECT_THAT(Take(), IsEmpty()) << "a verdict for an older hold counted";
}

TEST_F(MigrationTest, ClientsWaitLongerThanASecondForAHold) {
  StartHold();
  now_ += Migration::kHoldUsec - 1;
  machine_.Tick();
  EXPECT_THAT(Take(), IsEmpty());
  now_ += 1;
  machine_.Tick();
  EXPECT_THAT(Take(), ElementsAre("before"));
  EXPECT_EQ(generation_, 3U) << "no key had moved";
  AckBoth(Ack::kAdopted);
  AckBoth(Ack::kDrained);
  EXPECT_EQ(machine_.hold_usec(), Migration::kHoldUsec);
  EXPECT_THAT(Take(), IsEmpty()) << "the acknowledgement of what ended the hold counted for it";
  now_ += Migration::kRetryUsec - 1;
  machine_.Tick();
  EXPECT_THAT(Take(), IsEmpty());
  now_ += 1;
  machine_.Tick();
  EXPECT_THAT(Take(), ElementsAre("hold"));
  AckBoth(Ack::kDrained);
  EXPECT_THAT(Take(), ElementsAre("move", "start mover", "save moving"));
}

TEST_F(MigrationTest, FirstHoldIsTriedForEver) {
  StartHold();
  for (int attempt = 1; attempt < Migration::kHoldAttempts; ++attempt) {
    now_ += Migration::kHoldUsec;
    machine_.Tick();
    EXPECT_THAT(Take(), ElementsAre("before")) << attempt;
    now_ += Migration::kRetryUsec;
    machine_.Tick();
    EXPECT_THAT(Take(), ElementsAre("hold")) << attempt;
  }
  now_ += Migration::kHoldUsec;
  machine_.Tick();
  EXPECT_THAT(Take(), ElementsAre("before", "save over"));
  machine_.OnSaved("");
  EXPECT_THAT(Take(), ElementsAre("finish failed"));
  EXPECT_THAT(last_.text, HasSubstr("did not end within a second"));
}

TEST_F(MigrationTest, HoldTimeIsThatOfTheWholeMove) {
  StartHold();
  now_ += 3000;
  AckBoth(Ack::kDrained);
  Take();
  now_ += 1000;
  machine_.OnAck(0, epoch_, Ack::kAdopted, false);
  EXPECT_EQ(machine_.hold_usec(), 0) << "one participant still holds";
  now_ += 500;
  machine_.OnAck(1, epoch_, Ack::kAdopted, false);
  EXPECT_EQ(machine_.hold_usec(), 4500);
  now_ += kSecond;
  AckBoth(Ack::kAdopted);
  EXPECT_EQ(machine_.hold_usec(), 4500);
}

TEST_F(MigrationTest, HoldOfWhoNeverHeardOfItsEndIsForgotten) {
  StartHold();
  AckBoth(Ack::kDrained);
  Take();
  now_ += 2000;
  // The settled topology tells the same.
  machine_.OnSaved("");
  Settle();
  AckBoth(Ack::kDrained);
  EXPECT_EQ(machine_.hold_usec(), 2000);
}

TEST_F(MigrationTest, RefusedCheckStartsAMove) {
  machine_.Start(Facts());
  EXPECT_THAT(Take(), ElementsAre("check"));
  machine_.OnChecked("s4 holds 3 keys");
  EXPECT_THAT(Take(), ElementsAre("finish failed"));
  EXPECT_EQ(last_.text, "s4 holds 3 keys");
  EXPECT_TRUE(machine_.idle());
}

TEST_F(MigrationTest, MoveBeginsWithoutAStateOnDisk) {
  machine_.Start(Facts());
  machine_.OnChecked("");
  machine_.OnSaved("disk full");
  EXPECT_THAT(Take(), ElementsAre("check", "save holding", "warn", "finish failed"));
  EXPECT_EQ(last_.text, "disk full");
}

TEST_F(MigrationTest, UnsavedMovingEndsTheMove) {
  StartHold();
  AckBoth(Ack::kDrained);
  machine_.OnSaved("disk full");
  EXPECT_THAT(Take(), ElementsAre("move", "start mover", "save moving", "warn"));
  EXPECT_EQ(machine_.StateName(), "moving");
}

TEST_F(MigrationTest, SettledOrOverBeforeItIsOnDisk) {
  StartMoving();
  machine_.OnMoverIdle();
  machine_.OnMoverStopped();
  machine_.OnSaved("disk full");
  EXPECT_THAT(Take(), ElementsAre("stop mover", "save settling", "warn"));
  machine_.Tick();
  EXPECT_THAT(Take(), IsEmpty());
  now_ += Migration::kRetryUsec;
  machine_.Tick();
  machine_.OnSaved("");
  EXPECT_THAT(Take(), ElementsAre("save settling", "leave"));
  AckBoth(Ack::kDrained);
  machine_.OnSaved("disk full");
  EXPECT_THAT(Take(), ElementsAre("save over", "warn"));
  now_ += Migration::kRetryUsec;
  machine_.Tick();
  machine_.OnSaved("");
  EXPECT_THAT(Take(), ElementsAre("save over", "finish settled"));
}

TEST_F(MigrationTest, AbortOfACheckStartsAMove) {
  machine_.Start(Facts());
  EXPECT_EQ(machine_.Abort(), "");
  EXPECT_THAT(Take(), ElementsAre("check", "stop checking", "finish aborted"));
  machine_.OnChecked("");
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(MigrationTest, AbortWhileTheHoldIsSavedIsForgotten) {
  machine_.Start(Facts());
  machine_.OnChecked("");
  EXPECT_EQ(machine_.Abort(), "");
  EXPECT_NE(machine_.Abort(), "");
  machine_.OnSaved("");
  EXPECT_THAT(Take(), ElementsAre("check", "save holding", "save over"));
  machine_.OnSaved("");
  EXPECT_THAT(Take(), ElementsAre("finish aborted"));
}

TEST_F(MigrationTest, AbortOfAHoldMovesKeys) {
  StartHold();
  EXPECT_EQ(machine_.Abort(), "");
  EXPECT_THAT(Take(), ElementsAre("before", "save over"));
  AckBoth(Ack::kDrained);
  machine_.OnSaved("");
  EXPECT_THAT(Take(), ElementsAre("finish aborted"));
}

TEST_F(MigrationTest, AbortBetweenHoldsPublishesOnceMore) {
  StartHold();
  now_ += Migration::kHoldUsec;
  machine_.Tick();
  Take();
  EXPECT_EQ(machine_.Abort(), "");
  EXPECT_THAT(Take(), ElementsAre("save over"));
  machine_.OnSaved("");
  EXPECT_THAT(Take(), ElementsAre("finish aborted"));
}

TEST_F(MigrationTest, AbortWhileKeysMoveLeavesThemThere) {
  Migration::Facts facts = Facts();
  facts.joining = true;
  StartMoving(facts);
  TurnBack();
  EXPECT_EQ(machine_.StateName(), "aborting");
  EXPECT_NE(machine_.Abort(), "");
  AckBoth(Ack::kDrained);
  EXPECT_THAT(Take(), ElementsAre("move", "start mover"));
  EXPECT_EQ(machine_.StateName(), "aborting");
  Settle();
  AckBoth(Ack::kDrained);
  EXPECT_THAT(Take(), ElementsAre("check leavers")) << "who was to join leaves again";
  machine_.OnLeaversChecked();
  machine_.OnSaved("");
  EXPECT_THAT(Take(), ElementsAre("save over", "after", "finish aborted"));
}

TEST_F(MigrationTest, MoverIsStillAtWorkWhenTheMoveTurnsBack) {
  StartMoving();
  EXPECT_EQ(machine_.Abort(), "");
  EXPECT_THAT(Take(), ElementsAre("stop mover"));
  machine_.OnMoverIdle();
  EXPECT_THAT(Take(), IsEmpty()) << "it settled instead";
  EXPECT_NE(machine_.Abort(), "");
}

TEST_F(MigrationTest, WayBackIsGivenUpAfterSomeHolds) {
  StartMoving();
  TurnBack();
  for (int attempt = 0; attempt < 3 * Migration::kHoldAttempts; ++attempt) {
    now_ += Migration::kHoldUsec;
    machine_.Tick();
    EXPECT_THAT(Take(), ElementsAre("before"));
    EXPECT_EQ(machine_.StateName(), "aborting");
    now_ += Migration::kRetryUsec;
    machine_.Tick();
    EXPECT_THAT(Take(), ElementsAre("hold"));
  }
}

TEST_F(MigrationTest, AbortBringsBackWhatWasGivenUp) {
  Migration::Facts facts = Facts();
  facts.gives_up = true;
  StartMoving(facts);
  EXPECT_THAT(std::string(machine_.Abort()), HasSubstr("given up"));
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(MigrationTest, UnsavedWayBackIsNotTriedAgain) {
  StartMoving();
  machine_.Abort();
  machine_.OnMoverStopped();
  machine_.OnSaved("disk full");
  EXPECT_THAT(Take(), ElementsAre("stop mover", "turn back", "save aborting", "warn"));
  now_ += Migration::kRetryUsec;
  machine_.Tick();
  machine_.OnSaved("");
  EXPECT_THAT(Take(), ElementsAre("save aborting", "hold"));
}

TEST_F(MigrationTest, SettlingCanBeSteered) {
  StartMoving();
  machine_.OnMoverIdle();
  for (int step = 0; step < 3; ++step) {
    EXPECT_THAT(std::string(machine_.Abort()), HasSubstr("settling"));
    EXPECT_THAT(std::string(machine_.Pause()), HasSubstr("settling"));
    EXPECT_THAT(std::string(machine_.Resume()), HasSubstr("settling"));
    if (step == 0) machine_.OnMoverStopped();
    if (step == 1) machine_.OnSaved("");
  }
}

TEST_F(MigrationTest, NothingIsSteered) {
  for (const std::string_view refusal : {machine_.Abort(), machine_.Pause(), machine_.Resume()}) {
    EXPECT_EQ(refusal, "no move is under way");
  }
  machine_.OnChecked("");
  machine_.OnSaved("");
  machine_.OnFenced("");
  machine_.OnMoverIdle();
  machine_.OnMoverStopped();
  machine_.OnLeaversChecked();
  machine_.OnAck(0, 10, Ack::kDrained, true);
  now_ += 10 * kSecond;
  machine_.Tick();
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_TRUE(machine_.idle());
}

TEST_F(MigrationTest, PauseIsForgottenWhenKeysBeginToMove) {
  StartHold();
  EXPECT_EQ(machine_.Pause(), "");
  EXPECT_THAT(Take(), IsEmpty());
  AckBoth(Ack::kDrained);
  EXPECT_THAT(Take(), ElementsAre("move", "start mover paused", "save moving"));
  EXPECT_EQ(machine_.StateName(), "paused");
  EXPECT_THAT(machine_.PauseReason(), HasSubstr("RING PAUSE"));
  EXPECT_EQ(machine_.Pause(), "");
  EXPECT_EQ(machine_.Resume(), "");
  EXPECT_EQ(machine_.Resume(), "");
  EXPECT_THAT(Take(), ElementsAre("resume mover"));
  EXPECT_EQ(machine_.StateName(), "moving");
}

TEST_F(MigrationTest, PausedMoveSettlesByItself) {
  StartMoving();
  EXPECT_EQ(machine_.Pause(), "");
  machine_.OnMoverIdle();
  EXPECT_THAT(Take(), ElementsAre("pause mover"));
  EXPECT_EQ(machine_.Resume(), "");
  EXPECT_THAT(Take(), ElementsAre("resume mover", "stop mover"));
}

TEST_F(MigrationTest, TroubleIsNotTold) {
  StartMoving();
  machine_.OnMoverTrouble("s4 is out of memory");
  EXPECT_EQ(machine_.StateName(), "paused");
  EXPECT_EQ(machine_.PauseReason(), "s4 is out of memory");
  machine_.OnMoverWell();
  EXPECT_EQ(machine_.StateName(), "moving");
  EXPECT_EQ(machine_.PauseReason(), "");
}

TEST_F(MigrationTest, MoveThatGoesOnIsNotHeldOrFencedFirst) {
  machine_.GoOn(Facts(), false);
  EXPECT_THAT(Take(), ElementsAre("hold"));
  AckBoth(Ack::kDrained);
  EXPECT_THAT(Take(), ElementsAre("fence")) << "an earlier run's connections may be open";
  machine_.OnFenced("");
  EXPECT_THAT(Take(), ElementsAre("move", "start mover", "save moving"));
}

TEST_F(MigrationTest, MoveThatGoesOnIsTakenBack) {
  machine_.GoOn(Facts(), false);
  Take();
  now_ += Migration::kHoldUsec;
  machine_.Tick();
  EXPECT_THAT(Take(), ElementsAre("warn", "move", "start mover", "save moving"));
}

TEST_F(MigrationTest, MoveThatGoesOnBackwardGoesForward) {
  Migration::Facts facts = Facts();
  facts.joining = true;
  machine_.GoOn(facts, true);
  EXPECT_EQ(machine_.StateName(), "aborting");
  AckBoth(Ack::kDrained);
  Take();
  AckBoth(Ack::kDrained);
  machine_.OnFenced("");
  Take();
  EXPECT_NE(machine_.Abort(), "");
  machine_.OnMoverIdle();
  machine_.OnMoverStopped();
  machine_.OnSaved("");
  Take();
  AckBoth(Ack::kDrained);
  machine_.OnLeaversChecked();
  machine_.OnSaved("");
  EXPECT_THAT(Take(), ElementsAre("check leavers", "save over", "after", "finish aborted"));
}

TEST_F(MigrationTest, AbortOfAMoveThatGoesOnForgetsWhatHasMoved) {
  machine_.GoOn(Facts(), false);
  Take();
  EXPECT_EQ(machine_.Abort(), "");
  EXPECT_THAT(Take(), ElementsAre("turn back", "save aborting"));
  machine_.OnSaved("");
  EXPECT_THAT(Take(), ElementsAre("hold"));
}

}  // namespace
}  // namespace ringway::proxy
