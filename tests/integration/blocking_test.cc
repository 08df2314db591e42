// Commands that wait: as on one Redis, and nothing is lost when clients, servers or keys go meanwhile.
#include <atomic>
#include <chrono>
#include <csignal>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

using Clock = std::chrono::steady_clock;

class BlockingTest : public ProxyTest {
 protected:
  int64_t Blocked() { return std::atoll(InfoField(Do({"INFO", "clients"}).text, "blocked_clients").c_str()); }
  // Until so many clients wait.
  void AwaitBlocked(int64_t count) {
    ASSERT_TRUE(Eventually([&] { return Blocked() == count; })) << Blocked();
    if (DirectMode()) return;
    // The proxy knows of them before their servers do.
    ASSERT_TRUE(Eventually([&] {
      int64_t sum = 0;
      for (size_t i = 0; i < cluster_->size(); ++i) {
        const std::string text = RespClient(shard(i).address()).Do({"INFO", "clients"}).text;
        sum += std::atoll(InfoField(text, "blocked_clients").c_str());
      }
      return sum >= count;
    }));
  }
  RespClient Waiting(const Command& command) {
    RespClient client = Connect();
    EXPECT_TRUE(client.Send(command));
    return client;
  }
};

TEST_F(BlockingTest, DiffersFromOneServer) {
  RedisServer plain;
  const std::vector<Command> commands = {
      {"RPUSH", "{b}l", "1", "2", "3", "4", "5", "6"},
      {"BLPOP", "{b}none", "{b}l", "0"},
      {"BRPOP", "{b}l", "0"},
      {"BLMOVE", "{b}l", "{b}m", "LEFT", "RIGHT", "0"},
      {"BRPOPLPUSH", "{b}l", "{b}m", "0"},
      {"BLMPOP", "0", "2", "{b}none", "{b}l", "LEFT", "COUNT", "2"},
      {"LRANGE", "{b}m", "0", "-1"},
      {"ZADD", "{b}z", "1", "a", "2", "b", "3", "c", "4", "d"},
      {"BZPOPMIN", "{b}z", "0"},
      {"BZPOPMAX", "{b}z", "0"},
      {"BZMPOP", "0", "1", "{b}z", "MIN", "COUNT", "5"},
      {"XADD", "{b}x", "1-1", "f", "v"},
      {"XREAD", "BLOCK", "0", "STREAMS", "{b}x", "0"},
      {"XGROUP", "CREATE", "{b}x", "g", "0"},
      {"XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "{b}x", ">"},
      {"BLPOP", "{b}none", "0.01"},
      {"BZPOPMIN", "{b}none", "0.01"},
      {"BLMPOP", "0.01", "1", "{b}none", "LEFT"},
      {"BLMOVE", "{b}none", "{b}m", "LEFT", "RIGHT", "0.01"},
      {"XREAD", "BLOCK", "10", "STREAMS", "{b}x", "$"},
      {"BLPOP", "{b}none", "x"},
      {"BLPOP", "{b}none", "-1"},
      {"BLPOP", "{b}x", "0"},
      {"BLMPOP", "0", "0", "{b}l", "LEFT"},
      {"WAIT", "0", "0"},
      {"WAIT", "1", "10"},
      {"PING"},
  };
  for (const char* version : {"2", "3"}) {
    RespClient here = Connect();
    RespClient there(plain.address());
    for (RespClient* client : {&here, &there}) {
      client->Do({"HELLO", version});
      client->Do({"FLUSHALL"});
    }
    for (const Command& command : commands) {
      EXPECT_EQ(ToText(here.Do(command)), ToText(there.Do(command))) << command[0] << " RESP" << version;
    }
  }
}

TEST_F(BlockingTest, KeysOfSeveralTagsAreLetIn) {
  RINGWAY_NEEDS_PROXY();
  EXPECT_THAT(Ask({"BLPOP", "a", "b", "0"}), StartsWith("-CROSSSLOT"));
}

TEST_F(BlockingTest, PushWakesNobodyOrTheWrongOne) {
  std::vector<RespClient> clients;
  for (int i = 0; i < 60; ++i) clients.push_back(Waiting({"BLPOP", "q" + std::to_string(i), "0"}));
  AwaitBlocked(60);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(Ask({"RPUSH", "q" + std::to_string(i), std::to_string(i)}), "1");
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(ToText(clients[static_cast<size_t>(i)].Read()),
              "[\"q" + std::to_string(i) + "\", \"" + std::to_string(i) + "\"]");
  }
  AwaitBlocked(0);
}

TEST_F(BlockingTest, PipelineGoesOnBeforeTheReply) {
  RespClient client = Connect();
  client.socket().Send(EncodeCommand({"SET", "{b}k", "1"}) + EncodeCommand({"BLPOP", "{b}l", "0"}) +
                       EncodeCommand({"INCR", "{b}k"}) + EncodeCommand({"BLPOP", "{b}l", "0"}) +
                       EncodeCommand({"GET", "{b}k"}));
  EXPECT_EQ(ToText(client.Read()), "+OK");
  AwaitBlocked(1);
  EXPECT_EQ(Ask({"GET", "{b}k"}), "\"1\"");
  Ask({"RPUSH", "{b}l", "x"});
  EXPECT_EQ(ToText(client.Read()), "[\"{b}l\", \"x\"]");
  EXPECT_EQ(ToText(client.Read()), "2");
  AwaitBlocked(1);
  Ask({"RPUSH", "{b}l", "y"});
  EXPECT_EQ(ToText(client.Read()), "[\"{b}l\", \"y\"]");
  EXPECT_EQ(ToText(client.Read()), "\"2\"");
}

TEST_F(BlockingTest, ClientCannotBeUnblockedOrSeen) {
  RespClient client = Connect();
  const std::string id = ToText(client.Do({"CLIENT", "ID"}));
  EXPECT_EQ(Ask({"CLIENT", "UNBLOCK", id}), "0");
  client.Send({"BLPOP", "l", "0"});
  AwaitBlocked(1);
  EXPECT_THAT(Do({"CLIENT", "LIST", "ID", id}).text, HasSubstr(" flags=b "));
  EXPECT_EQ(Ask({"CLIENT", "UNBLOCK", id}), "1");
  EXPECT_TRUE(client.Read().IsNull());
  client.Send({"BLPOP", "l", "0"});
  AwaitBlocked(1);
  EXPECT_EQ(Ask({"CLIENT", "UNBLOCK", id, "ERROR"}), "1");
  EXPECT_THAT(ToText(client.Read()), StartsWith("-UNBLOCKED"));
  EXPECT_EQ(ToText(client.Do({"PING"})), "+PONG");
  client.Send({"XREAD", "BLOCK", "0", "STREAMS", "s", "$"});
  AwaitBlocked(1);
  EXPECT_EQ(Ask({"CLIENT", "KILL", "ID", id}), "1");
  AwaitBlocked(0);
  EXPECT_EQ(Ask({"CLIENT", "UNBLOCK", id}), "0");
}

// Pushed while the client goes: the element is received by nobody, or is still there.
TEST_F(BlockingTest, ElementIsLostWithAClient) {
  RINGWAY_NEEDS_PROXY();
  struct Kind {
    Command wait;
    Command push;
    Command count;
  };
  const std::vector<Kind> kinds = {
      {{"BLPOP", "{e}l", "0"}, {"RPUSH", "{e}l", "v"}, {"LLEN", "{e}l"}},
      {{"BRPOP", "{e}l", "0"}, {"RPUSH", "{e}l", "v"}, {"LLEN", "{e}l"}},
      {{"BLMPOP", "0", "1", "{e}l", "LEFT", "COUNT", "3"}, {"RPUSH", "{e}l", "v"}, {"LLEN", "{e}l"}},
      {{"BZPOPMIN", "{e}z", "0"}, {"ZADD", "{e}z", "1", "v"}, {"ZCARD", "{e}z"}},
      {{"BZMPOP", "0", "1", "{e}z", "MAX"}, {"ZADD", "{e}z", "1", "v"}, {"ZCARD", "{e}z"}},
  };
  for (const Kind& kind : kinds) {
    for (int round = 0; round < 8; ++round) {
      const size_t owner =
          cluster_->OwnerOf(kind.wait[kind.wait[0] == "BLMPOP" || kind.wait[0] == "BZMPOP" ? 3 : 1]);
      RespClient direct(shard(owner).address());
      RespClient client = Waiting(kind.wait);
      AwaitBlocked(1);
      // Without a word, as a client that dies; the push comes a little later or at once.
      client = RespClient();
      for (int i = 0; i < round % 4; ++i) direct.Do({"PING"});
      direct.Do(kind.push);
      ASSERT_TRUE(Eventually([&] { return Ask(kind.count) == "1"; })) << kind.wait[0] << " round " << round;
      AwaitBlocked(0);
      EXPECT_EQ(Ask(kind.count), "1");
      Ask({"DEL", "{e}l", "{e}z"});
    }
  }
}

TEST_F(BlockingTest, DeadServersClientsWaitForEver) {
  RINGWAY_NEEDS_PROXY();
  ClusterOptions options;
  options.config = "timeouts: {connect: 200ms, request: 300ms}\n";
  Start(options);
  RespClient killed = Waiting({"BLPOP", cluster_->KeyOn(0), "0"});
  RespClient frozen = Waiting({"BLPOP", cluster_->KeyOn(1), "0"});
  RespClient well = Waiting({"BLPOP", cluster_->KeyOn(2), "0"});
  AwaitBlocked(3);
  shard(0).Kill();
  shard(1).Pause();
  EXPECT_THAT(ToText(killed.Read()), StartsWith("-SHARDDOWN s1"));
  EXPECT_THAT(ToText(frozen.Read()), StartsWith("-SHARDDOWN s2"));
  shard(1).Resume();
  EXPECT_TRUE(Eventually([&] { return Blocked() == 1; }));
  Ask({"RPUSH", cluster_->KeyOn(2), "v"});
  EXPECT_EQ(well.Read().elements.size(), 2U);
}

// Longer than a request may take.
TEST_F(BlockingTest, WaitIsEndedByTheTimeoutOfRequests) {
  RINGWAY_NEEDS_PROXY();
  ClusterOptions options;
  options.config = "timeouts: {connect: 200ms, request: 200ms}\n";
  Start(options);
  const auto begin = Clock::now();
  EXPECT_EQ(Ask({"BLPOP", "none", "1.5"}), "nil*");
  EXPECT_GE(Clock::now() - begin, milliseconds(1500));
  EXPECT_EQ(Ask({"WAIT", "1", "1000"}), "0");
  EXPECT_GE(Clock::now() - begin, milliseconds(2500));
}

TEST_F(BlockingTest, ConnectionsAreTakenWithoutLimitOrKept) {
  RINGWAY_NEEDS_PROXY();
  ClusterOptions options;
  options.threads = 1;
  options.config = "limits: {own_connections: 2}\n";
  Start(options);
  RespClient first = Waiting({"BLPOP", "a", "0"});
  RespClient second = Waiting({"BLPOP", "b", "0"});
  AwaitBlocked(2);
  EXPECT_THAT(Ask({"BLPOP", "c", "0"}), HasSubstr("limits.own_connections"));
  Ask({"RPUSH", "a", "v"});
  EXPECT_EQ(first.Read().elements.size(), 2U);
  EXPECT_EQ(Ask({"BLPOP", "c", "0.01"}), "nil*");
}

TEST_F(BlockingTest, BlockedClientsHoldUpTheEnd) {
  RINGWAY_NEEDS_PROXY();
  RespClient client = Waiting({"BLPOP", "a", "0"});
  AwaitBlocked(1);
  const auto begin = Clock::now();
  cluster_->proxy().Signal(SIGTERM);
  EXPECT_EQ(cluster_->proxy().WaitExit(), 0);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(8)) << "timeouts.drain is 10 s";
}

// --- while keys move ---

TEST_F(BlockingTest, MoveLosesClientsThatWait) {
  RINGWAY_NEEDS_PROXY();
  RedisServer fourth;
  const auto begin = Clock::now();
  std::map<std::string, RespClient> waiting;
  for (int i = 0; i < 40; ++i) {
    const std::string key = "move:" + std::to_string(i);
    waiting.emplace(key, Waiting({i % 2 == 0 ? "BLPOP" : "BZPOPMIN", key, "0"}));
  }
  std::map<std::string, RespClient> reading;
  for (int i = 0; i < 20; ++i) {
    const std::string key = "stream:" + std::to_string(i);
    Ask({"XADD", key, "5-1", "f", "old"});
    reading.emplace(key, Waiting({"XREAD", "BLOCK", "0", "STREAMS", key, "$"}));
  }
  RespClient ends = Waiting({"BLPOP", "move:none", "6"});
  AwaitBlocked(61);
  RespClient monitor(fourth.address());
  ASSERT_TRUE(monitor.Do({"MONITOR"}).IsOk());
  ASSERT_THAT(Ask({"RING", "ADD", "s4", fourth.address()}), StartsWith("+OK"));
  ASSERT_EQ(Ask({"RING", "WAIT", "20000"}), "1");
  ASSERT_THAT(Ask({"RING", "REMOVE", "s1"}), StartsWith("+OK"));
  ASSERT_EQ(Ask({"RING", "WAIT", "20000"}), "1");
  EXPECT_THAT(ToText(Do({"RING", "STATUS"})), HasSubstr("settled"));
  ASSERT_TRUE(Eventually([&] { return Blocked() == 61; })) << Blocked();
  for (auto& [key, client] : waiting) {
    const bool list = std::stoi(key.substr(5)) % 2 == 0;
    EXPECT_EQ(Ask(list ? Command{"RPUSH", key, "v"} : Command{"ZADD", key, "1", "v"}), "1");
    EXPECT_EQ(client.Read().elements.size(), list ? 2U : 3U) << key;
    EXPECT_EQ(Ask({"EXISTS", key}), "0") << key;
  }
  for (auto& [key, client] : reading) {
    EXPECT_EQ(Ask({"XADD", key, "6-1", "f", "new"}), "\"6-1\"");
    EXPECT_THAT(ToText(client.Read()), AllOf(HasSubstr("6-1"), Not(HasSubstr("5-1")))) << key;
  }
  // What came between the end of the hold and the new question must not be missed.
  int reads = 0;
  for (Reply line = monitor.Read(); line.type != 0 && line.text.find("\"ends\"") == std::string::npos;
       line = monitor.Read()) {
    if (line.text.find("\"XREAD\"") == std::string::npos) continue;
    ++reads;
    EXPECT_THAT(line.text, HasSubstr("\"5-1\""));
    if (reads == 1) RespClient(fourth.address()).Do({"ECHO", "ends"});
  }
  EXPECT_GT(reads, 0);
  EXPECT_TRUE(ends.Read().IsNull());
  EXPECT_GE(Clock::now() - begin, milliseconds(5900));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(25));
}

// Pushed while the ring changes: each element is popped once, or still there.
TEST_F(BlockingTest, MoveLosesOrDoublesElements) {
  RINGWAY_NEEDS_PROXY();
  RedisServer fourth;
  constexpr int kQueues = 12;
  std::atomic<bool> stop{false};
  std::vector<std::vector<std::string>> popped(kQueues);
  std::vector<std::thread> threads;
  for (int i = 0; i < kQueues; ++i) {
    threads.emplace_back([&, i] {
      RespClient client = Connect();
      const std::string key = "queue:" + std::to_string(i);
      while (true) {
        const Reply reply = client.Do({"BLPOP", key, "0.3"});
        if (reply.IsArray() && reply.elements.size() == 2) {
          popped[static_cast<size_t>(i)].push_back(reply.elements[1].text);
        } else if (!reply.IsNull()) {
          ADD_FAILURE() << ToText(reply);
          return;
        } else if (stop) {
          return;
        }
      }
    });
  }
  std::vector<int> pushed(kQueues, 0);
  std::thread pushing([&] {
    RespClient client = Connect();
    while (!stop) {
      for (int i = 0; i < kQueues; ++i) {
        const Reply reply = client.Do(
            {"RPUSH", "queue:" + std::to_string(i), std::to_string(pushed[static_cast<size_t>(i)])});
        if (reply.IsError()) {
          ADD_FAILURE() << ToText(reply);
          return;
        }
        ++pushed[static_cast<size_t>(i)];
      }
    }
  });
  for (int round = 0; round < 3; ++round) {
    EXPECT_THAT(Ask({"RING", "ADD", "s4", fourth.address()}), StartsWith("+OK"));
    EXPECT_EQ(Ask({"RING", "WAIT", "20000"}), "1");
    EXPECT_THAT(Ask({"RING", "REMOVE", "s4"}), StartsWith("+OK"));
    EXPECT_EQ(Ask({"RING", "WAIT", "20000"}), "1");
  }
  stop = true;
  pushing.join();
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < kQueues; ++i) {
    EXPECT_GT(pushed[i], 0);
    ASSERT_EQ(popped[i].size(), static_cast<size_t>(pushed[i])) << "queue " << i;
    for (size_t k = 0; k < popped[i].size(); ++k) ASSERT_EQ(popped[i][k], std::to_string(k)) << "queue " << i;
  }
}

}  // namespace
}  // namespace ringway::test
