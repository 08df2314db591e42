#include <deque>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/control/shard_monitor.h"

namespace ringway::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kTimeoutUsec = 1'000'000;
constexpr int64_t kStepUsec = 100'000;

class FakeLink : public ShardLink {
 public:
  void Connect(const config::ShardConfig& shard) override {
    log.push_back("connect " + shard.address);
    connected = true;
  }
  void Send(std::initializer_list<std::string_view> command) override {
    std::string line;
    for (const std::string_view word : command) line += (line.empty() ? "" : " ") + std::string(word);
    log.push_back(line);
  }
  void Close() override { connected = false; }

  std::vector<std::string> Take() { return std::exchange(log, {}); }

  std::vector<std::string> log;
  bool connected = false;
};

class ShardMonitorTest : public ::testing::Test, public ShardMonitor::Host {
 protected:
  static Shard MakeShard(const std::string& user = "", const std::string& password = "") {
    Shard shard{7, {}};
    shard.config.name = "cache1";
    shard.config.address = "h:1";
    shard.config.user = user;
    shard.config.password = password;
    return shard;
  }

  ShardMonitor& Start(const Shard& shard = MakeShard()) {
    monitor_.emplace(shard, link_, *this, now_usec_, 1);
    monitor_->Tick(kTimeoutUsec);
    return *monitor_;
  }
  void Pass(int64_t usec) {
    for (const int64_t end = now_usec_ + usec; now_usec_ < end;) {
      now_usec_ += kStepUsec;
      monitor_->Tick(kTimeoutUsec);
    }
  }
  static std::string Info(const std::string& more = "") {
    const std::string text = "# Server\r\nredis_version:7.0.15\r\nloading:0\r\n" + more;
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  }
  void GreetWell() {
    monitor_->OnConnected();
    monitor_->OnReply("+PONG\r\n");
    monitor_->OnReply(Info());
    monitor_->OnReply("*0\r\n");
    link_.Take();
  }

  void OnDown(const ShardMonitor& monitor, ShardMonitor::Trouble) override {
    told_.push_back("down: " + monitor.sight().problem);
  }
  void OnBack(const ShardMonitor&) override { told_.push_back("back"); }
  void OnSight(const ShardMonitor&) override {}
  void OnCommands(const ShardMonitor&, std::string_view reply) override { commands_.emplace_back(reply); }

  int64_t now_usec_ = 5'000'000;
  FakeLink link_;
  std::optional<ShardMonitor> monitor_;
  std::vector<std::string> told_;
  std::vector<std::string> commands_;
};

TEST_F(ShardMonitorTest, AuthComesAfterOtherCommands) {
  Start(MakeShard("", "secret")).OnConnected();
  EXPECT_THAT(link_.Take(), ElementsAre("connect h:1", "AUTH secret", "PING", "INFO"));
  Start(MakeShard("worker", "secret")).OnConnected();
  EXPECT_THAT(link_.Take(), ElementsAre("connect h:1", "AUTH worker secret", "PING", "INFO"));
}

TEST_F(ShardMonitorTest, ShardThatIsUpFromTheStartIsReportedAsBack) {
  Start();
  GreetWell();
  EXPECT_TRUE(monitor_->sight().up);
  EXPECT_EQ(monitor_->sight().redis_version, "7.0.15");
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_THAT(commands_, ElementsAre("*0\r\n"));
}

TEST_F(ShardMonitorTest, ShardThatStaysDownFillsTheLog) {
  Start();
  for (int i = 0; i < 200; ++i) {
    if (link_.connected) monitor_->OnLost(i % 2 == 0 ? "is unreachable: refused" : "closed the connection");
    Pass(kStepUsec);
  }
  EXPECT_THAT(told_, ElementsAre("down: is unreachable: refused"));
  EXPECT_GT(link_.log.size(), 8U);
  EXPECT_LT(link_.log.size(), 40U) << "back-off does not grow";
  while (!link_.connected) Pass(kStepUsec);
  GreetWell();
  EXPECT_THAT(told_, ElementsAre("down: is unreachable: refused", "back"));
  EXPECT_EQ(monitor_->sight().problem, "");
}

TEST_F(ShardMonitorTest, OtherReasonWhileDownIsNotTold) {
  Start().OnLost("is unreachable: refused");
  while (!link_.connected) Pass(kStepUsec);
  monitor_->OnConnected();
  monitor_->OnReply("-LOADING Redis is loading the dataset in memory\r\n");
  EXPECT_THAT(told_, ElementsAre("down: is unreachable: refused",
                                 "down: is not ready: LOADING Redis is loading the dataset in memory"));
}

TEST_F(ShardMonitorTest, ServerThatClosesAConnectionCountsAsDown) {
  Start();
  GreetWell();
  monitor_->OnLost("closed the connection");
  EXPECT_TRUE(monitor_->sight().up) << "one new attempt comes first";
  EXPECT_THAT(link_.Take(), ElementsAre("connect h:1"));
  GreetWell();
  EXPECT_THAT(told_, IsEmpty());
  monitor_->OnLost("closed the connection");
  monitor_->OnLost("is unreachable: refused");
  EXPECT_THAT(told_, ElementsAre("down: is unreachable: refused"));
}

TEST_F(ShardMonitorTest, ServerThatClosesEachConnectionIsAskedInAStorm) {
  Start();
  int attempts = 0;
  for (int i = 0; i < 200; ++i) {
    if (!link_.Take().empty()) {
      ++attempts;
      GreetWell();
      monitor_->OnLost("closed the connection");
    }
    Pass(kStepUsec);
  }
  EXPECT_GT(attempts, 8);
  EXPECT_LT(attempts, 40) << "back-off does not grow";
}

TEST_F(ShardMonitorTest, VanishedHostIsNeverNoticed) {
  Start();
  GreetWell();
  Pass(ShardMonitor::kPingUsec);
  EXPECT_THAT(link_.Take(), ElementsAre("PING"));
  monitor_->OnReply("+PONG\r\n");
  Pass(ShardMonitor::kPingUsec);
  EXPECT_THAT(link_.Take(), ElementsAre("PING"));
  Pass(kTimeoutUsec);
  EXPECT_TRUE(monitor_->sight().up) << "the time is not over";
  Pass(kStepUsec);
  EXPECT_THAT(told_, ElementsAre("down: does not answer"));
  EXPECT_FALSE(link_.connected);
}

TEST_F(ShardMonitorTest, ConnectOrGreetingLastsForEver) {
  Start();
  Pass(kTimeoutUsec + kStepUsec);
  EXPECT_THAT(told_, ElementsAre("down: is unreachable: connect timed out"));
  while (!link_.connected) Pass(kStepUsec);
  monitor_->OnConnected();
  Pass(kTimeoutUsec + kStepUsec);
  EXPECT_EQ(monitor_->sight().problem, "does not answer");
}

TEST_F(ShardMonitorTest, RefusalsAreMisnamed) {
  const struct {
    std::string password;
    std::vector<std::string> replies;
    std::string problem;
  } kCases[] = {
      {"x", {"-WRONGPASS invalid username-password pair\r\n"}, "refuses the proxy's user or password"},
      {"x", {"-ERR AUTH <password> called without any password\r\n"}, "refuses the proxy's user or password"},
      {"x", {"-ERR max number of clients reached\r\n"}, "is not ready: ERR max number of clients reached"},
      {"", {"-NOAUTH Authentication required.\r\n"}, "wants a password"},
      {"", {"-BUSY Redis is busy\r\n"}, "is not ready: BUSY Redis is busy"},
      {"",
       {"+PONG\r\n", Info("# Cluster\r\ncluster_enabled:1\r\n")},
       "is a Redis Cluster node; shards must be plain servers"},
      {"", {"+PONG\r\n", Info("loading:1\r\n")}, ""},  // the first line of that name counts
      {"", {"+PONG\r\n", Info("not_cluster_enabled:1\r\n")}, ""},
      {"", {"-NOPERM no ping\r\n", "-NOPERM no info\r\n"}, ""},
  };
  for (const auto& test : kCases) {
    Start(MakeShard("", test.password)).OnConnected();
    for (const std::string& reply : test.replies) monitor_->OnReply(reply);
    EXPECT_EQ(monitor_->sight().problem, test.problem);
    EXPECT_EQ(monitor_->sight().up, test.problem.empty()) << test.replies.back();
    EXPECT_EQ(link_.connected, test.problem.empty());
  }
}

TEST_F(ShardMonitorTest, RunningScriptCountsAsDown) {
  Start();
  GreetWell();
  Pass(ShardMonitor::kPingUsec);
  monitor_->OnReply("-BUSY Redis is busy running a script\r\n");
  EXPECT_TRUE(monitor_->sight().up);
  Pass(ShardMonitor::kPingUsec);
  monitor_->OnReply("-LOADING Redis is loading\r\n");
  EXPECT_FALSE(monitor_->sight().up);
}

TEST_F(ShardMonitorTest, KeysAreCountedOnceAndNeverAgain) {
  Start();
  monitor_->OnConnected();
  monitor_->OnReply("+PONG\r\n");
  monitor_->OnReply(Info("# Keyspace\r\ndb0:keys=5,expires=0,avg_ttl=0\r\n"));
  monitor_->OnReply("*0\r\n");
  EXPECT_EQ(monitor_->sight().keys, 5U);
  link_.Take();
  for (uint32_t ping = 1; ping < ShardMonitor::kPingsPerKeyspace; ++ping) {
    Pass(ShardMonitor::kPingUsec);
    monitor_->OnReply("+PONG\r\n");
    EXPECT_THAT(link_.Take(), ElementsAre("PING"));
  }
  Pass(ShardMonitor::kPingUsec);
  EXPECT_THAT(link_.Take(), ElementsAre("PING", "INFO keyspace"));
  monitor_->OnReply("+PONG\r\n");
  monitor_->OnReply(
      Info("# Keyspace\r\ndb0:keys=7,expires=0,avg_ttl=0\r\ndb3:keys=2,expires=0,avg_ttl=0\r\n"));
  EXPECT_EQ(monitor_->sight().keys, 9U);
  // Who does not tell has as many as before.
  for (uint32_t ping = 0; ping < ShardMonitor::kPingsPerKeyspace; ++ping) {
    Pass(ShardMonitor::kPingUsec);
    monitor_->OnReply("+PONG\r\n");
  }
  monitor_->OnReply("-NOPERM no\r\n");
  EXPECT_EQ(monitor_->sight().keys, 9U);
  EXPECT_TRUE(monitor_->sight().up);
}

TEST_F(ShardMonitorTest, ReaddressedShardWaitsForItsBackOff) {
  Start().OnLost("is unreachable: refused");
  link_.Take();
  Shard moved = MakeShard();
  moved.config.address = "h:2";
  monitor_->Follow(moved.config);
  EXPECT_THAT(link_.Take(), ElementsAre("connect h:2"));
  // Told again: it is another server.
  monitor_->OnLost("is unreachable: refused");
  EXPECT_EQ(told_.size(), 2U);
  while (!link_.connected) Pass(kStepUsec);
  GreetWell();
  Shard reweighed = moved;
  reweighed.config.weight = 2;
  monitor_->Follow(reweighed.config);
  EXPECT_THAT(link_.Take(), IsEmpty()) << "nothing about its place has changed";
}

}  // namespace
}  // namespace ringway::proxy
