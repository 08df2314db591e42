// Shards come, go and change their weight under traffic, and no key is missed. RINGWAY_MOVE_SECONDS sets how
// long, RINGWAY_SEED replays.
#include <chrono>
#include <map>

#include <signal.h>

#include "tests/integration/move_fixture.h"

namespace ringway::test {
namespace {

using Clock = std::chrono::steady_clock;

// So that a move takes its time, and most keys are asked for before the mover has come to them.
const char kSlowly[] = "migration: {keys_per_second: 6000}\n";

class CalmMove : public MoveTest {
 protected:
  // A change that says something: WEIGHT to the weight that the shard has is refused.
  bool ApplyRandom(size_t count) {
    Command words = {"APPLY"};
    const Command changes = RandomChanges(count);
    if (changes.empty()) return false;
    words.insert(words.end(), changes.begin(), changes.end());
    const Reply reply = cluster_->Ring(words);
    const bool begun = reply.IsString();
    if (begun) ++moves_;
    EXPECT_FALSE(reply.IsErrorStartingWith("MOVEFAIL")) << ToText(reply) << " " << reply.text;
    return begun;
  }
};

TEST_F(CalmMove, NoFaultIsFoundWithoutAMove) {
  Start({});
  Consistently([] { return true; }, seconds(1));
  ExpectNoFault();
  checker_->Pause();
  EXPECT_THAT(cluster_->Misplaced(), IsEmpty());
  checker_->Resume();
  EXPECT_GT(checker_->judged(), 10'000);
}

TEST_F(CalmMove, KeysAreMissedWhileAShardIsAdded) {
  MoveClusterOptions options;
  options.config = kSlowly;
  Start(options);
  ASSERT_TRUE(Apply(cluster_->Add(3)));
  ASSERT_NO_FATAL_FAILURE(ExpectSettled());
  ASSERT_TRUE(Apply(cluster_->Remove("s4")));
  ASSERT_NO_FATAL_FAILURE(ExpectSettled());
}

// MIGRATE blocks both servers, so two that send each other keys at once would stand still for its whole
// time-out.
TEST_F(CalmMove, ServersThatSendEachOtherKeysWaitForEachOther) {
  MoveClusterOptions options;
  options.config = kSlowly;
  Start(options);
  Command changes = cluster_->Add(3);
  changes.insert(changes.end(), {"WEIGHT", "s2", "2", "WEIGHT", "s1", "3"});
  ASSERT_TRUE(Apply(changes));
  ASSERT_NO_FATAL_FAILURE(ExpectSettled());
}

TEST_F(CalmMove, KeysAreMissedWhereTargetsAskForAPassword) {
  MoveClusterOptions options;
  options.config = kSlowly;
  options.password = "secret";
  Start(options);
  ASSERT_TRUE(Apply(cluster_->Add(3)));
  ASSERT_NO_FATAL_FAILURE(ExpectSettled());
}

TEST_F(CalmMove, KeysAreMissedWhileTheyAreRelayed) {
  MoveClusterOptions options;
  options.config = "migration: {mover: relay, keys_per_second: 6000}\n";
  Start(options);
  ASSERT_TRUE(Apply(cluster_->Add(3)));
  ASSERT_NO_FATAL_FAILURE(ExpectSettled());
  ASSERT_TRUE(Apply({"REPLACE", "s1", cluster_->server(4).address()}));
  ASSERT_NO_FATAL_FAILURE(ExpectSettled());
}

TEST_F(CalmMove, KeysAreMissedAfterAReload) {
  MoveClusterOptions options;
  options.config = kSlowly;
  Start(options);
  cluster_->WriteConfig({0, 1, 2, 3});
  cluster_->proxy().Signal(SIGHUP);
  ASSERT_TRUE(Eventually([this] { return cluster_->Members().size() == 4; })) << cluster_->Logs();
  ASSERT_NO_FATAL_FAILURE(ExpectSettled());
  EXPECT_TRUE(cluster_->Members().contains("s4"));
}

TEST_F(CalmMove, KeysAreMissedWhileShardsChangeInRandomOrder) {
  MoveClusterOptions options;
  options.config = kSlowly;
  options.spares = 3;
  Start(options);
  // However slow the program is: what one move leaves behind is found by the next.
  const auto end = Clock::now() + MoveSeconds(6);
  while (Clock::now() < end || moves_ < 2) {
    if (!ApplyRandom(1 + random_() % 3)) continue;
    ASSERT_NO_FATAL_FAILURE(ExpectSettled());
  }
}

TEST_F(CalmMove, KeysAreMissedWhenAMoveIsSteered) {
  MoveClusterOptions options;
  options.config = kSlowly;
  options.spares = 3;
  Start(options);
  const auto end = Clock::now() + MoveSeconds(6);
  while (Clock::now() < end || moves_ < 2) {
    if (!ApplyRandom(1 + random_() % 2)) continue;
    const auto wait = [this](uint64_t most) {
      Consistently([] { return true; }, milliseconds(random_() % most));
    };
    wait(300);
    for (int i = 0; i < 3; ++i) {
      switch (random_() % 4) {
        case 0:
          cluster_->Ring({"PAUSE"});
          break;
        case 1:
          cluster_->Ring({"RESUME"});
          break;
        case 2:
          cluster_->Ring({"THROTTLE", std::to_string(500 + random_() % 5000)});
          break;
        default:
          if (random_() % 2 == 0) cluster_->Ring({"ABORT"});
      }
      wait(200);
    }
    cluster_->Ring({"RESUME"});
    cluster_->Ring({"THROTTLE", "6000"});
    ASSERT_TRUE(cluster_->WaitSettled(seconds(30))) << cluster_->MigrationText();
    ASSERT_NO_FATAL_FAILURE(ExpectSettled());
  }
}

// The checker itself: a proxy that skips a step must be found out.
class FaultyMove : public MoveTest {
 protected:
  // Stops all servers while the move begins, so that requests are under way to the owners before it, and asks
  // for every key by connections of all workers. Whoever does not wait for those requests moves keys first.
  void AskWhileServersStandStill() {
    for (size_t i = 0; i < cluster_->size(); ++i) cluster_->server(i).Pause();
    Eventually([this] { return cluster_->Migration("state") == "moving"; }, kStandStill);
    std::vector<RespClient> clients;
    std::map<int, std::string> requests;  // by database
    for (const PlacedKey& key : keys_) {
      std::string& bytes = requests[key.database];
      if (bytes.empty()) bytes = EncodeCommand({"SELECT", std::to_string(key.database)});
      bytes += EncodeCommand({"EXISTS", key.key});
    }
    for (int i = 0; i < 4; ++i) {
      for (const auto& [database, bytes] : requests) {
        clients.emplace_back(cluster_->address());
        clients.back().socket().Send(bytes);
      }
    }
    Consistently([] { return true; }, kStandStill);
    for (size_t i = 0; i < cluster_->size(); ++i) cluster_->server(i).Resume();
    for (RespClient& client : clients) EXPECT_NE(client.Read().type, 0);
  }

  // `request_timeout_ms` below the time of standing still: requests are given up, and done when servers wake.
  bool FaultIsFound(const std::string& fault, int request_timeout_ms = 2000) {
    const int moves = fault.empty() ? kCorrectMoves : kMaxFaultyMoves;
    MoveClusterOptions options;
    options.config = "timeouts: {request: " + std::to_string(request_timeout_ms) + "ms}\n";
    options.environment = {"RINGWAY_TEST_FAULT=" + fault};
    options.spares = 1;
    MoveCheckerOptions checker;
    checker.ballast_per_database = 10;
    StartWithChecker(options, checker, false);
    checker_->excuses().lost_answers = request_timeout_ms < 2 * kStandStill.count();
    checker_->excuses().refusals = checker_->excuses().lost_answers.load();
    checker_->Pause();
    keys_ = checker_->Keys();
    checker_->Resume();
    const auto found = [this] { return !checker_->Complaints().empty(); };
    for (int i = 0; i < moves && !found(); ++i) {
      if (!Apply(i % 2 == 0 ? cluster_->Add(3) : cluster_->Remove("s4"))) return false;
      AskWhileServersStandStill();
      Eventually([&] { return found() || cluster_->Ring({"WAIT", "100"}).integer == 1; }, seconds(20));
    }
    if (found()) std::cout << checker_->Complaints().front().substr(0, 300) << std::endl;
    return found();
  }

 private:
  // A fault is found in the first or second move as a rule; on a busy machine it may take more.
  static constexpr int kCorrectMoves = 4;
  static constexpr int kMaxFaultyMoves = 30;
  static constexpr milliseconds kStandStill{200};

  std::vector<PlacedKey> keys_;
};

TEST_F(FaultyMove, AMoveWithoutAHoldPassesForCorrect) { EXPECT_TRUE(FaultIsFound("skip-hold")); }

TEST_F(FaultyMove, AMoveWithoutPullsPassesForCorrect) { EXPECT_TRUE(FaultIsFound("skip-pull")); }

TEST_F(FaultyMove, ACorrectMoveThatGivesRequestsUpIsTakenForAFault) { EXPECT_FALSE(FaultIsFound("", 100)); }

// What makes the faults visible is none itself.
TEST_F(FaultyMove, ACorrectMoveOfServersThatStandStillIsTakenForAFault) { EXPECT_FALSE(FaultIsFound("")); }

}  // namespace
}  // namespace ringway::test
