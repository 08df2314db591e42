// Moves while the proxy and the servers are killed, freeze and run full. RINGWAY_MOVE_SECONDS sets how long
// the random ones go on, RINGWAY_SEED replays.
#include <chrono>

#include "tests/integration/move_fixture.h"

namespace ringway::test {
namespace {

using Clock = std::chrono::steady_clock;

// Longer than a shard may take to answer.
constexpr milliseconds kFreeze{900};
constexpr int64_t kUsecPerMs = 1000;

class MoveChaos : public MoveTest {
 protected:
  static MoveClusterOptions Options(int keys_per_second) {
    MoveClusterOptions options;
    options.config = "timeouts: {connect: 200ms, request: 300ms}\nmigration: {keys_per_second: " +
                     std::to_string(keys_per_second) + "}\n";
    return options;
  }

  void Wait(uint64_t most_ms) {
    Consistently([] { return true; }, milliseconds(random_() % most_ms));
  }

  void ExpectMoving() {
    ASSERT_TRUE(Eventually([this] { return cluster_->Migration("state") == "moving"; }))
        << cluster_->MigrationText();
  }

  // A shard stops for longer than its requests may take, in the middle of a move.
  void Freeze(size_t server) {
    checker_->excuses().lost_answers = true;
    checker_->excuses().refusals = true;
    checker_->excuses().transit_usec += 2 * kFreeze.count() * kUsecPerMs;
    Wait(400);
    cluster_->server(server).Pause();
    Consistently([] { return true; }, kFreeze);
    cluster_->server(server).Resume();
    ASSERT_NO_FATAL_FAILURE(ExpectSettled());
  }
};

// The harm alone must not look like a fault of a move.
TEST_F(MoveChaos, AFaultIsFoundWithoutAMove) {
  Start(Options(0), false);
  checker_->excuses().lost_answers = true;
  checker_->excuses().connections = true;
  Wait(300);
  cluster_->server(0).Pause();
  Consistently([] { return true; }, kFreeze);
  cluster_->server(0).Resume();
  Wait(300);
  cluster_->KillProxy();
  cluster_->StartProxy();
  Wait(300);
  ExcuseKeysOf("s2");
  cluster_->server(1).Kill();
  Wait(300);
  cluster_->server(1).Restart();
  Consistently([] { return true; }, milliseconds(1500));
  EndExcuses();
  Consistently([] { return true; }, milliseconds(300));
  ASSERT_NO_FATAL_FAILURE(ExpectNoFault());
  checker_->Pause();
  EXPECT_THAT(cluster_->Misplaced(), IsEmpty());
  checker_->Resume();
  EXPECT_GT(checker_->lost_answers(), 0);
}

TEST_F(MoveChaos, AKilledProxyLosesKeys) {
  MoveClusterOptions options = Options(3000);
  Start(options);
  checker_->excuses().connections = true;
  const auto end = Clock::now() + MoveSeconds(8);
  std::map<std::string, int> phases;
  for (int round = 0; Clock::now() < end; ++round) {
    ASSERT_TRUE(Apply(round % 2 == 0 ? cluster_->Add(3) : cluster_->Remove("s4")));
    if (round % 3 > 0) Wait(800);
    const bool abort = random_() % 3 == 0;
    if (abort) cluster_->Ring({"ABORT"});
    if (abort) Wait(100);
    ++phases[cluster_->Migration("state")];
    cluster_->KillProxy();
    Wait(50);
    cluster_->StartProxy();
    ASSERT_NO_FATAL_FAILURE(ExpectSettled());
    // After an abort the ring is what it was, so the next round would ask for what is already so.
    const bool added = cluster_->Members().contains("s4");
    if (added != (round % 2 == 0)) ++round;
  }
  for (const auto& [phase, count] : phases) std::cout << count << " killed while " << phase << std::endl;
}

TEST_F(MoveChaos, AFrozenSourceBringsOldValuesBack) {
  Start(Options(2000));
  ASSERT_TRUE(Apply(cluster_->Add(3)));
  ASSERT_NO_FATAL_FAILURE(Freeze(0));
}

TEST_F(MoveChaos, ASourceFrozenBeforeTheHoldBringsOldValuesBack) {
  Start(Options(2000));
  checker_->excuses().lost_answers = true;
  checker_->excuses().refusals = true;
  checker_->excuses().transit_usec += 2 * kFreeze.count() * kUsecPerMs;
  for (int round = 0; round < 2; ++round) {
    cluster_->server(0).Pause();
    // Requests are under way that will be given up, and carried out when the server wakes.
    Consistently([] { return true; }, milliseconds(350));
    RespClient(cluster_->address())
        .Send({"RING", "APPLY", round == 0 ? "ADD" : "WEIGHT", "s4",
               round == 0 ? cluster_->server(3).address() : "2"});
    Consistently([] { return true; }, milliseconds(50));
    cluster_->server(0).Resume();
    ++moves_;
    Consistently([] { return true; }, milliseconds(500));
    ASSERT_NO_FATAL_FAILURE(ExpectSettled());
  }
}

TEST_F(MoveChaos, AFrozenTargetLosesKeys) {
  Start(Options(2000));
  ASSERT_TRUE(Apply(cluster_->Add(3)));
  ASSERT_NO_FATAL_FAILURE(Freeze(3));
}

TEST_F(MoveChaos, AKilledTargetTakesMoreWithItThanItHad) {
  Start(Options(400), false);
  ASSERT_TRUE(Apply(cluster_->Add(3)));
  ASSERT_NO_FATAL_FAILURE(ExpectMoving());
  ASSERT_EQ(ToText(cluster_->Ring({"THROTTLE", "1000"})), "+OK");
  ExcuseKeysOf("s4");
  checker_->excuses().lost_answers = true;
  checker_->excuses().refusals = true;
  Wait(300);
  cluster_->server(3).Kill();
  Wait(500);
  cluster_->server(3).Restart();
  ASSERT_TRUE(cluster_->WaitSettled(seconds(30))) << cluster_->MigrationText();
  EndExcuses();
  ASSERT_NO_FATAL_FAILURE(ExpectSettled());
}

TEST_F(MoveChaos, AKilledSourceTakesMoreWithItThanItHad) {
  Start(Options(1000), false);
  ASSERT_TRUE(Apply(cluster_->Add(3)));
  ASSERT_NO_FATAL_FAILURE(ExpectMoving());
  ExcuseKeysOf("s1");
  checker_->excuses().lost_answers = true;
  checker_->excuses().refusals = true;
  Wait(300);
  cluster_->server(0).Kill();
  Wait(500);
  cluster_->server(0).Restart();
  ASSERT_TRUE(cluster_->WaitSettled(seconds(30))) << cluster_->MigrationText();
  EndExcuses();
  ASSERT_NO_FATAL_FAILURE(ExpectSettled());
}

TEST_F(MoveChaos, ATargetThatRunsFullLosesKeys) {
  Start(Options(1000));
  RedisServer& target = cluster_->server(3);
  checker_->excuses().refusals = true;
  ASSERT_TRUE(Apply(cluster_->Add(3)));
  ASSERT_NO_FATAL_FAILURE(ExpectMoving());
  target.Do({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  target.Do({"CONFIG", "SET", "maxmemory", target.Info("used_memory")});
  ASSERT_TRUE(Eventually([this] { return cluster_->Migration("state") == "paused"; }))
      << cluster_->MigrationText();
  EXPECT_THAT(cluster_->Migration("pause_reason"), HasSubstr("memory"));
  Consistently([] { return true; }, milliseconds(500));
  ASSERT_NO_FATAL_FAILURE(ExpectNoFault());
  target.Do({"CONFIG", "SET", "maxmemory", "0"});
  ASSERT_NO_FATAL_FAILURE(ExpectSettled());
}

TEST_F(MoveChaos, AKeyOfAMillionElementsIsCutOrMissed) {
  constexpr int kElements = 1'000'000;
  MoveClusterOptions options;
  StartWithChecker(options, {}, true);
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("big:" + std::to_string(i));
  const auto places = cluster_->PlacesOf(names);
  const auto on_first = std::find(places.begin(), places.end(), std::vector<std::string>{"s1"});
  ASSERT_NE(on_first, places.end());
  const std::string big = names[static_cast<size_t>(on_first - places.begin())];
  const char kFill[] = "for i = 1, 10000 do redis.call('RPUSH', KEYS[1], ARGV[1] + i) end return 1";
  for (int i = 0; i < kElements; i += 10000) {
    ASSERT_EQ(cluster_->Do({"EVAL", kFill, "1", big, std::to_string(i)}).integer, 1);
  }
  ASSERT_TRUE(Apply(cluster_->Remove("s1")));
  while (cluster_->Ring({"WAIT", "20"}).integer == 0) {
    ASSERT_EQ(cluster_->Do({"LLEN", big}).integer, kElements);
    ASSERT_EQ(cluster_->Do({"LINDEX", big, "-1"}).text, std::to_string(kElements));
  }
  ASSERT_NO_FATAL_FAILURE(ExpectSettled());
  EXPECT_EQ(cluster_->Do({"LLEN", big}).integer, kElements);
}

TEST_F(MoveChaos, ADeadShardCannotBeRemoved) {
  Start(Options(4000), false);
  ExcuseKeysOf("s3");
  checker_->excuses().lost_answers = true;
  cluster_->server(2).Kill();
  EXPECT_TRUE(cluster_->Ring({"REMOVE", "s3"}).IsError()) << "its keys cannot be had";
  ASSERT_TRUE(Apply({"REMOVE", "s3", "FORCE"}));
  ASSERT_TRUE(cluster_->WaitSettled(seconds(30))) << cluster_->MigrationText();
  EndExcuses();
  checker_->Pause();
  checker_->excuses().lost_answers = false;
  checker_->Resume();
  Consistently([] { return true; }, milliseconds(300));
  ASSERT_NO_FATAL_FAILURE(ExpectSettled());
  EXPECT_EQ(cluster_->Members().size(), 2U);
}

}  // namespace
}  // namespace ringway::test
