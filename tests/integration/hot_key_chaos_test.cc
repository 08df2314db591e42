// Hot keys while servers are killed, freeze, run full and lose copies. RINGWAY_HOT_SECONDS sets how long,
// RINGWAY_SEED replays.
#include <chrono>

#include "tests/integration/hot_fixture.h"

namespace ringway::test {
namespace {

using Clock = std::chrono::steady_clock;

// The shard that has copies and none of the keys.
constexpr size_t kCopies = 3;
// Longer than a shard may take to answer, and than a request waits for it.
constexpr milliseconds kFreeze{900};
// After it, what was lost in a freeze has been carried out and what it set to expire has expired.
constexpr int64_t kGhostUsec = 2'500'000;

class HotKeyChaos : public HotKeyTest {
 protected:
  void StartWithCopiesOnly(const std::string& options = kByPattern) {
    StartCluster(options + "timeouts: {connect: 200ms, request: 300ms}\n");
    StartChecker({}, kCopies);
    checker_->excuses().ghost_life_usec = kGhostUsec;
    ExpectSpread(50);
  }

  int64_t CopiesOn(size_t server) {
    int64_t count = 0;
    RespClient direct = cluster_->Direct(server);
    for (const char* database : {"0", "3", "5"}) {
      direct.Do({"SELECT", database});
      count += direct.Do({"DBSIZE"}).integer;
    }
    return count;
  }

  // False after a fault.
  bool Wait(milliseconds time) {
    Watch(time);
    return !HasFatalFailure();
  }
  bool WaitUpTo(uint64_t most_ms) { return Wait(milliseconds(random_() % most_ms)); }
};

// Reads wait for the frozen server until their time is over, and are asked of the key then.
TEST_F(HotKeyChaos, AFrozenServerOfCopiesIsNoticed) {
  ASSERT_NO_FATAL_FAILURE(StartWithCopiesOnly());
  ASSERT_GT(CopiesOn(kCopies), 0);
  // FLUSHDB is asked of all servers; whoever reads is not excused.
  checker_->Excuse([](const HotNames& names) { return names.key.find("flushed") != std::string::npos; });
  const int64_t lost = checker_->lost_answers();
  for (int round = 0; round < 2; ++round) {
    cluster_->server(kCopies).Pause();
    ASSERT_TRUE(Wait(kFreeze));
    cluster_->server(kCopies).Resume();
    ASSERT_TRUE(WaitUpTo(500));
  }
  ASSERT_NO_FATAL_FAILURE(ExpectSpread(50));
  EXPECT_LT(checker_->lost_answers() - lost, 50) << "only those of FLUSHDB";
}

TEST_F(HotKeyChaos, CopiesThatWereLostWithTheirServerAreTakenForMissingKeys) {
  ASSERT_NO_FATAL_FAILURE(StartWithCopiesOnly());
  checker_->Excuse([](const HotNames& names) { return names.key.find("flushed") != std::string::npos; });
  const int64_t lost = checker_->lost_answers();
  const auto end = Clock::now() + HotSeconds(4);
  for (int round = 0; Clock::now() < end || round < 2; ++round) {
    cluster_->server(kCopies).Kill();
    ASSERT_TRUE(WaitUpTo(700));
    cluster_->server(kCopies).Restart();
    ASSERT_TRUE(WaitUpTo(700));
  }
  ASSERT_NO_FATAL_FAILURE(ExpectSpread(50));
  EXPECT_LT(checker_->lost_answers() - lost, 1000) << "only those of FLUSHDB";
}

TEST_F(HotKeyChaos, CopiesThatAnotherFlushedAreTakenForMissingKeys) {
  ASSERT_NO_FATAL_FAILURE(StartWithCopiesOnly());
  RespClient direct = cluster_->Direct(kCopies);
  const auto end = Clock::now() + HotSeconds(4);
  int64_t flushed = 0;
  while (Clock::now() < end || flushed < 100) {
    flushed += direct.Do({"DBSIZE"}).integer;
    ASSERT_TRUE(direct.Do({"FLUSHALL"}).IsOk());
    ASSERT_TRUE(WaitUpTo(30));
  }
  EXPECT_EQ(checker_->lost_answers(), 0);
  ASSERT_NO_FATAL_FAILURE(ExpectSpread(50));
}

TEST_F(HotKeyChaos, CopiesThatWereEvictedAreTakenForMissingKeys) {
  ASSERT_NO_FATAL_FAILURE(StartWithCopiesOnly());
  RedisServer& server = cluster_->server(kCopies);
  server.Do({"CONFIG", "SET", "maxmemory-policy", "allkeys-random"});
  const int64_t before = std::atoll(server.Info("evicted_keys").c_str());
  // Not once: what is used may have been a peak just then.
  ASSERT_TRUE(Eventually([&] {
    server.Do({"CONFIG", "SET", "maxmemory", server.Info("used_memory")});
    return std::atoll(server.Info("evicted_keys").c_str()) > before + 30 || !checker_->Complaints().empty();
  })) << server.Info("evicted_keys");
  ASSERT_TRUE(Wait(HotSeconds(3)));
  server.Do({"CONFIG", "SET", "maxmemory", "0"});
  ASSERT_NO_FATAL_FAILURE(ExpectSpread(50));
  EXPECT_EQ(checker_->lost_answers(), 0);
}

TEST_F(HotKeyChaos, AServerWithoutRoomForCopiesFailsReads) {
  ASSERT_NO_FATAL_FAILURE(StartWithCopiesOnly());
  RedisServer& server = cluster_->server(kCopies);
  server.Do({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  server.Do({"CONFIG", "SET", "maxmemory", "1"});
  ASSERT_TRUE(Wait(HotSeconds(3)));
  EXPECT_EQ(checker_->lost_answers(), 0);
  server.Do({"CONFIG", "SET", "maxmemory", "0"});
  ASSERT_NO_FATAL_FAILURE(ExpectSpread(50));
}

// Writes are given up and carried out when the server wakes: copies of before, and fills that were asked for
// meanwhile, must not be read once that has been seen.
TEST_F(HotKeyChaos, WritesThatAreCarriedOutLateLeaveOldCopiesInUse) {
  ASSERT_NO_FATAL_FAILURE(StartWithCopiesOnly());
  Allow(true);
  const int64_t lost = checker_->lost_answers();
  const auto end = Clock::now() + HotSeconds(6);
  for (int round = 0; Clock::now() < end || round < 2; ++round) {
    const size_t server = OwnerOf(checker_->Names()[static_cast<size_t>(random_() % 4)].key);
    cluster_->server(server).Pause();
    ASSERT_TRUE(Wait(kFreeze));
    cluster_->server(server).Resume();
    ASSERT_TRUE(Wait(milliseconds(kGhostUsec / 1000)));
  }
  EXPECT_GT(checker_->lost_answers(), lost);
  ASSERT_TRUE(Wait(seconds(1)));
  Allow(false);
  ASSERT_NO_FATAL_FAILURE(ExpectSpread(50));
}

TEST_F(HotKeyChaos, CopiesOutliveTheServerOfTheirKeyForGood) {
  ASSERT_NO_FATAL_FAILURE(StartWithCopiesOnly());
  const size_t server = OwnerOf(checker_->Names()[0].key);
  for (int round = 0; round < 2; ++round) {
    Allow(true);
    ExcuseKeysOf(server);
    cluster_->server(server).Kill();
    ASSERT_TRUE(WaitUpTo(700));
    cluster_->server(server).Restart();
    ASSERT_TRUE(Wait(seconds(1)));
    EndExcuses();
    ASSERT_TRUE(Wait(milliseconds(500)));
    Allow(false);
    ASSERT_NO_FATAL_FAILURE(ExpectSpread(50));
  }
}

// Its copies are still there when the next one makes its own.
TEST_F(HotKeyChaos, CopiesOfAKilledProxyAreUsedByTheNext) {
  ASSERT_NO_FATAL_FAILURE(
      StartWithCopiesOnly("hot_keys: {detect: false, patterns: [\"hot:*\"], buckets: 4, "
                          "max_staleness: 30s}\n"));
  checker_->excuses().ghost_life_usec = 500'000;
  Allow(true);
  const auto end = Clock::now() + HotSeconds(4);
  for (int round = 0; Clock::now() < end || round < 2; ++round) {
    checker_->excuses().connections = true;
    cluster_->KillProxy();
    cluster_->StartProxy();
    ASSERT_TRUE(WaitUpTo(500));
    checker_->excuses().connections = false;
    ASSERT_NO_FATAL_FAILURE(ExpectSpread(50));
  }
}

TEST_F(HotKeyChaos, OldValuesAreReadAfterAServerFrozeInAMove) {
  StartCluster(std::string(kByPattern) +
               "timeouts: {connect: 200ms, request: 300ms}\nmigration: {keys_per_second: 100}\n");
  StartChecker();
  Allow(true);
  const auto end = Clock::now() + HotSeconds(8);
  for (int round = 0; Clock::now() < end || round < 2; ++round) {
    Command words = {"APPLY"};
    const Command change = round % 2 == 0 ? cluster_->Add(4) : cluster_->Remove("s5");
    words.insert(words.end(), change.begin(), change.end());
    const Reply reply = cluster_->Ring(words);
    ASSERT_TRUE(reply.IsString()) << ToText(reply) << " " << reply.text;
    RedisServer& server = cluster_->server(random_() % 5);
    ASSERT_TRUE(WaitUpTo(300));
    server.Pause();
    ASSERT_TRUE(Wait(milliseconds(random_() % kFreeze.count())));
    server.Resume();
    ASSERT_TRUE(cluster_->WaitSettled(seconds(30))) << cluster_->MigrationText();
    ASSERT_NO_FATAL_FAILURE(ExpectNoFault());
  }
  ASSERT_TRUE(Wait(milliseconds(kGhostUsec / 1000)));
  ASSERT_NO_FATAL_FAILURE(ExpectSpread(50));
}

// The same servers have keys and copies here, and each is harmed in turn.
TEST_F(HotKeyChaos, HarmInRandomOrderBringsOldValuesBack) {
  StartCluster(std::string(kByRate) + "timeouts: {connect: 200ms, request: 300ms}\n");
  StartChecker();
  checker_->excuses().ghost_life_usec = kGhostUsec;
  Allow(true);
  const auto end = Clock::now() + HotSeconds(8);
  while (Clock::now() < end) {
    RedisServer& server = cluster_->server(random_() % 4);
    server.Pause();
    ASSERT_TRUE(Wait(milliseconds(random_() % kFreeze.count())));
    server.Resume();
    ASSERT_TRUE(Wait(milliseconds(random_() % 1000)));
    if (random_() % 2 == 0) Set("hot_keys.buckets", std::to_string(2 + random_() % 3));
  }
  ASSERT_TRUE(Wait(milliseconds(kGhostUsec / 1000)));
  Allow(false);
  ASSERT_NO_FATAL_FAILURE(ExpectSpread(50));
}

}  // namespace
}  // namespace ringway::test
