// The control side's client against servers that behave, and one that does not.
#include "proxy/control/shard_client.h"

#include <gtest/gtest.h>

#include "protocol/command_writer.h"
#include "tests/integration/control_loop.h"
#include "tests/support/fake_shard.h"
#include "tests/support/test_environment.h"

namespace ringway::test {
namespace {

using proxy::ShardClient;
using Answer = proxy::ShardClient::Answer;

class ShardClientTest : public ::testing::Test {
 protected:
  void TearDown() override {
    loop_.Do([this] { client_.reset(); });
  }
  void Connect(const std::string& address, uint32_t db = 0, int64_t timeout_usec = 300'000) {
    loop_.Do([&] {
      client_ = std::make_unique<ShardClient>(loop_.links(), ShardAt(3, "s1", address), db, timeout_usec);
    });
  }
  // The replies joined, or the problem.
  std::string Do(const std::vector<std::vector<std::string_view>>& commands) {
    std::string frame;
    for (const auto& command : commands) {
      protocol::AppendCommand(frame, std::span<const std::string_view>(command));
    }
    auto promise = std::make_shared<std::promise<std::string>>();
    loop_.Do([&] {
      client_->DoFrame(frame, commands.size(), [promise](const Answer& answer) {
        std::string text = answer.problem;
        for (size_t i = 0; i < answer.size(); ++i) text += answer[i];
        promise->set_value(text);
      });
    });
    return promise->get_future().get();
  }

  ControlLoop loop_;
  std::unique_ptr<ShardClient> client_;
};

TEST_F(ShardClientTest, RepliesAreMixedUpOrTheDatabaseIsNotKept) {
  RedisServer server;
  Connect(server.address(), 5);
  EXPECT_EQ(Do({{"SET", "a", "1"}, {"INCR", "a"}, {"INCR", "a", "b"}, {"GET", "a"}}),
            "+OK\r\n:2\r\n-ERR wrong number of arguments for 'incr' command\r\n$1\r\n2\r\n");
  server.Do({"CLIENT", "KILL", "TYPE", "normal"});
  EXPECT_TRUE(Eventually([&] { return Do({{"GET", "a"}}) == "$1\r\n2\r\n"; })) << "the same database, anew";
  loop_.Do([&] { client_->UseDatabase(6); });
  EXPECT_EQ(Do({{"GET", "a"}}), "$-1\r\n");
}

TEST_F(ShardClientTest, CommandIsSentBeforeTheNameIsKnown) {
  const FakeShard shard([](const Command& command) { return command[0] == "CLIENT" ? "+OK\r\n" : ""; });
  Connect(shard.address());
  EXPECT_EQ(Do({{"PING"}}).substr(0, 1), "+");
  const std::vector<std::string> commands = shard.Commands();
  ASSERT_GE(commands.size(), 4U);
  EXPECT_EQ(commands[0].find("CLIENT SETNAME ringway:p1:run1:"), 0U) << commands[0];
  EXPECT_EQ(commands.back(), "PING");
}

TEST_F(ShardClientTest, ProblemIsNotTold) {
  RedisServer server({"--requirepass", "secret"});
  Connect(server.address());
  EXPECT_EQ(Do({{"PING"}}), "wants a password");
  Connect(server.address(), 0);
  server.Stop();
  EXPECT_EQ(Do({{"PING"}}), "is unreachable: Connection refused");
  EXPECT_TRUE(loop_.Do([&] { return loop_.links().lost.all().empty(); })) << "nothing had been sent";
}

TEST_F(ShardClientTest, SilentServerHoldsACallForEver) {
  RedisServer server;
  Connect(server.address());
  EXPECT_EQ(Do({{"PING"}}), "+PONG\r\n");
  server.Pause();
  EXPECT_EQ(Do({{"PING"}}), "does not answer");
  EXPECT_EQ(loop_.Do([&] { return loop_.links().lost.all().at(0).shard_id; }), 3U);
  EXPECT_EQ(Do({{"PING"}}), "does not answer") << "in its greeting now";
  server.Resume();
  EXPECT_TRUE(Eventually([&] { return Do({{"PING"}}) == "+PONG\r\n"; }));
}

TEST_F(ShardClientTest, CallbackThatEndsItsClientEndsTheProcess) {
  RedisServer server;
  for (const bool stopped : {false, true}) {
    if (stopped) server.Stop();
    Connect(server.address());
    auto calls = std::make_shared<std::atomic<int>>(0);
    auto ended = std::make_shared<std::promise<void>>();
    loop_.Do([&] {
      for (int i = 0; i < 3; ++i) {
        client_->Do({"PING"}, [this, calls, ended](const Answer&) {
          client_.reset();
          if (++*calls == 1) ended->set_value();
        });
      }
    });
    ended->get_future().get();
    EXPECT_TRUE(Consistently([&] { return calls->load() == 1; }, milliseconds(100)));
  }
}

TEST_F(ShardClientTest, ClosedClientCallsBack) {
  RedisServer server;
  Connect(server.address());
  auto calls = std::make_shared<std::atomic<int>>(0);
  loop_.Do([&] {
    client_->Do({"PING"}, [calls](const Answer&) { ++*calls; });
    client_->Close();
  });
  EXPECT_EQ(Do({{"PING"}}), "+PONG\r\n");
  EXPECT_EQ(calls->load(), 0);
}

}  // namespace
}  // namespace ringway::test
