// A shard that fails costs its own keys and nothing else, and is taken back without a restart.
#include <algorithm>

#include "tests/integration/proxy_test.h"
#include "tests/support/fake_shard.h"

namespace ringway::test {
namespace {

using Clock = std::chrono::steady_clock;

class ShardFailure : public CustomProxyTest {
 protected:
  void SetUp() override {
    RINGWAY_NEEDS_PROXY();
    ClusterOptions options;
    options.config = "timeouts: {connect: 300ms, request: 400ms}\n";
    Start(options);
    for (size_t i = 0; i < 3; ++i) keys_.push_back(cluster_->KeyOn(i));
    for (const std::string& key : keys_) ASSERT_EQ(Ask({"SET", key, key}), "+OK");
  }

  // Names the shard and says what is wrong with it.
  static auto IsDown(size_t index) { return StartsWith("-SHARDDOWN " + Cluster::ShardName(index)); }
  static auto IsDownOrTimeout(size_t index) {
    return ::testing::AnyOf(IsDown(index), StartsWith("-SHARDTIMEOUT " + Cluster::ShardName(index)));
  }

  std::vector<std::string> keys_;  // one on each shard
};

TEST_F(ShardFailure, DeadShardTakesOthersWithIt) {
  shard(1).Kill();
  EXPECT_THAT(Ask({"GET", keys_[1]}), IsDownOrTimeout(1));
  for (int i = 0; i < 20; ++i) {
    const auto replies =
        client_.Pipeline({{"GET", keys_[0]}, {"GET", keys_[1]}, {"GET", keys_[2]}, {"PING"}});
    ASSERT_EQ(replies[0].text, keys_[0]);
    ASSERT_THAT(ToText(replies[1]), IsDown(1));
    ASSERT_EQ(replies[2].text, keys_[2]);
    ASSERT_EQ(ToText(replies[3]), "+PONG");
  }
  EXPECT_THAT(ToText(client_.Do({"GET", keys_[1]})), HasSubstr(shard(1).address()));
}

TEST_F(ShardFailure, SplitCommandOverADeadShardCrashesOrHidesIt) {
  shard(1).Kill();
  EXPECT_THAT(Ask({"MGET", keys_[0], keys_[1], keys_[2]}), IsDownOrTimeout(1));
  EXPECT_THAT(Ask({"MSET", keys_[0], "new", keys_[1], "new", keys_[2], "new"}), IsDown(1));
  EXPECT_THAT(Ask({"DEL", keys_[1], "nothing"}), IsDown(1));
  EXPECT_THAT(Ask({"EXISTS", keys_[0], keys_[1]}), IsDown(1));
  EXPECT_THAT(Ask({"DBSIZE"}), IsDown(1));
  EXPECT_THAT(Ask({"KEYS", "*"}), IsDown(1));
  EXPECT_EQ(Do({"MGET", keys_[0], keys_[2]}).elements.size(), 2U);
  EXPECT_EQ(Ask({"PING"}), "+PONG");
}

TEST_F(ShardFailure, DeadShardIsNeverTakenBack) {
  for (int round = 0; round < 3; ++round) {
    shard(1).Kill();
    EXPECT_TRUE(Eventually([&] { return Do({"GET", keys_[1]}).IsErrorStartingWith("SHARDDOWN"); }));
    shard(1).Restart();
    const auto start = Clock::now();
    EXPECT_TRUE(Eventually([&] { return Ask({"SET", keys_[1], "back"}) == "+OK"; }));
    EXPECT_LT(Clock::now() - start, seconds(5));
    EXPECT_EQ(Ask({"GET", keys_[1]}), "\"back\"");
  }
}

TEST_F(ShardFailure, RestartBetweenTwoRequestsIsAnError) {
  shard(1).Kill();
  shard(1).Restart();
  // The proxy's old connection has ended in between; at most the very next request may meet that.
  EXPECT_TRUE(Eventually([&] { return Ask({"SET", keys_[1], "again"}) == "+OK"; }, seconds(3)));
}

TEST_F(ShardFailure, StoppedShardIsWaitedForWithoutEnd) {
  shard(1).Pause();
  const auto start = Clock::now();
  EXPECT_THAT(Ask({"GET", keys_[1]}), StartsWith("-SHARDTIMEOUT " + Cluster::ShardName(1)));
  EXPECT_GE(Clock::now() - start, milliseconds(300));
  EXPECT_LT(Clock::now() - start, milliseconds(1500));
  EXPECT_EQ(Do({"GET", keys_[0]}).text, keys_[0]);
  shard(1).Resume();
  EXPECT_TRUE(Eventually([&] { return Do({"GET", keys_[1]}).text == keys_[1]; }));
}

// twemproxy #404: after a timeout, clients got the replies of others.
TEST_F(ShardFailure, LateReplyReachesSomebodyElse) {
  for (int i = 0; i < 50; ++i) {
    const std::string key = "late:" + std::to_string(i);
    ASSERT_EQ(Ask({"SET", key, key}), "+OK");
  }
  const auto on_shard = cluster_->KeysOn(1, 10, "late:");
  for (int round = 0; round < 3; ++round) {
    shard(1).Pause();
    std::vector<RespClient> waiting;
    for (const std::string& key : on_shard) {
      waiting.push_back(Connect());
      waiting.back().Send({"GET", key});
    }
    for (RespClient& client : waiting) ASSERT_THAT(ToText(client.Read()), IsDownOrTimeout(1));
    // Now the shard answers the ten requests that nobody waits for, while others are asked.
    shard(1).Resume();
    for (int i = 0; i < 100; ++i) {
      for (RespClient& client : waiting) {
        const std::string& key = on_shard[static_cast<size_t>(i) % on_shard.size()];
        const Reply reply = client.Do({"GET", key});
        ASSERT_TRUE(reply.IsError() || reply.text == key) << reply << " for " << key;
      }
    }
    ASSERT_TRUE(Eventually([&] { return Do({"GET", on_shard[0]}).text == on_shard[0]; }));
  }
}

TEST_F(ShardFailure, TimeoutsLeaveRequestsInFlight) {
  shard(1).Pause();
  for (int i = 0; i < 3; ++i) Ask({"GET", keys_[1]});
  shard(1).Resume();
  EXPECT_TRUE(Eventually([&] { return Do({"GET", keys_[1]}).text == keys_[1]; }));
  const auto in_flight = [&] {
    const std::string line = InfoField(Do({"INFO", "ring"}).text, "shard1");
    const size_t at = line.find("in_flight=");
    return at == std::string::npos ? line : line.substr(at + 10, line.find(',', at) - at - 10);
  };
  EXPECT_TRUE(Eventually([&] { return in_flight() == "0"; })) << in_flight();
}

TEST_F(ShardFailure, AllShardsDownEndsTheProxy) {
  for (size_t i = 0; i < 3; ++i) shard(i).Kill();
  for (size_t i = 0; i < 3; ++i) EXPECT_THAT(Ask({"GET", keys_[i]}), IsDownOrTimeout(i));
  EXPECT_EQ(Ask({"PING"}), "+PONG");
  EXPECT_NE(Do({"INFO"}).type, 0);
  EXPECT_TRUE(cluster_->proxy().running());
  for (size_t i = 0; i < 3; ++i) shard(i).Restart();
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(Eventually([&] { return Ask({"SET", keys_[i], "x"}) == "+OK"; }));
  }
}

TEST_F(ShardFailure, ScanOverADeadShardEndsAsIfComplete) {
  shard(2).Kill();
  Do({"GET", keys_[2]});
  std::string cursor = "0";
  bool failed = false;
  for (int step = 0; step < 100 && !failed; ++step) {
    const Reply reply = Do({"SCAN", cursor});
    failed = reply.IsErrorStartingWith("SHARD");
    if (failed || reply.elements.size() != 2) break;
    cursor = reply.elements[0].text;
    if (cursor == "0") break;
  }
  EXPECT_TRUE(failed);
}

TEST_F(ShardFailure, DownShardFloodsTheLogOrTheNetwork) {
  shard(1).Kill();
  ASSERT_TRUE(Eventually([&] { return Do({"GET", keys_[1]}).IsErrorStartingWith("SHARDDOWN"); }));
  const size_t before = cluster_->proxy().log().size();
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(Do({"GET", keys_[1]}).IsError());
  EXPECT_LT(cluster_->proxy().log().size() - before, 4000U) << cluster_->proxy().log();
}

TEST_F(ShardFailure, ProxyDoesNotStartWhileAShardIsDown) {
  RedisServer late;
  late.Stop();
  RingwayProcess proxy(
      {"--listen", "127.0.0.1:0", "--shard", "a=" + shard(0).address(), "--shard", "late=" + late.address()});
  ASSERT_TRUE(proxy.WaitReady()) << proxy.log();
  late.Restart();
  RespClient client(proxy.address());
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(Eventually([&] {
      return ToText(client.Do({"SET", "k" + std::to_string(i), "v"})) == "+OK";
    }));
  }
}

class ShardPassword : public CustomProxyTest {
 protected:
  void SetUp() override { RINGWAY_NEEDS_PROXY(); }
};

TEST_F(ShardPassword, SelectIsSentBeforeAuth) {
  ClusterOptions options;
  options.redis_arguments = {"--requirepass", "shardsecret"};
  options.shard_config = ", password: shardsecret";
  Start(options);
  Fill(30);
  EXPECT_EQ(Ask({"SELECT", "7"}), "+OK");
  Fill(30);
  EXPECT_EQ(Ask({"DBSIZE"}), "30");
  Ask({"HELLO", "3"});
  Fill(30);
  // And again on connections made anew.
  for (size_t i = 0; i < 3; ++i) {
    shard(i).Kill();
    shard(i).Restart();
  }
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(Eventually([&] { return Ask({"SET", "key:" + std::to_string(i), "x"}) == "+OK"; }));
  }
  EXPECT_EQ(Ask({"DBSIZE"}), "30");
}

TEST_F(ShardPassword, UserOfAShardIsIgnored) {
  ClusterOptions options;
  options.redis_arguments = {"--requirepass", "othersecret", "--user", "worker", "on",
                             ">workersecret", "~*",          "&*",     "+@all"};
  options.shard_config = ", user: worker, password: workersecret";
  Start(options);
  Fill(30);
  EXPECT_EQ(Ask({"DBSIZE"}), "30");
}

TEST_F(ShardPassword, WrongPasswordHangsOrLeaks) {
  ClusterOptions options;
  options.redis_arguments = {"--requirepass", "rightsecret"};
  options.shard_config = ", password: wrongsecret";
  Start(options);
  const Reply reply = Do({"GET", "key"});
  EXPECT_TRUE(reply.IsErrorStartingWith("SHARDDOWN")) << reply;
  EXPECT_THAT(reply.text, AllOf(Not(HasSubstr("wrongsecret")), Not(HasSubstr("rightsecret"))));
  EXPECT_THAT(cluster_->proxy().log(), Not(HasSubstr("wrongsecret")));
  EXPECT_EQ(Ask({"PING"}), "+PONG");
  // It recovers when the shard is put right.
  for (size_t i = 0; i < 3; ++i)
    RespClient(shard(i).address())
        .Pipeline({{"AUTH", "rightsecret"}, {"CONFIG", "SET", "requirepass", "wrongsecret"}});
  EXPECT_TRUE(Eventually([&] { return Ask({"SET", "key", "x"}) == "+OK"; }));
}

TEST_F(ShardPassword, ShardThatBeginsToAskForAPasswordIsServedWithout) {
  Start({});
  Fill(10);
  for (size_t i = 0; i < 3; ++i) shard(i).Restart({"--requirepass", "late"});
  EXPECT_TRUE(Eventually([&] {
    return Do({"GET", "key:1"}).IsErrorStartingWith("SHARDDOWN");
  })) << Do({"GET", "key:1"});
  EXPECT_EQ(Ask({"PING"}), "+PONG");
}

TEST_F(ShardFailure, RepliesThatNobodyAskedForEndTheProxyOrMakeAStorm) {
  FakeShard talkative([](const Command& command) -> std::string {
    return command == Command{"INFO", "cluster"} || command == Command{"COMMAND"} ? "$0\r\n\r\n+WHAT\r\n"
                                                                                  : "";
  });
  RingwayProcess proxy({"--listen", "127.0.0.1:0", "--shard", "a=" + talkative.address(), "--threads", "1"});
  ASSERT_TRUE(proxy.WaitReady()) << proxy.log();
  const auto greetings = [&] {
    const std::vector<std::string> commands = talkative.Commands();
    return std::count(commands.begin(), commands.end(), "INFO cluster");
  };
  const auto start = Clock::now();
  ASSERT_TRUE(Eventually([&] { return greetings() >= 6; }));
  EXPECT_GE(Clock::now() - start, milliseconds(500)) << "each attempt waits longer than the last";
  EXPECT_TRUE(proxy.running()) << proxy.log();
  RespClient client(proxy.address());
  EXPECT_EQ(ToText(client.Do({"PING"})), "+PONG");
}

}  // namespace
}  // namespace ringway::test
