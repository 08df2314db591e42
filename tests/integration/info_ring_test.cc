// INFO, RING, SLOWLOG and LATENCY when shards are dead or silent, and against what the shards say themselves.
#include <chrono>
#include <set>
#include <sstream>

#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

using Clock = std::chrono::steady_clock;

// The value of `name` in a line such as name=a,keys=3; empty when it is not there.
std::string Value(const std::string& line, const std::string& name) {
  std::istringstream in(line);
  for (std::string pair; std::getline(in, pair, ',');) {
    if (pair.starts_with(name + "=")) return pair.substr(name.size() + 1);
  }
  return "";
}

class InfoWithLostShards : public CustomProxyTest {
 protected:
  static constexpr auto kRequestTimeout = std::chrono::milliseconds(600);
  // A worker looks at timeouts every 100 ms; the rest is for a busy machine.
  static constexpr auto kPatience = kRequestTimeout + std::chrono::milliseconds(900);

  void SetUp() override {
    RINGWAY_NEEDS_PROXY();
    ClusterOptions options;
    options.config = "timeouts: {connect: 300ms, request: 600ms}\n";
    Start(options);
    Fill(90);
    keys_of_1_ = shard(1).Do({"DBSIZE"}).integer;
  }

  std::string Shard(const std::string& info, size_t index) {
    return InfoField(info, "shard" + std::to_string(index));
  }

  // One shard does not answer; whatever it was that it died of.
  void ExpectOthersOnly(const std::string& info, size_t lost) {
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(Value(Shard(info, i), "state"), i == lost ? "down" : "up") << Shard(info, i);
      EXPECT_EQ(Value(Shard(info, i), "keys").empty(), i == lost) << Shard(info, i);
    }
    EXPECT_EQ(InfoField(info, "ring_shards_up"), "2");
    EXPECT_EQ(Value(InfoField(info, "db0"), "keys"), std::to_string(90 - keys_of_1_));
    EXPECT_NE(InfoField(info, "redis_version"), "");
  }

  int64_t keys_of_1_ = 0;
};

TEST_F(InfoWithLostShards, DeadShardMakesInfoFailOrWait) {
  shard(1).Kill();
  ASSERT_TRUE(Eventually([&] { return Value(Shard(Do({"INFO", "ring"}).text, 1), "state") == "down"; }));
  const auto start = Clock::now();
  for (int i = 0; i < 5; ++i) ExpectOthersOnly(Do({"INFO"}).text, 1);
  EXPECT_LT(Clock::now() - start, kRequestTimeout) << "it waited for a shard that is known to be down";
  EXPECT_EQ(Do({"RING", "LIST"}).elements.at(1).Find("state")->text, "down");
  EXPECT_EQ(Do({"RING", "LIST"}).elements.at(0).Find("state")->text, "up");
  shard(1).Restart();
  EXPECT_TRUE(Eventually([&] { return Value(Shard(Do({"INFO", "ring"}).text, 1), "keys") == "0"; }));
}

TEST_F(InfoWithLostShards, SilentShardKeepsInfoWaiting) {
  shard(1).Pause();
  const auto start = Clock::now();
  const std::string info = Do({"INFO"}).text;
  EXPECT_LT(Clock::now() - start, kPatience);
  ExpectOthersOnly(info, 1);
  for (const char* section :
       {"server", "clients", "commandstats", "latencystats", "errorstats", "workers", "cpu"}) {
    const auto asked = Clock::now();
    EXPECT_THAT(Do({"INFO", section}).text, StartsWith("# "));
    EXPECT_LT(Clock::now() - asked, kRequestTimeout) << section << " waited for a shard";
  }
  shard(1).Resume();
  EXPECT_TRUE(Eventually([&] {
    return Value(InfoField(Do({"INFO", "keyspace"}).text, "db0"), "keys") == "90";
  }));
}

TEST_F(InfoWithLostShards, NoShardAtAllMakesInfoFail) {
  for (size_t i = 0; i < 3; ++i) shard(i).Kill();
  ASSERT_TRUE(Eventually([&] { return InfoField(Do({"INFO", "ring"}).text, "ring_shards_up") == "0"; }));
  const std::string info = Do({"INFO"}).text;
  EXPECT_EQ(InfoField(info, "role"), "master");
  EXPECT_EQ(InfoField(info, "loading"), "0");
  EXPECT_EQ(InfoField(info, "used_memory"), "0");
  EXPECT_THAT(Do({"SLOWLOG", "GET"}).text, StartsWith("SHARDDOWN"));
  EXPECT_THAT(Do({"LATENCY", "DOCTOR"}).text, StartsWith("SHARDDOWN"));
  EXPECT_EQ(Ask({"PING"}), "+PONG");
}

TEST_F(InfoWithLostShards, InfoOfAClientThatLeavesIsHandedToAnother) {
  shard(1).Pause();
  for (int i = 0; i < 20; ++i) {
    RespClient leaver = Connect();
    leaver.Send({"INFO"});
  }
  EXPECT_EQ(Ask({"PING"}), "+PONG");
  ExpectOthersOnly(Do({"INFO"}).text, 1);
  shard(1).Resume();
  EXPECT_EQ(Ask({"PING"}), "+PONG");
}

class InfoAndShards : public ProxyTest {};

TEST_F(InfoAndShards, SumsAreNotThoseOfTheShards) {
  RINGWAY_NEEDS_PROXY();
  for (const std::string& key : Fill(60)) Ask({"GET", key});
  for (int i = 0; i < 7; ++i) Ask({"GET", "absent:" + std::to_string(i)});
  const std::string info = Do({"INFO", "everything"}).text;
  EXPECT_EQ(InfoField(info, "keyspace_hits"), "60");
  EXPECT_EQ(InfoField(info, "keyspace_misses"), "7");
  int64_t memory = 0;
  for (size_t i = 0; i < 3; ++i) memory += std::stoll(shard(i).Info("used_memory"));
  EXPECT_NEAR(static_cast<double>(memory), std::stod(InfoField(info, "used_memory")),
              0.2 * static_cast<double>(memory));
  EXPECT_EQ(InfoField(info, "redis_version"), shard(0).Info("redis_version"));
}

TEST_F(InfoAndShards, Resp3GetsAnotherTextThanResp2) {
  const std::string text = Do({"INFO", "cluster"}).text;
  EXPECT_EQ(text, "# Cluster\r\ncluster_enabled:0\r\n");
  Ask({"HELLO", "3"});
  EXPECT_EQ(Do({"INFO", "cluster"}).type, '=');
  EXPECT_EQ(Do({"INFO", "keyspace"}).type, '=');
  EXPECT_THAT(Do({"INFO"}).text, HasSubstr("# Keyspace\r\n"));
  EXPECT_EQ(Do({"INFO", "nonsense"}).type, '=');
}

TEST_F(InfoAndShards, SlowlogHidesAShardOrGivesAnIdTwice) {
  RINGWAY_NEEDS_PROXY();
  for (size_t i = 0; i < 3; ++i) shard(i).Do({"CONFIG", "SET", "slowlog-log-slower-than", "0"});
  Fill(40);
  for (size_t i = 0; i < 3; ++i) shard(i).Do({"CONFIG", "SET", "slowlog-log-slower-than", "-1"});
  int64_t length = 0;
  for (size_t i = 0; i < 3; ++i) length += shard(i).Do({"SLOWLOG", "LEN"}).integer;
  EXPECT_EQ(Do({"SLOWLOG", "LEN"}).integer, length);
  const Reply all = Do({"SLOWLOG", "GET", "-1"});
  EXPECT_THAT(all.elements, SizeIs(static_cast<size_t>(length)));
  std::set<int64_t> ids;
  int64_t last_time = INT64_MAX;
  for (const Reply& entry : all.elements) {
    ASSERT_THAT(entry.elements, SizeIs(6)) << entry;
    EXPECT_TRUE(ids.insert(entry.elements[0].integer).second) << entry;
    EXPECT_LE(entry.elements[1].integer, last_time);
    last_time = entry.elements[1].integer;
  }
  EXPECT_THAT(Do({"SLOWLOG", "GET"}).elements, SizeIs(10));
  EXPECT_THAT(Do({"SLOWLOG", "GET", "3"}).elements, SizeIs(3));
  EXPECT_THAT(Do({"SLOWLOG", "GET", "0"}).elements, IsEmpty());
  EXPECT_EQ(ToText(Do({"SLOWLOG", "GET", "-1"})), ToText(all)) << "ids change from call to call";
  EXPECT_EQ(Ask({"SLOWLOG", "GET", "-2"}), "-ERR count should be greater than or equal to -1");
  EXPECT_EQ(Ask({"SLOWLOG", "GET", "x"}), "-ERR count should be greater than or equal to -1");
  EXPECT_EQ(Ask({"SLOWLOG", "RESET"}), "+OK");
  EXPECT_EQ(Ask({"SLOWLOG", "LEN"}), "0");
}

TEST_F(InfoAndShards, LatencyEventsOfOneShardAreHidden) {
  RINGWAY_NEEDS_PROXY();
  shard(1).Do({"CONFIG", "SET", "latency-monitor-threshold", "1"});
  shard(1).Do({"DEBUG", "SLEEP", "0.01"});
  const Reply latest = Do({"LATENCY", "LATEST"});
  ASSERT_FALSE(latest.elements.empty());
  EXPECT_EQ(latest.elements[0].elements.at(0).text, "command");
  EXPECT_THAT(Do({"LATENCY", "HISTORY", "command"}).elements, Not(IsEmpty()));
  EXPECT_THAT(Do({"LATENCY", "GRAPH", "command"}).text,
              StartsWith(Cluster::ShardName(1) + ":\ncommand - high"));
  EXPECT_EQ(Ask({"LATENCY", "GRAPH", "nonsense"}), "-ERR No samples available for event 'nonsense'");
  EXPECT_THAT(Do({"LATENCY", "DOCTOR"}).text, HasSubstr(Cluster::ShardName(1) + ":\n"));
  EXPECT_GE(Do({"LATENCY", "RESET"}).integer, 1);
  EXPECT_THAT(Do({"LATENCY", "LATEST"}).elements, IsEmpty());
}

TEST_F(InfoAndShards, HistogramIsNotInTheShapeOfRedis) {
  for (int i = 0; i < 20; ++i) Ask({"GET", "k"});
  Ask({"CONFIG", "GET", "maxclients"});
  Ask({"HELLO", "3"});
  const Reply histogram = Do({"LATENCY", "HISTOGRAM", "GET", "nonsense", "config"});
  ASSERT_EQ(histogram.type, '%');
  const Reply* get = histogram.Find("get");
  ASSERT_NE(get, nullptr) << histogram;
  EXPECT_NE(histogram.Find("config|get"), nullptr) << histogram;
  EXPECT_EQ(get->Find("calls")->integer, 20);
  const Reply* levels = get->Find("histogram_usec");
  ASSERT_EQ(levels->type, '%');
  int64_t last = 0;
  for (size_t i = 0; i + 1 < levels->elements.size(); i += 2) {
    EXPECT_GT(levels->elements[i + 1].integer, last);
    last = levels->elements[i + 1].integer;
  }
  EXPECT_EQ(last, 20);
}

}  // namespace
}  // namespace ringway::test
