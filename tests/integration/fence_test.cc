// A frozen server must not carry out later what was given up.
#include "proxy/control/fence.h"

#include <gtest/gtest.h>

#include "tests/integration/control_loop.h"
#include "tests/support/test_environment.h"

namespace ringway::test {
namespace {

using proxy::Fence;
using proxy::LostConnection;

class FenceTest : public ::testing::Test {
 protected:
  Fence::Verdict Run(const std::string& address, const std::vector<LostConnection>& lost = {}) {
    auto answer = std::make_shared<std::promise<std::vector<Fence::Verdict>>>();
    std::unique_ptr<Fence> fence;
    loop_.Do([&] {
      fence = std::make_unique<Fence>(loop_.links());
      fence->Start({ShardAt(0, "s1", address)}, lost, 400'000,
                   [answer](const std::vector<Fence::Verdict>& verdicts) { answer->set_value(verdicts); });
    });
    std::future<std::vector<Fence::Verdict>> future = answer->get_future();
    EXPECT_EQ(future.wait_for(std::chrono::seconds(10)), std::future_status::ready);
    const Fence::Verdict verdict = future.get().at(0);
    loop_.Do([&fence] { fence.reset(); });
    return verdict;
  }
  static RespClient Named(const RedisServer& server, const std::string& name) {
    RespClient client(server.address());
    EXPECT_TRUE(client.Do({"CLIENT", "SETNAME", name}).IsOk());
    return client;
  }
  static bool Lives(RespClient& client) { return client.Do({"PING"}).text == "PONG"; }

  ControlLoop loop_;
};

TEST_F(FenceTest, WrongConnectionsAreEnded) {
  RedisServer server;
  RespClient lost = Named(server, "ringway:p1:run1:1000007");
  RespClient in_use = Named(server, "ringway:p1:run1:1000008");
  RespClient earlier_run = Named(server, "ringway:p1:run0:1000008");
  RespClient other_proxy = Named(server, "ringway:p2:run1:1000007");
  RespClient stranger = Named(server, "app");
  const Fence::Verdict verdict = Run(server.address(), {{0, 1000007}, {5, 1000008}});
  EXPECT_EQ(verdict.outcome, Fence::Outcome::kClean) << verdict.problem;
  EXPECT_EQ(verdict.killed, 2U);
  EXPECT_FALSE(Lives(lost));
  EXPECT_FALSE(Lives(earlier_run));
  EXPECT_TRUE(Lives(in_use));
  EXPECT_TRUE(Lives(other_proxy));
  EXPECT_TRUE(Lives(stranger));
}

TEST_F(FenceTest, LateWriteOfALostConnectionIsDone) {
  RedisServer server;
  std::unique_ptr<proxy::ShardClient> client;
  loop_.Do([&] {
    client =
        std::make_unique<proxy::ShardClient>(loop_.links(), ShardAt(0, "s1", server.address()), 0, 300'000);
  });
  auto lost = std::make_shared<std::promise<std::string>>();
  loop_.Do([&] { client->Do({"PING"}, [](const proxy::ShardClient::Answer&) {}); });
  ASSERT_TRUE(Eventually([&] { return loop_.Do([&] { return client->idle(); }); }));
  server.Pause();
  loop_.Do([&] {
    client->Do({"SET", "k", "late"},
               [lost](const proxy::ShardClient::Answer& answer) { lost->set_value(answer.problem); });
  });
  EXPECT_EQ(lost->get_future().get(), "does not answer");
  EXPECT_EQ(loop_.Do([&] { return loop_.links().lost.all().size(); }), 1U);
  EXPECT_EQ(Run(server.address()).outcome, Fence::Outcome::kUnanswered);
  server.Resume();
  ASSERT_EQ(Run(server.address()).outcome, Fence::Outcome::kClean);
  EXPECT_TRUE(loop_.Do([&] { return loop_.links().lost.all().empty(); })) << "they are over";
  // Done or not, but no later than the fence.
  server.Do({"SET", "k", "new"});
  EXPECT_EQ(server.Do({"GET", "k"}).text, "new");
  EXPECT_EQ(server.Do({"CLIENT", "LIST"}).text.find("name=ringway:"), std::string::npos);
  loop_.Do([&] { client.reset(); });
}

TEST_F(FenceTest, DeadServerOrOneWithoutClientCommandStopsTheMove) {
  RedisServer server;
  server.Do({"ACL", "SETUSER", "default", "-client"});
  const Fence::Verdict forbidden = Run(server.address(), {{0, 1}});
  EXPECT_EQ(forbidden.outcome, Fence::Outcome::kNotAllowed);
  EXPECT_NE(forbidden.problem.find("s1 " + server.address()), std::string::npos) << forbidden.problem;
  server.Kill();
  EXPECT_EQ(Run(server.address(), {{0, 1}}).outcome, Fence::Outcome::kGone);
}

}  // namespace
}  // namespace ringway::test
