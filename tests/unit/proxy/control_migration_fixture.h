// What the tests of a move's steps have in common.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/control/migration.h"

namespace ringway::proxy {

inline constexpr int64_t kSecond = 1'000'000;

// What an action is, in short.
inline std::string Text(const Migration::Action& action) {
  static const std::map<Migration::Action::Phase, std::string> kPhases = {
      {Migration::Action::Phase::kHolding, "holding"},
      {Migration::Action::Phase::kMoving, "moving"},
      {Migration::Action::Phase::kAborting, "aborting"},
      {Migration::Action::Phase::kSettling, "settling"},
      {Migration::Action::Phase::kOver, "over"}};
  static const std::map<Migration::Action::Result, std::string> kResults = {
      {Migration::Action::Result::kSettled, "settled"},
      {Migration::Action::Result::kAborted, "aborted"},
      {Migration::Action::Result::kFailed, "failed"}};
  static const std::map<Migration::Action::Kind, std::string> kKinds = {
      {Migration::Action::Kind::kCheck, "check"},
      {Migration::Action::Kind::kStopChecking, "stop checking"},
      {Migration::Action::Kind::kSave, "save "},
      {Migration::Action::Kind::kPublishBefore, "before"},
      {Migration::Action::Kind::kPublishHolding, "hold"},
      {Migration::Action::Kind::kPublishMoving, "move"},
      {Migration::Action::Kind::kPublishLeaving, "leave"},
      {Migration::Action::Kind::kPublishAfter, "after"},
      {Migration::Action::Kind::kFence, "fence"},
      {Migration::Action::Kind::kTurnBack, "turn back"},
      {Migration::Action::Kind::kStartMover, "start mover"},
      {Migration::Action::Kind::kPauseMover, "pause mover"},
      {Migration::Action::Kind::kResumeMover, "resume mover"},
      {Migration::Action::Kind::kStopMover, "stop mover"},
      {Migration::Action::Kind::kCheckLeavers, "check leavers"},
      {Migration::Action::Kind::kWarn, "warn"},
      {Migration::Action::Kind::kFinish, "finish "}};
  std::string text = kKinds.at(action.kind);
  if (action.kind == Migration::Action::Kind::kSave) text += kPhases.at(action.phase);
  if (action.kind == Migration::Action::Kind::kFinish) text += kResults.at(action.result);
  if (action.kind == Migration::Action::Kind::kStartMover && action.paused) text += " paused";
  return text;
}

// Tells the machine of a move what happens, and takes what it wants done as words.
class MigrationTest : public ::testing::Test {
 protected:
  static Migration::Facts Facts() {
    Migration::Facts facts;
    facts.epoch = 10;
    facts.generation = 3;
    facts.participants = {0, 1};
    return facts;
  }

  // What is to be done, in the order of its coming.
  std::vector<std::string> Take() {
    std::vector<std::string> texts;
    while (const auto action = machine_.NextAction()) {
      if (action->epoch != 0) {
        EXPECT_EQ(action->epoch, epoch_ + 1) << "an epoch was left out or used twice";
        EXPECT_GE(action->generation, generation_);
        epoch_ = action->epoch;
        generation_ = action->generation;
      }
      texts.push_back(Text(*action));
      last_ = *action;
    }
    return texts;
  }

  void AckBoth(TopologyAck::Kind kind, bool lost = false) {
    for (const uint32_t worker : {0U, 1U}) machine_.OnAck(worker, epoch_, kind, lost);
  }

  void StartHold(Migration::Facts facts = Facts()) {
    machine_.Start(std::move(facts));
    machine_.OnChecked("");
    machine_.OnSaved("");
    EXPECT_THAT(Take(), ::testing::ElementsAre("check", "save holding", "hold"));
  }

  void StartMoving(Migration::Facts facts = Facts()) {
    StartHold(std::move(facts));
    AckBoth(TopologyAck::Kind::kDrained);
    machine_.OnSaved("");
    EXPECT_THAT(Take(), ::testing::ElementsAre("move", "start mover", "save moving"));
    AckBoth(TopologyAck::Kind::kAdopted);
  }

  // Up to the topology that is settled.
  void Settle() {
    machine_.OnMoverIdle();
    machine_.OnMoverStopped();
    machine_.OnSaved("");
    EXPECT_THAT(Take(), ::testing::ElementsAre("stop mover", "save settling", "leave"));
  }

  void TurnBack() {
    EXPECT_EQ(machine_.Abort(), "");
    machine_.OnMoverStopped();
    machine_.OnSaved("");
    EXPECT_THAT(Take(), ::testing::ElementsAre("stop mover", "turn back", "save aborting", "hold"));
  }

  int64_t now_ = 5 * kSecond;
  Migration machine_{now_};
  uint64_t epoch_ = 10;
  uint64_t generation_ = 3;
  Migration::Action last_;
};

}  // namespace ringway::proxy
