// Transactions: as on one Redis where their keys share a tag, and a clear error where they do not.
#include <string>
#include <vector>

#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

using Conversation = std::vector<Command>;

class TransactionTest : public ProxyTest {
 protected:
  // What the proxy's clients see, and what those of a plain server do.
  void ExpectAsOnOneServer(const Conversation& commands) {
    RespClient here = Connect();
    RespClient there(plain_.address());
    here.Do({"FLUSHALL"});
    there.Do({"FLUSHALL"});
    for (const Command& command : commands) {
      std::string line;
      for (const std::string& word : command) line += word + " ";
      EXPECT_EQ(WithoutId(here.Do(command)), WithoutId(there.Do(command))) << line;
    }
  }
  // HELLO tells who one is.
  static std::string WithoutId(const Reply& reply) {
    std::string text = ToText(reply);
    const size_t id = text.find("\"id\": ");
    if (id != std::string::npos) text.erase(id, text.find(',', id) - id);
    return text;
  }
  // All in one piece, with a client of its own.
  std::vector<std::string> Pipelined(const Conversation& commands) {
    std::vector<std::string> texts;
    for (const Reply& reply : Connect().Pipeline(commands)) texts.push_back(ToText(reply));
    return texts;
  }
  int64_t OwnConnections() {
    int64_t count = 0;
    for (size_t i = 0; i < cluster_->size(); ++i) {
      const std::string list = RespClient(shard(i).address()).Do({"CLIENT", "LIST"}).text;
      for (size_t at = list.find("multi="); at != std::string::npos; at = list.find("multi=", at + 1))
        ++count;
    }
    return count;
  }

  RedisServer plain_;
};

TEST_F(TransactionTest, DiffersFromOneServers) {
  ExpectAsOnOneServer(
      {{"MULTI"}, {"SET", "{t}a", "1"}, {"INCR", "{t}a"}, {"GET", "{t}a"}, {"EXEC"}, {"GET", "{t}a"}});
  ExpectAsOnOneServer({{"MULTI"}, {"EXEC"}});
  ExpectAsOnOneServer({{"EXEC"}, {"DISCARD"}, {"UNWATCH"}});
  ExpectAsOnOneServer({{"MULTI"}, {"MULTI"}, {"PING"}, {"EXEC"}});
  ExpectAsOnOneServer({{"MULTI"}, {"WATCH", "k"}, {"ECHO", "x"}, {"EXEC"}});
  ExpectAsOnOneServer({{"MULTI"}, {"SET", "{t}b", "1"}, {"DISCARD"}, {"EXISTS", "{t}b"}, {"EXEC"}});
  ExpectAsOnOneServer({{"MULTI"}, {"NOSUCH", "x"}, {"SET", "{t}c", "1"}, {"EXEC"}, {"EXISTS", "{t}c"}});
  ExpectAsOnOneServer({{"MULTI"}, {"GET"}, {"EXEC"}, {"MULTI"}, {"PING"}, {"EXEC"}});
  ExpectAsOnOneServer({{"MULTI"}, {"CLIENT", "NOSUCH"}, {"EXEC"}});
  ExpectAsOnOneServer({{"MULTI"}, {"SAVE"}, {"EXEC"}});
  ExpectAsOnOneServer(
      {{"SET", "{t}s", "x"}, {"MULTI"}, {"LPUSH", "{t}s", "1"}, {"INCR", "{t}n"}, {"EXEC"}, {"GET", "{t}n"}});
  ExpectAsOnOneServer({{"MULTI"},
                       {"MSET", "{t}1", "a", "{t}2", "b"},
                       {"MGET", "{t}1", "{t}2"},
                       {"DEL", "{t}1", "{t}2"},
                       {"EXEC"}});
  ExpectAsOnOneServer(
      {{"MULTI"}, {"BLPOP", "{t}l", "0"}, {"XREAD", "BLOCK", "0", "STREAMS", "{t}x", "$"}, {"EXEC"}});
  ExpectAsOnOneServer({{"MULTI"}, {"EVAL", "return redis.call('INCR', KEYS[1])", "1", "{t}e"}, {"EXEC"}});
  ExpectAsOnOneServer({{"MULTI"}, {"PING"}, {"RESET"}, {"EXEC"}, {"PING"}});
  ExpectAsOnOneServer({{"HELLO", "3"}, {"MULTI"}, {"HSET", "{t}h", "f", "v"}, {"HGETALL", "{t}h"}, {"EXEC"}});
}

TEST_F(TransactionTest, CommandsOfTheProxyDifferFromOneServers) {
  ExpectAsOnOneServer({{"MULTI"},
                       {"SELECT", "3"},
                       {"SET", "{t}k", "three"},
                       {"EXEC"},
                       {"GET", "{t}k"},
                       {"SELECT", "0"},
                       {"EXISTS", "{t}k"}});
  ExpectAsOnOneServer({{"MULTI"},
                       {"CLIENT", "SETNAME", "me"},
                       {"SET", "{t}k", "v"},
                       {"CLIENT", "GETNAME"},
                       {"GET", "{t}k"},
                       {"EXEC"},
                       {"CLIENT", "GETNAME"}});
  ExpectAsOnOneServer(
      {{"MULTI"}, {"SET", "{t}z", "1"}, {"FLUSHALL"}, {"EXISTS", "{t}z"}, {"DBSIZE"}, {"EXEC"}});
  ExpectAsOnOneServer(
      {{"MULTI"}, {"SCRIPT", "EXISTS", "0123456789012345678901234567890123456789"}, {"EXEC"}});
  ExpectAsOnOneServer({{"MULTI"},
                       {"HELLO", "3"},
                       {"HSET", "{t}h", "f", "v"},
                       {"HGETALL", "{t}h"},
                       {"EXEC"},
                       {"HGETALL", "{t}h"}});
  ExpectAsOnOneServer({{"MULTI"}, {"SET", "{t}k", "v"}, {"SELECT", "99"}, {"GET", "{t}k"}, {"EXEC"}});
}

TEST_F(TransactionTest, KeysOfSeveralTagsAreLetIn) {
  RINGWAY_NEEDS_PROXY();
  EXPECT_EQ(Ask({"MULTI"}), "+OK");
  EXPECT_EQ(Ask({"SET", "{a}1", "v"}), "+QUEUED");
  EXPECT_EQ(Ask({"SET", "{b}1", "v"}), "-CROSSSLOT Keys in request don't hash to the same slot");
  EXPECT_THAT(Ask({"EXEC"}), StartsWith("-EXECABORT"));
  EXPECT_EQ(Ask({"EXISTS", "{a}1"}), "0");
  EXPECT_EQ(Ask({"WATCH", "{a}1", "{b}1"}), "-CROSSSLOT Keys in request don't hash to the same slot");
}

TEST_F(TransactionTest, AnotherClientsCommandComesBetween) {
  const Conversation pipeline = {{"SET", "{t}n", "0"}, {"MULTI"}, {"INCR", "{t}n"},
                                 {"GET", "{t}n"},      {"EXEC"},  {"GET", "{t}n"}};
  EXPECT_THAT(Pipelined(pipeline), ElementsAre("+OK", "+OK", "+QUEUED", "+QUEUED", "[1, \"1\"]", "\"1\""));
  std::vector<RespClient> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(Connect());
  for (int round = 0; round < 50; ++round) {
    for (RespClient& client : clients) {
      client.socket().Send(EncodeCommand({"MULTI"}) + EncodeCommand({"INCR", "{t}c"}) +
                           EncodeCommand({"INCR", "{t}c"}) + EncodeCommand({"EXEC"}));
    }
    for (RespClient& client : clients) {
      for (int i = 0; i < 3; ++i) client.Read();
      const Reply reply = client.Read();
      ASSERT_EQ(reply.elements.size(), 2U);
      EXPECT_EQ(reply.elements[1].integer, reply.elements[0].integer + 1);
      EXPECT_EQ(reply.elements[0].integer % 2, 1);
    }
  }
}

TEST_F(TransactionTest, WatchedKeyIsOverlooked) {
  for (const std::string database : {"0", "4"}) {
    RespClient watching = Connect();
    RespClient other = Connect();
    watching.Do({"SELECT", database});
    other.Do({"SELECT", database});
    EXPECT_TRUE(watching.Do({"SET", "{t}w", "1"}).IsOk());
    EXPECT_TRUE(watching.Do({"WATCH", "{t}w"}).IsOk());
    EXPECT_EQ(ToText(watching.Do({"GET", "{t}w"})), "\"1\"");
    other.Do({"SET", "{t}w", "2"});
    watching.Do({"MULTI"});
    watching.Do({"SET", "{t}w", "3"});
    EXPECT_TRUE(watching.Do({"EXEC"}).IsNull());
    EXPECT_EQ(ToText(watching.Do({"GET", "{t}w"})), "\"2\"");
    // It is not watched any more.
    other.Do({"SET", "{t}w", "4"});
    watching.Do({"MULTI"});
    watching.Do({"GET", "{t}w"});
    EXPECT_EQ(ToText(watching.Do({"EXEC"})), "[\"4\"]");
  }
}

TEST_F(TransactionTest, UntouchedKeyEndsTheTransaction) {
  ExpectAsOnOneServer({{"SET", "{t}w", "1"},
                       {"WATCH", "{t}w", "{t}x"},
                       {"WATCH", "{t}y"},
                       {"MULTI"},
                       {"INCR", "{t}w"},
                       {"EXEC"}});
  ExpectAsOnOneServer({{"WATCH", "{t}w"}, {"SET", "{t}w", "own"}, {"MULTI"}, {"PING"}, {"EXEC"}});
  ExpectAsOnOneServer(
      {{"WATCH", "{t}w"}, {"SET", "{t}w", "own"}, {"UNWATCH"}, {"MULTI"}, {"PING"}, {"EXEC"}});
  ExpectAsOnOneServer(
      {{"WATCH", "{t}w"}, {"SET", "{t}w", "own"}, {"MULTI"}, {"DISCARD"}, {"MULTI"}, {"PING"}, {"EXEC"}});
  ExpectAsOnOneServer({{"WATCH", "{t}w"}, {"SET", "{t}w", "own"}, {"RESET"}, {"MULTI"}, {"PING"}, {"EXEC"}});
  ExpectAsOnOneServer(
      {{"WATCH", "{t}w"}, {"SET", "{t}w", "own"}, {"MULTI"}, {"CLIENT", "GETNAME"}, {"EXEC"}});
  ExpectAsOnOneServer(
      {{"WATCH", "{t}w"}, {"MULTI"}, {"CLIENT", "GETNAME"}, {"INCR", "{t}i"}, {"DBSIZE"}, {"EXEC"}});
  ExpectAsOnOneServer({{"WATCH", "{t}w"}, {"SET", "{t}w", "own"}, {"MULTI"}, {"EXEC"}});
  // The session is in another database, and another version, than it has watched in.
  ExpectAsOnOneServer({{"WATCH", "{t}w"},
                       {"SELECT", "2"},
                       {"HELLO", "3"},
                       {"SET", "{t}w", "two"},
                       {"MULTI"},
                       {"HSET", "{t}h", "f", "v"},
                       {"HGETALL", "{t}h"},
                       {"EXEC"},
                       {"SELECT", "0"},
                       {"EXISTS", "{t}h"}});
  ExpectAsOnOneServer({{"SELECT", "2"},
                       {"WATCH", "{t}w"},
                       {"SELECT", "0"},
                       {"WATCH", "{t}v"},
                       {"SET", "{t}v", "zero"},
                       {"MULTI"},
                       {"PING"},
                       {"EXEC"}});
}

TEST_F(TransactionTest, PipelinedWatchComesTooLate) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(Pipelined({{"SET", "{t}p", "1"},
                           {"WATCH", "{t}p"},
                           {"GET", "{t}p"},
                           {"MULTI"},
                           {"INCR", "{t}p"},
                           {"EXEC"},
                           {"GET", "{t}p"}}),
                ElementsAre("+OK", "+OK", "\"1\"", "+OK", "+QUEUED", "[2]", "\"2\""));
    EXPECT_THAT(Pipelined({{"WATCH", "{t}p"},
                           {"SET", "{t}p", "1"},
                           {"MULTI"},
                           {"INCR", "{t}p"},
                           {"EXEC"},
                           {"GET", "{t}p"}}),
                ElementsAre("+OK", "+OK", "+OK", "+QUEUED", "nil*", "\"1\""));
  }
}

TEST_F(TransactionTest, WatchKeepsConnectionsForGood) {
  RINGWAY_NEEDS_PROXY();
  ClusterOptions options;
  options.threads = 1;
  options.config = "limits: {own_connections: 3}\n";
  Start(options);
  std::vector<RespClient> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(Connect());
    ASSERT_TRUE(clients.back().Do({"WATCH", "k" + std::to_string(i)}).IsOk());
  }
  EXPECT_THAT(Ask({"WATCH", "k"}), HasSubstr("limits.own_connections"));
  EXPECT_EQ(Ask({"MULTI"}), "+OK");
  EXPECT_EQ(Ask({"EXEC"}), "[]");
  clients.pop_back();
  EXPECT_TRUE(Eventually([&] { return Ask({"WATCH", "k"}) == "+OK"; }));
  clients[0].Do({"UNWATCH"});
  EXPECT_EQ(ToText(Connect().Do({"WATCH", "k"})), "+OK");
  const int64_t before = OwnConnections();
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(clients[0].Do({"WATCH", "k" + std::to_string(i)}).IsOk());
    clients[0].Do({"MULTI"});
    ASSERT_EQ(ToText(clients[0].Do({"EXEC"})), "[]");
  }
  EXPECT_LE(OwnConnections(), before + 3) << "they are used again";
}

TEST_F(TransactionTest, ShardThatRestartedHasSeenNoWrite) {
  RINGWAY_NEEDS_PROXY();
  const std::string key = cluster_->KeyOn(1);
  ASSERT_EQ(Ask({"WATCH", key}), "+OK");
  shard(1).Kill();
  shard(1).Restart();
  ASSERT_TRUE(Eventually([&] { return ToText(Connect().Do({"SET", key, "other"})) == "+OK"; }));
  EXPECT_EQ(Ask({"MULTI"}), "+OK");
  EXPECT_EQ(Ask({"SET", key, "mine"}), "+QUEUED");
  EXPECT_TRUE(Do({"EXEC"}).IsNull());
  EXPECT_EQ(Ask({"GET", key}), "\"other\"");
}

TEST_F(TransactionTest, ShardThatIsDownLeavesTheClientInTheTransaction) {
  RINGWAY_NEEDS_PROXY();
  const std::string key = cluster_->KeyOn(1);
  shard(1).Kill();
  EXPECT_EQ(Ask({"MULTI"}), "+OK");
  EXPECT_EQ(Ask({"SET", key, "v"}), "+QUEUED");
  EXPECT_THAT(Ask({"EXEC"}), StartsWith("-SHARDDOWN"));
  EXPECT_EQ(Ask({"SET", cluster_->KeyOn(0), "v"}), "+OK");
}

TEST_F(TransactionTest, ClientListHidesTransactions) {
  const auto fields = [&] {
    const std::string line = Connect().Do({"CLIENT", "LIST", "ID", Ask({"CLIENT", "ID"})}).text;
    return line;
  };
  EXPECT_THAT(fields(), HasSubstr(" multi=-1 "));
  const std::string id = Ask({"CLIENT", "ID"});
  Ask({"MULTI"});
  Ask({"PING"});
  const std::string line = Connect().Do({"CLIENT", "LIST", "ID", id}).text;
  EXPECT_THAT(line, AllOf(HasSubstr(" multi=1 "), HasSubstr(" flags=x ")));
}

TEST_F(TransactionTest, WriteIsNotPausedInATransaction) {
  Ask({"MULTI"});
  Ask({"SET", "{t}paused", "v"});
  RespClient other = Connect();
  ASSERT_TRUE(other.Do({"CLIENT", "PAUSE", "60000", "WRITE"}).IsOk());
  client_.Send({"EXEC"});
  EXPECT_TRUE(other.Do({"GET", "{t}paused"}).IsNull());
  ASSERT_TRUE(other.Do({"CLIENT", "UNPAUSE"}).IsOk());
  EXPECT_EQ(ToText(client_.Read()), "[+OK]");
}

TEST_F(TransactionTest, ClientsThatLeaveInATransactionHarmOthers) {
  const Conversation commands = {
      {"WATCH", "{t}k"}, {"MULTI"}, {"SET", "{t}k", "v"}, {"CLIENT", "GETNAME"}, {"DBSIZE"},
      {"GET", "{t}k"},   {"EXEC"}};
  std::string bytes;
  for (const Command& command : commands) bytes += EncodeCommand(command);
  for (size_t cut = 0; cut <= bytes.size(); cut += 7) {
    RespClient leaving = Connect();
    ASSERT_TRUE(leaving.socket().Send(bytes.substr(0, cut)));
  }
  EXPECT_EQ(Ask({"PING"}), "+PONG");
  EXPECT_THAT(Pipelined(commands).back(), StartsWith("["));
}

}  // namespace
}  // namespace ringway::test
