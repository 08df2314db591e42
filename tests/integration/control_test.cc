// What the control thread sees, says and teaches, and what a reload changes.
#include <signal.h>

#include "tests/integration/proxy_test.h"
#include "tests/support/fake_shard.h"

namespace ringway::test {
namespace {

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class Control : public CustomProxyTest {
 protected:
  void SetUp() override { RINGWAY_NEEDS_PROXY(); }

  static bool Says(const RingwayProcess& proxy, const std::string& text) {
    return Eventually([&] { return proxy.LogContains(text); });
  }
};

TEST_F(Control, ShardThatIsDownAtStartIsNotSaidOrSaidTwice) {
  RedisServer late;
  late.Stop();
  RingwayProcess proxy({"--listen", "127.0.0.1:0", "--threads", "4", "--shard", "late=" + late.address()});
  ASSERT_TRUE(proxy.WaitReady()) << proxy.log();
  const std::string down = "warning shard late " + late.address() + " is unreachable";
  const std::string back = "info shard late " + late.address() + " is back";
  EXPECT_TRUE(Says(proxy, down)) << proxy.log();
  RespClient client(proxy.address());
  EXPECT_TRUE(client.Do({"GET", "k"}).IsErrorStartingWith("SHARDDOWN late " + late.address()));
  EXPECT_TRUE(Consistently([&] { return Count(proxy.log(), "shard late") == 1; }, milliseconds(1500)));
  late.Restart();
  EXPECT_TRUE(Says(proxy, back)) << proxy.log();
  EXPECT_TRUE(Eventually([&] { return ToText(client.Do({"SET", "k", "v"})) == "+OK"; }));
  late.Kill();
  EXPECT_TRUE(Eventually([&] { return Count(proxy.log(), down) == 2; })) << proxy.log();
  late.Restart();
  EXPECT_TRUE(Eventually([&] { return Count(proxy.log(), back) == 2; })) << proxy.log();
  EXPECT_EQ(Count(proxy.log(), "shard late"), 4U) << proxy.log();
}

TEST_F(Control, StoppedShardIsNotNoticedWithoutTraffic) {
  ClusterOptions options;
  options.config = "timeouts: {connect: 300ms}\n";
  Start(options);
  shard(1).Pause();
  const std::string name = "shard s2 " + shard(1).address();
  EXPECT_TRUE(Says(cluster_->proxy(), name + " does not answer")) << cluster_->proxy().log();
  shard(1).Resume();
  EXPECT_TRUE(Says(cluster_->proxy(), name + " is back")) << cluster_->proxy().log();
  EXPECT_FALSE(cluster_->proxy().LogContains("shard s1"));
}

TEST_F(Control, WrongPasswordIsNotNamedOrLeaks) {
  ClusterOptions options;
  options.shards = 1;
  options.redis_arguments = {"--requirepass", "rightsecret"};
  options.shard_config = ", password: wrongsecret";
  Start(options);
  EXPECT_TRUE(Says(cluster_->proxy(),
                   "warning shard s1 " + shard(0).address() + " refuses the proxy's user or password"));
  EXPECT_EQ(ToText(RespClient(shard(0).address())
                       .Pipeline({{"AUTH", "rightsecret"}, {"CONFIG", "SET", "requirepass", "wrongsecret"}})
                       .back()),
            "+OK");
  EXPECT_TRUE(Says(cluster_->proxy(), "is back"));
  EXPECT_THAT(cluster_->proxy().log(), Not(HasSubstr("secret")));
}

TEST_F(Control, ClusterNodeIsFoundOutByItsUsers) {
  RedisServer node({"--cluster-enabled", "yes"});
  RedisServer plain;
  RingwayProcess proxy({"--listen", "127.0.0.1:0", "--shard", "cache1=" + node.address(), "--shard",
                        "cache2=" + plain.address()});
  ASSERT_TRUE(proxy.WaitReady()) << proxy.log();
  const std::string what =
      "cache1 " + node.address() + " is a Redis Cluster node; shards must be plain servers";
  EXPECT_TRUE(Says(proxy, "error shard " + what)) << proxy.log();
  RespClient client(proxy.address());
  size_t refused = 0;
  for (int i = 0; i < 20; ++i) {
    const Reply reply = client.Do({"SET", "k" + std::to_string(i), "v"});
    if (reply.IsError()) {
      EXPECT_EQ(reply.text, "SHARDDOWN " + what);
      ++refused;
    }
  }
  EXPECT_GT(refused, 0U);
  EXPECT_LT(refused, 20U);
}

// --- commands that the table does not have ---

class Learning : public Control {
 protected:
  // Knows GETX key [key ...], and answers it with its own name.
  static std::string AnswerOf(const std::string& name, const Command& command) {
    if (command[0] == "COMMAND") {
      return "*2\r\n*6\r\n$4\r\ngetx\r\n:-2\r\n*1\r\n+readonly\r\n:1\r\n:-1\r\n:1\r\n"
             "*6\r\n$3\r\nget\r\n:2\r\n*1\r\n+readonly\r\n:1\r\n:1\r\n:1\r\n";
    }
    if (command[0] == "GETX" || command[0] == "SET") return "+" + name + "\r\n";
    return "";
  }
};

TEST_F(Learning, CommandOfAModuleIsUnknownOrGoesToTheWrongShard) {
  FakeShard one([](const Command& command) { return AnswerOf("one", command); });
  FakeShard two([](const Command& command) { return AnswerOf("two", command); });
  RingwayProcess proxy({"--listen", "127.0.0.1:0", "--threads", "2", "--shard", "one=" + one.address(),
                        "--shard", "two=" + two.address()});
  ASSERT_TRUE(proxy.WaitReady()) << proxy.log();
  std::vector<RespClient> clients;
  for (int i = 0; i < 8; ++i) clients.emplace_back(proxy.address());
  size_t on_one = 0;
  for (RespClient& client : clients) {  // on both workers
    ASSERT_TRUE(Eventually([&] { return !client.Do({"GETX", "k"}).IsError(); })) << proxy.log();
    for (int i = 0; i < 20; ++i) {
      const std::string key = "k" + std::to_string(i);
      const std::string owner = client.Do({"SET", key, "v"}).text;
      ASSERT_EQ(client.Do({"GETX", key}).text, owner) << key;
      ASSERT_EQ(client.Do({"GETX", "{" + key + "}1", "{" + key + "}2"}).text, owner) << key;
      if (owner == "one") ++on_one;
    }
    EXPECT_TRUE(client.Do({"GETX", "a", "b"}).IsErrorStartingWith("CROSSSLOT"));
    EXPECT_TRUE(client.Do({"GETX"}).IsErrorStartingWith("ERR wrong number of arguments for 'getx' command"));
    EXPECT_TRUE(client.Do({"GETY", "a"}).IsErrorStartingWith("ERR unknown command"));
  }
  EXPECT_GT(on_one, 0U);
  EXPECT_LT(on_one, 160U);
}

TEST_F(Learning, PlainServersTeachSomething) {
  Start({});
  EXPECT_TRUE(Consistently([&] { return !cluster_->proxy().LogContains("beyond Redis's own commands"); },
                           milliseconds(300)));
}

// --- SIGHUP ---

class ConfigReload : public Control {
 protected:
  void Reload(const std::string& text) {
    const size_t before = Count(cluster_->proxy().log(), "configuration is ");
    WriteFile(cluster_->config_path(), text);
    cluster_->proxy().Signal(SIGHUP);
    ASSERT_TRUE(Eventually([&] { return Count(cluster_->proxy().log(), "configuration is ") == before + 1; }))
        << cluster_->proxy().log();
  }
  std::string ListOf(const std::vector<std::string>& shards) const {
    std::string text = "listen: [\"127.0.0.1:0\"]\nthreads: 2\nshards:\n";
    for (const std::string& shard : shards) text += "  - {" + shard + "}\n";
    return text;
  }
  std::string Entry(size_t index, const std::string& more = "") {
    return "name: " + Cluster::ShardName(index) + ", address: \"" + shard(index).address() + "\"" + more;
  }
};

TEST_F(ConfigReload, UnchangedFileIsReportedAsAChange) {
  Start({});
  Reload(cluster_->ConfigText());
  EXPECT_THAT(cluster_->proxy().log(), Not(HasSubstr("reload:")));
}

TEST_F(ConfigReload, ChangedTimeoutHasNoEffect) {
  ClusterOptions options;
  options.shards = 1;
  options.config = "timeouts: {request: 60s}\n";
  Start(options);
  ASSERT_EQ(Ask({"SET", "a", "1"}), "+OK");
  options.config = "timeouts: {request: 200ms}\n";
  Reload(ListOf({Entry(0)}) + options.config);
  EXPECT_THAT(cluster_->proxy().log(), HasSubstr("timeouts.request changed from \"1m\" to \"200ms\""));
  shard(0).Pause();
  EXPECT_THAT(Ask({"GET", "a"}), StartsWith("-SHARDTIMEOUT s1"));
  shard(0).Resume();
}

TEST_F(ConfigReload, ReaddressedShardIsNotFollowed) {
  ClusterOptions options;
  options.shards = 2;
  Start(options);
  RedisServer new_house({"--requirepass", "fresh"});
  const std::string key = [&] {
    for (int i = 0;; ++i) {
      const std::string name = "key:" + std::to_string(i);
      Do({"SET", name, "old"});
      if (ToText(shard(0).Do({"GET", name})) == "\"old\"") return name;
    }
  }();
  Reload(ListOf({"name: s1, address: \"" + new_house.address() + "\", password: fresh", Entry(1)}));
  EXPECT_THAT(cluster_->proxy().log(), HasSubstr("reload: shard readdressed s1 from " + shard(0).address() +
                                                 " to " + new_house.address()));
  EXPECT_TRUE(Eventually([&] { return Ask({"SET", key, "new"}) == "+OK"; }));
  RespClient direct(new_house.address());
  direct.Do({"AUTH", "fresh"});
  EXPECT_EQ(ToText(direct.Do({"GET", key})), "\"new\"");
  EXPECT_EQ(ToText(shard(0).Do({"GET", key})), "\"old\"");
  // The control thread has followed too.
  new_house.Kill();
  EXPECT_TRUE(Says(cluster_->proxy(), "shard s1 " + new_house.address() + " is unreachable"))
      << cluster_->proxy().log();
  EXPECT_THAT(cluster_->proxy().log(), Not(HasSubstr("fresh")));
}

TEST_F(ConfigReload, AddedRemovedOrReweighedShardMissesKeys) {
  Start({});
  RedisServer fourth;
  const std::vector<std::string> keys = Fill(200);
  Reload(ListOf({Entry(0), Entry(1, ", weight: 5"), "name: s4, address: \"" + fourth.address() + "\""}));
  EXPECT_TRUE(Eventually([&] { return cluster_->proxy().LogContains("has settled"); }))
      << cluster_->proxy().log();
  EXPECT_GT(fourth.Do({"DBSIZE"}).integer, 0);
  EXPECT_EQ(shard(2).Do({"DBSIZE"}).integer, 0);
  for (const std::string& key : keys) ASSERT_EQ(Do({"GET", key}).text, key);
  EXPECT_EQ(Do({"DBSIZE"}).integer, 200);
}

// What is wished for and cannot be is wished for again by the next reload.
TEST_F(ConfigReload, RefusedMoveIsForgottenOrLeavesHalfOfItsList) {
  Start({});
  RedisServer fourth;
  const std::vector<std::string> keys = Fill(200);
  fourth.Do({"SET", "already", "here"});
  const std::string list =
      ListOf({Entry(0), Entry(1), Entry(2), "name: s4, address: \"" + fourth.address() + "\""});
  Reload(list);
  EXPECT_TRUE(Eventually([&] {
    return cluster_->proxy().LogContains("the shards stay as they are: ADD s4");
  })) << cluster_->proxy().log();
  EXPECT_THAT(Do({"RING", "LIST"}).elements, SizeIs(3));
  fourth.Do({"FLUSHALL"});
  Reload(list);
  EXPECT_TRUE(Eventually([&] { return cluster_->proxy().LogContains("has settled"); }))
      << cluster_->proxy().log();
  EXPECT_THAT(Do({"RING", "LIST"}).elements, SizeIs(4));
  for (const std::string& key : keys) ASSERT_EQ(Do({"GET", key}).text, key);
}

TEST_F(ConfigReload, MistakeIsNotShownWithItsLineOrChangesSomething) {
  Start({});
  Reload(cluster_->ConfigText() + "limits: {clients: 77}\ntimeouts: {request: soon}\nnonsense: 1\n");
  const std::string log = cluster_->proxy().log();
  EXPECT_THAT(log, HasSubstr("the old one stays in force"));
  EXPECT_THAT(log, HasSubstr("ringway.yaml:8: "));
  EXPECT_THAT(log, HasSubstr("ringway.yaml:9: "));
  EXPECT_THAT(log, Not(HasSubstr("limits.clients changed")));
  Reload(cluster_->ConfigText() + "limits: {clients: 78}\n");
  EXPECT_THAT(cluster_->proxy().log(), HasSubstr("limits.clients changed from \"10000\" to \"78\""));
}

TEST_F(ConfigReload, DevShardsAreTakenForRemoved) {
  RingwayProcess proxy({"--listen", "127.0.0.1:0", "--dev-shards", "2"});
  ASSERT_TRUE(proxy.WaitReady()) << proxy.log();
  proxy.Signal(SIGHUP);
  EXPECT_TRUE(Says(proxy, "the configuration is reloaded"));
  EXPECT_THAT(proxy.log(), Not(HasSubstr("reload:")));
  EXPECT_EQ(ToText(RespClient(proxy.address()).Do({"SET", "a", "1"})), "+OK");
}

TEST_F(ConfigReload, HttpPageIsBelievedToBeServed) {
  RedisServer server;
  const std::vector<std::string> arguments = {"--listen", "127.0.0.1:0", "--shard", "a=" + server.address(),
                                              "--http",   "127.0.0.1:0"};
  RingwayProcess proxy(arguments);
  ASSERT_TRUE(proxy.WaitReady()) << proxy.log();
  EXPECT_TRUE(proxy.LogContains("warning: http is not served in this version")) << proxy.log();
  std::vector<std::string> check = arguments;
  check.push_back("--check-config");
  RingwayProcess checked(check);
  EXPECT_EQ(checked.WaitExit(), 0);
  EXPECT_TRUE(checked.LogContains("warning: http is not served in this version")) << checked.log();
}

}  // namespace
}  // namespace ringway::test
