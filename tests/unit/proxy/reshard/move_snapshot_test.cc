#include "proxy/reshard/move_snapshot.h"

#include <gtest/gtest.h>

#include "proxy/reshard/move_follower.h"

namespace ringway::proxy::reshard {
namespace {

constexpr std::string_view kInfo =
    "# Migration\r\n"
    "migration_state:moving\r\n"
    "migration_id:7\r\n"
    "migration_change:ADD s4 [::1]:7004\r\n"
    "migration_result:\r\n"
    "migration_error:\r\n"
    "migration_pause_reason:s4 is full: 3 tries\r\n"
    "migration_ring_share_moving:0.2504\r\n"
    "migration_progress:0.4230\r\n"
    "migration_keys_moved:421337\r\n"
    "migration_keys_moved_on_access:3120\r\n"
    "migration_keys_given_up:9\r\n"
    "migration_bytes_moved:64172851\r\n"
    "migration_keys_per_second:24310\r\n"
    "migration_keys_remaining:578663\r\n"
    "migration_eta_seconds:24\r\n"
    "migration_errors:2\r\n"
    "migration_big_keys:1\r\n"
    "migration_hold_usec:3149\r\n"
    "migration_started:1700000000\r\n"
    "migration_finished:0\r\n"
    "migration_of_tomorrow:yes\r\n"
    "move0:from=s1,to=s4,share=0.0834,keys=140211,bytes=21390950,on_access=1040,remaining=192887,errors=0\r\n"
    "move1:from=s2,to=s4,share=0.0836,keys=281126,bytes=42781901,on_access=2080,remaining=385776,errors=2,"
    "novel=5\r\n";

TEST(MoveSnapshot, FieldIsNotReadOrTakenForAnother) {
  const auto snapshot = ParseMoveSnapshot(kInfo);
  ASSERT_TRUE(snapshot);
  EXPECT_TRUE(snapshot->under_way());
  EXPECT_EQ(snapshot->state, "moving");
  EXPECT_EQ(snapshot->id, 7U);
  EXPECT_EQ(snapshot->change, "ADD s4 [::1]:7004");
  EXPECT_EQ(snapshot->pause_reason, "s4 is full: 3 tries");
  EXPECT_DOUBLE_EQ(snapshot->share_moving, 0.2504);
  EXPECT_DOUBLE_EQ(snapshot->progress, 0.423);
  EXPECT_EQ(snapshot->keys_moved, 421337U);
  EXPECT_EQ(snapshot->keys_on_access, 3120U);
  EXPECT_EQ(snapshot->keys_given_up, 9U);
  EXPECT_EQ(snapshot->bytes_moved, 64172851U);
  EXPECT_EQ(snapshot->keys_per_second, 24310U);
  EXPECT_EQ(snapshot->keys_remaining, 578663U);
  EXPECT_EQ(snapshot->eta_seconds, 24);
  EXPECT_EQ(snapshot->errors, 2U);
  EXPECT_EQ(snapshot->big_keys, 1U);
  EXPECT_EQ(snapshot->hold_usec, 3149U);
  EXPECT_EQ(snapshot->started, 1700000000);
  EXPECT_EQ(snapshot->finished, 0);
  ASSERT_EQ(snapshot->pairs.size(), 2U);
  const MoveSnapshot::Pair& pair = snapshot->pairs[1];
  EXPECT_EQ(pair.from, "s2");
  EXPECT_EQ(pair.to, "s4");
  EXPECT_DOUBLE_EQ(pair.share, 0.0836);
  EXPECT_EQ(pair.keys, 281126U);
  EXPECT_EQ(pair.bytes, 42781901U);
  EXPECT_EQ(pair.on_access, 2080U);
  EXPECT_EQ(pair.remaining, 385776U);
  EXPECT_EQ(pair.errors, 2U);
}

TEST(MoveSnapshot, AnyServerIsTakenForAProxy) {
  EXPECT_FALSE(ParseMoveSnapshot(""));
  EXPECT_FALSE(ParseMoveSnapshot("# Server\r\nredis_version:7.0.15\r\n"));
  EXPECT_FALSE(ParseMoveSnapshot("migration_state:\r\n"));
}

TEST(MoveSnapshot, CutOrNonsensicalTextIsReadBeyondItsEnd) {
  for (size_t length = 0; length <= kInfo.size(); ++length) {
    const std::string cut(kInfo.substr(0, length));
    const auto snapshot = ParseMoveSnapshot(cut);
    EXPECT_EQ(snapshot.has_value(), length > kInfo.find("moving")) << length;
  }
  const auto snapshot = ParseMoveSnapshot(
      "migration_state:moving\nmigration_id:x\nmigration_keys_moved:-3\nmigration_progress:7\n"
      "migration_eta_seconds:-1\nmigration_keys_remaining:12.7\nmove:from=a\nmove0x:from=a\nmove12:=,from,,=,"
      "to=b=c\n");
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->id, 0U);
  EXPECT_EQ(snapshot->keys_moved, 0U);
  EXPECT_EQ(snapshot->progress, 1);
  EXPECT_FALSE(snapshot->eta_seconds);
  EXPECT_EQ(snapshot->keys_remaining, 12U);
  ASSERT_EQ(snapshot->pairs.size(), 1U);
  EXPECT_EQ(snapshot->pairs[0].to, "b=c");
}

MoveSnapshot Ended(const std::string& result, const std::string& error = "",
                   const std::string& change = "ADD a b") {
  MoveSnapshot snapshot;
  snapshot.state = "idle";
  snapshot.result = result;
  snapshot.error = error;
  snapshot.change = change;
  return snapshot;
}

TEST(MoveSnapshot, FailedOrAbortedMoveIsTakenForSettled) {
  EXPECT_EQ(OutcomeOf(Ended("settled")), MoveOutcome::kSettled);
  EXPECT_EQ(OutcomeOf(Ended("settled", "was full for a while")), MoveOutcome::kSettled);
  EXPECT_EQ(OutcomeOf(Ended("aborted", "s4 was full")), MoveOutcome::kAborted);
  EXPECT_EQ(OutcomeOf(Ended("failed")), MoveOutcome::kFailed);
  EXPECT_EQ(OutcomeOf(Ended("", "no")), MoveOutcome::kFailed);
  EXPECT_EQ(OutcomeOf(Ended("", "", "abort of ADD a b")), MoveOutcome::kAborted);
  EXPECT_EQ(OutcomeOf(Ended("")), MoveOutcome::kSettled);
}

MoveSnapshot Of(uint64_t id, const std::string& state) {
  MoveSnapshot snapshot;
  snapshot.id = id;
  snapshot.state = state;
  return snapshot;
}

using Verdict = MoveFollower::Verdict;

TEST(MoveFollower, EndOfAnotherMoveIsTakenForItsOwn) {
  MoveFollower follower(7);
  EXPECT_EQ(follower.Look(Of(6, "idle"), 0), Verdict::kGoesOn);
  EXPECT_EQ(follower.Look(Of(7, "holding"), 1), Verdict::kGoesOn);
  EXPECT_EQ(follower.Look(Of(7, "paused"), 2), Verdict::kGoesOn);
  EXPECT_EQ(follower.Look(Of(7, "idle"), 3), Verdict::kEnded);
  EXPECT_EQ(follower.Look(Of(8, "moving"), 3), Verdict::kSucceeded);
}

TEST(MoveFollower, ForgottenMoveIsWaitedForEverOrNotAtAll) {
  MoveFollower follower(7);
  EXPECT_EQ(follower.Look(Of(0, "idle"), 100), Verdict::kGoesOn);
  EXPECT_EQ(follower.Look(Of(7, "moving"), 102), Verdict::kGoesOn);
  EXPECT_EQ(follower.Look(Of(0, "idle"), 104), Verdict::kGoesOn);
  EXPECT_EQ(follower.Look(Of(0, "idle"), 104 + MoveFollower::kForgottenAfterSeconds), Verdict::kGoesOn);
  EXPECT_EQ(follower.Look(Of(0, "idle"), 104.1 + MoveFollower::kForgottenAfterSeconds), Verdict::kForgotten);
}

TEST(MoveFollower, WatchBeginsWithAMoveThatHasEnded) {
  MoveFollower idle(std::nullopt);
  EXPECT_EQ(idle.Look(Of(7, "idle"), 0), Verdict::kNone);
  MoveFollower moving(std::nullopt);
  EXPECT_EQ(moving.Look(Of(7, "moving"), 0), Verdict::kGoesOn);
  EXPECT_EQ(moving.Look(Of(7, "idle"), 1), Verdict::kEnded);
}

}  // namespace
}  // namespace ringway::proxy::reshard
