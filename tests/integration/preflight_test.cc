// What a preflight refuses, copies and removes, with real servers.
#include "proxy/control/preflight.h"

#include <functional>

#include <gtest/gtest.h>

#include "proxy/hotkey/bucket_name.h"
#include "tests/integration/control_loop.h"
#include "tests/support/fake_shard.h"
#include "tests/support/test_environment.h"

namespace ringway::test {
namespace {

using proxy::Preflight;
using proxy::Shard;

class PreflightTest : public ::testing::Test {
 protected:
  PreflightTest() : source_(ShardAt(0, "s1", source_server_.address())) {}

  Preflight::Result Check(const std::vector<Shard>& from, const std::vector<Shard>& to, bool purge = false,
                          config::Mover mover = config::Mover::kMigrate) {
    auto answer = std::make_shared<std::promise<Preflight::Result>>();
    std::unique_ptr<Preflight> preflight;
    loop_.Do([&] {
      preflight = std::make_unique<Preflight>(loop_.links());
      Preflight::Options options;
      options.purge_target = purge;
      options.timeout_usec = 400'000;
      preflight->Start(PlanOf(from, to, mover), options,
                       [answer](const Preflight::Result& result) { answer->set_value(result); });
    });
    std::future<Preflight::Result> future = answer->get_future();
    EXPECT_EQ(future.wait_for(std::chrono::seconds(10)), std::future_status::ready);
    Preflight::Result result = future.get();
    loop_.Do([&preflight] { preflight.reset(); });
    return result;
  }
  // The problems when `target` joins.
  std::string ProblemsOf(const Shard& target, config::Mover mover = config::Mover::kMigrate) {
    std::string text;
    for (const std::string& problem : Check({source_}, {source_, target}, false, mover).problems) {
      text += problem + "\n";
    }
    return text;
  }
  static Shard Target(const std::string& address) { return ShardAt(1, "s2", address); }
  static void ExpectSays(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << "\"" << text << "\" does not say: " << part;
  }

  RedisServer source_server_;
  Shard source_;
  ControlLoop loop_;
};

TEST_F(PreflightTest, GoodTargetIsRefusedOrKeepsTheProbe) {
  RedisServer target;
  EXPECT_EQ(ProblemsOf(Target(target.address())), "");
  EXPECT_EQ(ProblemsOf(Target(target.address()), config::Mover::kRelay), "");
  EXPECT_EQ(target.Do({"DBSIZE"}).integer, 0);
  EXPECT_EQ(source_server_.Do({"DBSIZE"}).integer, 0);
}

TEST_F(PreflightTest, UnreachableTargetIsNotNamed) {
  RedisServer target;
  target.Stop();
  ExpectSays(ProblemsOf(Target(target.address())), "s2 " + target.address() + " is unreachable");
}

TEST_F(PreflightTest, FrozenServerHoldsThePreflight) {
  RedisServer target;
  target.Pause();
  ExpectSays(ProblemsOf(Target(target.address())), "s2 " + target.address() + " does not answer");
  target.Resume();
  source_server_.Pause();
  ExpectSays(ProblemsOf(Target(target.address())), "s1 " + source_server_.address() + " does not answer");
  source_server_.Resume();
}

TEST_F(PreflightTest, WrongPasswordIsTriedInTheMove) {
  RedisServer target({"--requirepass", "secret"});
  Shard shard = Target(target.address());
  ExpectSays(ProblemsOf(shard), "wants a password");
  shard.config.password = "hunter2";
  const std::string text = ProblemsOf(shard);
  ExpectSays(text, "refuses the proxy's user or password");
  EXPECT_EQ(text.find("hunter2"), std::string::npos);
  shard.config.password = "secret";
  EXPECT_EQ(ProblemsOf(shard), "");
}

TEST_F(PreflightTest, ReplicaIsTakenForATarget) {
  RedisServer target({"--replicaof", "127.0.0.1 " + std::to_string(source_server_.port())});
  ExpectSays(ProblemsOf(Target(target.address())), "is a replica");
}

TEST_F(PreflightTest, TargetWithKeysIsTaken) {
  RedisServer target;
  RespClient client(target.address());
  client.Do({"SELECT", "5"});
  client.Do({"MSET", "a", "1", "b", "2"});
  ExpectSays(ProblemsOf(Target(target.address())), "holds 2 keys; empty it or set migration.purge_target");
}

TEST_F(PreflightTest, TargetWithCopiesOfHotKeysIsRefusedOrOneWithAKeyAmongThemTaken) {
  RedisServer target;
  RespClient client(target.address());
  for (const char* database : {"0", "7"}) {
    client.Do({"SELECT", database});
    for (uint64_t i = 0; i < 1500; ++i) {
      client.Do({"SET", "hot" + proxy::BucketSuffix("0123456789abcdef", i), "v"});
    }
  }
  EXPECT_EQ(ProblemsOf(Target(target.address())), "");
  EXPECT_EQ(client.Do({"DBSIZE"}).integer, 1500) << "they are another proxy's, maybe, until it joins";
  client.Do({"SET", "key", "v"});
  ExpectSays(ProblemsOf(Target(target.address())), "holds 3001 keys");
}

// Purging it would remove every key of the shard that it is.
TEST_F(PreflightTest, ServerThatIsAlreadyAShardIsPurged) {
  source_server_.Do({"SET", "precious", "1"});
  const Shard twin = Target("localhost:" + std::to_string(source_server_.port()));
  const Preflight::Result result = Check({source_}, {source_, twin}, true);
  ASSERT_FALSE(result.problems.empty());
  ExpectSays(result.problems[0], "is the same server as s1");
  EXPECT_EQ(source_server_.Do({"EXISTS", "precious"}).integer, 1);
}

TEST_F(PreflightTest, MigrateThatIsNotAllowedIsFoundOutInTheMove) {
  RedisServer target;
  source_server_.Do({"ACL", "SETUSER", "default", "-migrate"});
  const std::string text = ProblemsOf(Target(target.address()));
  ExpectSays(text, "s1 " + source_server_.address() + " does not MIGRATE");
  ExpectSays(text, "mover: relay");
  EXPECT_EQ(ProblemsOf(Target(target.address()), config::Mover::kRelay), "");
}

TEST_F(PreflightTest, RenamedMigrateShowsThePassword) {
  RedisServer renamed({"--rename-command", "MIGRATE", "XMIGRATE"});
  RedisServer target({"--requirepass", "secret"});
  source_ = ShardAt(0, "s1", renamed.address());
  Shard shard = Target(target.address());
  shard.config.password = "secret";
  const std::string text = ProblemsOf(shard);
  ExpectSays(text, "does not MIGRATE (ERR unknown command 'MIGRATE')");
  EXPECT_EQ(text.find("secret"), std::string::npos);
}

TEST_F(PreflightTest, TargetWithoutMemoryOrWritesIsTaken) {
  RedisServer target({"--maxmemory", "1"});
  ExpectSays(ProblemsOf(Target(target.address())), "has no memory left");
  ExpectSays(ProblemsOf(Target(target.address()), config::Mover::kRelay), "has no memory left");
}

// The server that is to be relieved may well be full.
TEST_F(PreflightTest, SourceWithoutMemoryCannotBeRelieved) {
  RedisServer target;
  source_server_.Do({"CONFIG", "SET", "maxmemory", "1"});
  const Preflight::Result result = Check({source_}, {source_, Target(target.address())});
  EXPECT_TRUE(result.problems.empty()) << result.problems[0];
  ASSERT_EQ(result.warnings.size(), 1U);
  ExpectSays(result.warnings[0], "is out of memory");
}

TEST_F(PreflightTest, FewerDatabasesAreFoundOutInTheMove) {
  RedisServer target({"--databases", "4"});
  ExpectSays(ProblemsOf(Target(target.address())), "has 4 databases");
}

TEST_F(PreflightTest, OlderDumpFormatIsFoundOutInTheMove) {
  const FakeShard old([](const Command& command) -> std::string {
    if (command[0] == "RESTORE") return "-ERR DUMP payload version or checksum are wrong\r\n";
    return command[0] == "CONFIG" ? "*0\r\n" : "";
  });
  const std::string text = ProblemsOf(Target(old.address()));
  ExpectSays(text, "does not take the DUMP format of s1 " + source_server_.address());
}

TEST_F(PreflightTest, SourceThatReachesAnotherServerLosesTheKeys) {
  // Says that it took the key, and has none: as a server at the same address of another host would look.
  const FakeShard other([](const Command& command) -> std::string {
    if (command[0] == "RESTORE" || command[0] == "RESTORE-ASKING") return "+OK\r\n";
    if (command[0] == "DEL") return ":0\r\n";
    return command[0] == "CONFIG" ? "*0\r\n" : "";
  });
  ExpectSays(ProblemsOf(Target(other.address())), "reaches another server at " + other.address());
}

TEST_F(PreflightTest, FunctionsAreMissingOnTheNewShard) {
  RedisServer target;
  source_server_.Do(
      {"FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 7 end)"});
  EXPECT_EQ(ProblemsOf(Target(target.address())), "");
  EXPECT_EQ(target.Do({"FCALL", "f", "0"}).integer, 7);
}

TEST_F(PreflightTest, PurgeRemovesWhatATargetOwns) {
  RedisServer second;
  RedisServer third;
  const std::vector<Shard> from = {source_, ShardAt(1, "s2", second.address())};
  // s1 loses weight: to s2 move keys, and to s3.
  std::vector<Shard> to = {source_, from[1], ShardAt(2, "s3", third.address())};
  to[0].config.weight = 0.25;
  const auto plan = PlanOf(from, to);
  int64_t foreign = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string key = "k" + std::to_string(i);
    const uint64_t hash = plan->diff().from().Hash(key);
    // Each key lies on its owner, and, left over from earlier days, on s2; s3 has been in use elsewhere.
    (plan->FromIndex(hash) == 0 ? source_server_ : second).Do({"SET", key, "v"});
    if (plan->FromIndex(hash) == 0 && plan->ToIndex(hash) == 1) {
      second.Do({"SET", key, "old"});
      ++foreign;
    }
  }
  RespClient client(third.address());
  client.Do({"SELECT", "3"});
  client.Do({"SET", "x", "1"});
  ASSERT_GT(foreign, 10);
  const int64_t at_source = source_server_.Do({"DBSIZE"}).integer;
  const int64_t at_second = second.Do({"DBSIZE"}).integer;
  const Preflight::Result result = Check(from, to, true);
  EXPECT_TRUE(result.problems.empty()) << result.problems[0];
  EXPECT_EQ(static_cast<int64_t>(result.keys_purged), foreign + 1);
  EXPECT_EQ(source_server_.Do({"DBSIZE"}).integer, at_source);
  EXPECT_EQ(second.Do({"DBSIZE"}).integer, at_second - foreign);
  EXPECT_EQ(client.Do({"DBSIZE"}).integer, 0);
}

}  // namespace
}  // namespace ringway::test
