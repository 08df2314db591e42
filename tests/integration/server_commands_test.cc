// Commands about the server itself: libraries and tools ask these, and take no error for an answer.
#include <cstdlib>

#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

using ServerCommands = ProxyTest;

TEST_F(ServerCommands, CommandAnswersAreMissing) {
  const int64_t count = Do({"COMMAND", "COUNT"}).integer;
  EXPECT_GE(count, 200);
  const Reply all = Do({"COMMAND"});
  EXPECT_EQ(static_cast<int64_t>(all.elements.size()), count);
  const Reply info = Do({"COMMAND", "INFO", "get", "MSET", "nosuch"});
  ASSERT_THAT(info.elements, SizeIs(3));
  EXPECT_EQ(info.elements[0].elements[0].text, "get");
  EXPECT_EQ(info.elements[0].elements[1].integer, 2);
  EXPECT_THAT(info.elements[0].elements[2].Texts(), ::testing::IsSupersetOf({"readonly", "fast"}));
  EXPECT_EQ(info.elements[0].elements[3].integer, 1);
  EXPECT_EQ(info.elements[1].elements[4].integer, -1);
  EXPECT_EQ(info.elements[1].elements[5].integer, 2);
  EXPECT_TRUE(info.elements[2].null);
  const Reply docs = Do({"COMMAND", "DOCS", "get"});
  ASSERT_NE(docs.Find("get"), nullptr) << docs;
  EXPECT_NE(docs.Find("get")->Find("summary"), nullptr);
  // Subcommands are listed as well.
  EXPECT_THAT(Do({"COMMAND", "LIST"}).Texts(),
              ::testing::IsSupersetOf({"get", "client", "client|list", "xinfo|stream"}));
  EXPECT_THAT(Do({"COMMAND", "LIST", "FILTERBY", "PATTERN", "xr*"}).Texts(),
              UnorderedElementsAre("xread", "xreadgroup", "xrange", "xrevrange"));
}

TEST_F(ServerCommands, GetkeysGuesses) {
  EXPECT_EQ(Ask({"COMMAND", "GETKEYS", "MSET", "a", "1", "b", "2"}), "[\"a\", \"b\"]");
  EXPECT_EQ(Ask({"COMMAND", "GETKEYS", "EVAL", "x", "2", "k1", "k2", "arg"}), "[\"k1\", \"k2\"]");
  EXPECT_EQ(Ask({"COMMAND", "GETKEYS", "XREADGROUP", "GROUP", "g", "c", "STREAMS", "s1", "s2", ">", ">"}),
            "[\"s1\", \"s2\"]");
  EXPECT_EQ(Ask({"COMMAND", "GETKEYS", "ZUNIONSTORE", "d", "2", "a", "b"}), "[\"d\", \"a\", \"b\"]");
  EXPECT_EQ(Ask({"COMMAND", "GETKEYS", "SORT", "src", "STORE", "dst"}), "[\"src\", \"dst\"]");
  EXPECT_EQ(Ask({"COMMAND", "GETKEYS", "PING", "x"}), "-ERR The command has no key arguments");
  EXPECT_EQ(Ask({"COMMAND", "GETKEYS", "GET", "a", "b"}),
            "-ERR Invalid number of arguments specified for command");
  EXPECT_EQ(Ask({"COMMAND", "GETKEYS", "NOSUCH", "a"}), "-ERR Invalid command specified");
  EXPECT_EQ(Ask({"COMMAND", "GETKEYSANDFLAGS", "GET", "a"}), "[[\"a\", [+RO, +access]]]");
}

TEST_F(ServerCommands, ConfigGetBreaksClients) {
  const Reply maxclients = Do({"CONFIG", "GET", "maxclients"});
  ASSERT_THAT(maxclients.elements, SizeIs(2));
  EXPECT_EQ(maxclients.elements[0].text, "maxclients");
  EXPECT_EQ(maxclients.elements[1].text, "10000");
  // redis-benchmark asks for these two, node-georedis and others for databases.
  EXPECT_THAT(Do({"CONFIG", "GET", "save"}).elements, SizeIs(2));
  EXPECT_THAT(Do({"CONFIG", "GET", "appendonly"}).elements, SizeIs(2));
  EXPECT_EQ(Do({"CONFIG", "GET", "databases"}).elements.at(1).text, "16");
  EXPECT_EQ(Ask({"CONFIG", "GET", "nosuchparameter"}), "[]");
  EXPECT_GE(Do({"CONFIG", "GET", "*"}).elements.size(), 10U);
  Ask({"HELLO", "3"});
  EXPECT_EQ(Do({"CONFIG", "GET", "maxclients"}).type, '%');
}

TEST_F(ServerCommands, ConfigSetIsForgotten) {
  EXPECT_EQ(Ask({"CONFIG", "SET", "maxclients", "5000"}), "+OK");
  EXPECT_EQ(Do({"CONFIG", "GET", "maxclients"}).elements.at(1).text, "5000");
  EXPECT_EQ(Ask({"CONFIG", "SET", "slowlog-log-slower-than", "0", "slowlog-max-len", "5"}), "+OK");
  EXPECT_EQ(Do({"CONFIG", "GET", "slowlog-max-len"}).elements.at(1).text, "5");
  EXPECT_EQ(Ask({"CONFIG", "SET", "maxclients", "nonsense"}).front(), '-');
  EXPECT_EQ(Do({"CONFIG", "GET", "maxclients"}).elements.at(1).text, "5000");
  EXPECT_THAT(Ask({"CONFIG", "SET", "nosuchparameter", "1"}),
              StartsWith("-ERR Unknown option or number of arguments for CONFIG SET"));
  EXPECT_EQ(Ask({"CONFIG", "RESETSTAT"}), "+OK");
  EXPECT_EQ(Ask({"CONFIG", "SET", "maxclients"}), "-ERR wrong number of arguments for 'config|set' command");
}

TEST_F(ServerCommands, SlowlogDoesNotAnswer) {
  EXPECT_EQ(Ask({"CONFIG", "SET", "slowlog-log-slower-than", "0"}), "+OK");
  EXPECT_EQ(Ask({"SLOWLOG", "RESET"}), "+OK");
  for (int i = 0; i < 3; ++i) Ask({"SET", "slow:" + std::to_string(i), "x"});
  EXPECT_GE(Do({"SLOWLOG", "LEN"}).integer, 3);
  const Reply entries = Do({"SLOWLOG", "GET", "10"});
  ASSERT_FALSE(entries.elements.empty());
  EXPECT_THAT(entries.elements[0].elements, SizeIs(6));
  bool found = false;
  for (const Reply& entry : Do({"SLOWLOG", "GET", "-1"}).elements) {
    found = found || entry.elements.at(3).Texts() == std::vector<std::string>{"SET", "slow:1", "x"};
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(Ask({"CONFIG", "SET", "slowlog-log-slower-than", "-1"}), "+OK");
  EXPECT_EQ(Ask({"SLOWLOG", "RESET"}), "+OK");
  EXPECT_EQ(Ask({"SLOWLOG", "LEN"}), "0");
  EXPECT_EQ(Ask({"SLOWLOG", "GET"}), "[]");
  EXPECT_TRUE(Do({"SLOWLOG", "HELP"}).IsArray());
  EXPECT_THAT(Ask({"SLOWLOG", "NONSENSE"}), StartsWith("-ERR unknown subcommand"));
}

TEST_F(ServerCommands, LatencyDoesNotAnswer) {
  EXPECT_EQ(Ask({"LATENCY", "LATEST"}), "[]");
  EXPECT_EQ(Ask({"LATENCY", "HISTORY", "command"}), "[]");
  EXPECT_EQ(Ask({"LATENCY", "RESET"}), "0");
  EXPECT_TRUE(Do({"LATENCY", "DOCTOR"}).IsString());
  Ask({"SET", "a", "1"});
  const Reply histogram = Do({"LATENCY", "HISTOGRAM", "set"});
  ASSERT_NE(histogram.Find("set"), nullptr) << histogram;
  EXPECT_EQ(histogram.Find("set")->Find("calls")->integer, 1);
  EXPECT_TRUE(Do({"LATENCY", "HELP"}).IsArray());
}

TEST_F(ServerCommands, ObjectAndMemoryAskTheWrongShard) {
  for (int i = 0; i < 30; ++i) {
    const std::string key = "key:" + std::to_string(i);
    Ask({"SET", key, std::to_string(i)});
    EXPECT_EQ(Ask({"OBJECT", "ENCODING", key}), "\"int\"");
    EXPECT_EQ(Ask({"OBJECT", "REFCOUNT", key}), "2147483647");
    EXPECT_LE(Do({"OBJECT", "IDLETIME", key}).integer, 1);
    EXPECT_GT(Do({"MEMORY", "USAGE", key}).integer, 10);
    EXPECT_GT(Do({"MEMORY", "USAGE", key, "SAMPLES", "0"}).integer, 10);
  }
  EXPECT_EQ(Ask({"OBJECT", "ENCODING", "none"}), "nil");
  EXPECT_EQ(Ask({"MEMORY", "USAGE", "none"}), "nil");
  EXPECT_THAT(Ask({"OBJECT", "FREQ", "key:1"}), StartsWith("-ERR An LFU maxmemory policy is not selected"));
  EXPECT_TRUE(Do({"OBJECT", "HELP"}).IsArray());
  EXPECT_TRUE(Do({"MEMORY", "HELP"}).IsArray());
  EXPECT_THAT(Ask({"OBJECT", "NONSENSE", "k"}), StartsWith("-ERR unknown subcommand"));
}

// Libraries probe for a cluster: what a Redis without one says.
TEST_F(ServerCommands, ClusterSupportIsPretended) {
  const std::string disabled = "-ERR This instance has cluster support disabled";
  EXPECT_EQ(Ask({"CLUSTER", "INFO"}), disabled);
  EXPECT_EQ(Ask({"CLUSTER", "SLOTS"}), disabled);
  EXPECT_EQ(Ask({"CLUSTER", "NODES"}), disabled);
  EXPECT_EQ(Ask({"CLUSTER", "SHARDS"}), disabled);
  EXPECT_EQ(Ask({"READONLY"}), disabled);
  EXPECT_EQ(Ask({"READWRITE"}), disabled);
  EXPECT_EQ(Ask({"ASKING"}), disabled);
  EXPECT_EQ(Ask({"CLUSTER", "HELP"}), disabled);
}

TEST_F(ServerCommands, WaitBlocksWithoutReplicas) {
  Ask({"SET", "a", "1"});
  EXPECT_EQ(Ask({"WAIT", "0", "100"}), "0");
  EXPECT_EQ(Ask({"WAIT", "1", "50"}), "0");
  EXPECT_EQ(Ask({"WAIT", "x", "50"}), "-ERR value is not an integer or out of range");
}

TEST_F(ServerCommands, TimeAndLolwutDoNotAnswer) {
  const Reply now = Do({"TIME"});
  ASSERT_THAT(now.elements, SizeIs(2));
  EXPECT_LT(std::abs(std::stoll(now.elements[0].text) - static_cast<long long>(time(nullptr))), 5);
  EXPECT_LT(std::stoll(now.elements[1].text), 1000000);
  EXPECT_THAT(Do({"LOLWUT"}).text, HasSubstr("Redis ver."));
  EXPECT_THAT(Do({"LOLWUT", "VERSION", "5", "1", "1", "1"}).text, HasSubstr("Redis ver."));
}

TEST_F(ServerCommands, RoleIsNotMaster) {
  const Reply role = Do({"ROLE"});
  ASSERT_FALSE(role.elements.empty()) << role;
  EXPECT_EQ(role.elements[0].text, "master");
}

// They have a place of their own later; until then they must neither hang nor close the connection, nor reach
// a shard half done.
TEST_F(ServerCommands, UnsupportedCommandClosesTheConnectionOrHangs) {
  RINGWAY_NEEDS_PROXY();
  const std::vector<Command> commands = {{"SUBSCRIBE", "channel"},
                                         {"PSUBSCRIBE", "pattern*"},
                                         {"SSUBSCRIBE", "channel"},
                                         {"MONITOR"},
                                         {"PSYNC", "?", "-1"},
                                         {"SYNC"},
                                         {"REPLCONF", "listening-port", "1"},
                                         {"REPLICAOF", "127.0.0.1", "1"},
                                         {"SHUTDOWN", "NOSAVE"},
                                         {"FAILOVER"},
                                         {"MIGRATE", "127.0.0.1", "1", "a", "0", "1"},
                                         {"CLIENT", "TRACKING", "ON"}};
  for (const Command& command : commands) {
    RespClient client = Connect();
    const std::string name = command[0];
    const auto replies = client.Pipeline({{"SET", "before", "1"}, command, {"GET", "before"}, {"PING"}});
    EXPECT_EQ(ToText(replies[0]), "+OK") << name;
    EXPECT_NE(replies[1].type, 0) << name;
    // What is served by now need not be an error, but whatever was answered must be one reply.
    if (replies[1].IsError()) {
      EXPECT_EQ(ToText(replies[2]), "\"1\"") << name;
      EXPECT_EQ(ToText(replies[3]), "+PONG") << name;
    }
  }
  for (size_t i = 0; i < cluster_->size(); ++i) EXPECT_TRUE(shard(i).running());
  EXPECT_EQ(Ask({"PING"}), "+PONG");
}

}  // namespace
}  // namespace ringway::test
