// Transactions on their way to one shard, and in parts.
#include "tests/unit/proxy/route/move_fixture.h"
#include "tests/unit/proxy/route/router_fixture.h"

namespace ringway::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

class RouterTransactionTest : public RouterTest {
 protected:
  const std::string key = world.KeyOn(1);
};

TEST_F(RouterTransactionTest, CommandsAreSentBeforeExecOrApart) {
  EXPECT_EQ(Ask({"MULTI"}), "+OK\r\n");
  EXPECT_EQ(Ask({"SET", key, "v"}), "+QUEUED\r\n");
  EXPECT_EQ(Ask({"GET", key}), "+QUEUED\r\n");
  EXPECT_EQ(in_flight(), 0u);
  EXPECT_EQ(Ask({"EXEC"}), "");
  EXPECT_THAT(world.TakeRequests(1),
              ElementsAre(Words{"MULTI"}, Words{"SET", key, "v"}, Words{"GET", key}, Words{"EXEC"}));
  EXPECT_EQ(Reply(1, "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n$1\r\nv\r\n"), "*2\r\n+OK\r\n$1\r\nv\r\n");
  EXPECT_EQ(Ask({"GET", key}), "");
  EXPECT_EQ(in_flight(), 1u) << "it is over";
}

TEST_F(RouterTransactionTest, RepliesOfThePipelineLoseTheirOrder) {
  client->Send(Command({"GET", key}) + Command({"MULTI"}) + Command({"INCR", key}) + Command({"EXEC"}) +
               Command({"GET", key}));
  world.EndTurn();
  EXPECT_EQ(Reply(1, "$1\r\n0\r\n"), "$1\r\n0\r\n+OK\r\n+QUEUED\r\n");
  EXPECT_EQ(Reply(1, "+OK\r\n+QUEUED\r\n*1\r\n:1\r\n$1\r\n1\r\n"), "*1\r\n:1\r\n$1\r\n1\r\n");
}

TEST_F(RouterTransactionTest, TransactionGrowsWithoutLimit) {
  world.environment.limits.request.max_request_bytes = 100;
  Ask({"MULTI"});
  EXPECT_EQ(Ask({"SET", key, std::string(20, 'x')}), "+QUEUED\r\n");
  EXPECT_THAT(Ask({"SET", key, std::string(30, 'x')}), HasSubstr("limits.request_bytes"));
  EXPECT_THAT(Ask({"EXEC"}), StartsWith("-EXECABORT"));
  EXPECT_EQ(in_flight(), 0u);
}

TEST_F(RouterTransactionTest, ScriptIsNotKnownWhereItsTransactionGoes) {
  world.scripts.Remember("return 1");
  const std::string sha = ScriptSha("return 1");
  Ask({"MULTI"});
  Ask({"EVALSHA", sha, "1", key});
  Ask({"EXEC"});
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(Words{"SCRIPT", "LOAD", "return 1"}, Words{"MULTI"},
                                                 Words{"EVALSHA", sha, "1", key}, Words{"EXEC"}));
  EXPECT_EQ(Reply(1, "$1\r\nx\r\n+OK\r\n+QUEUED\r\n*1\r\n:1\r\n"), "*1\r\n:1\r\n");
}

TEST_F(RouterTransactionTest, PartsAreExecutedAtOnceOrOutOfOrder) {
  Ask({"MULTI"});
  Ask({"SET", key, "v"});
  Ask({"CLIENT", "GETNAME"});
  Ask({"DBSIZE"});
  Ask({"GET", key});
  EXPECT_EQ(Ask({"EXEC"}), "");
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(Words{"MULTI"}, Words{"SET", key, "v"}, Words{"EXEC"}));
  EXPECT_EQ(Reply(1, "+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n"), "");
  world.EndTurn();
  for (size_t shard = 0; shard < 3; ++shard) {
    EXPECT_THAT(world.TakeRequests(shard), ElementsAre(Words{"DBSIZE"}));
    Reply(shard, ":2\r\n");
  }
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(Words{"MULTI"}, Words{"GET", key}, Words{"EXEC"}));
  EXPECT_EQ(Reply(1, "+OK\r\n+QUEUED\r\n*1\r\n$1\r\nv\r\n"), "*4\r\n+OK\r\n+LOCAL\r\n:6\r\n$1\r\nv\r\n");
}

TEST_F(RouterTransactionTest, ClientThatGoesLeavesPartsBehind) {
  Ask({"MULTI"});
  Ask({"SET", key, "v"});
  Ask({"DBSIZE"});
  Ask({"EXEC"});
  client.reset();
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(Words{"MULTI"}, Words{"SET", key, "v"}, Words{"EXEC"}));
  world.Reply(1, "+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n");
  EXPECT_EQ(world.requests.in_use(), 0u);
  for (size_t shard = 0; shard < 3; ++shard) EXPECT_THAT(world.TakeRequests(shard), IsEmpty());
}

TEST_F(RouterTransactionTest, PauseOfWritesLetsATransactionThrough) {
  Ask({"MULTI"});
  Ask({"GET", key});
  world.router.set_pause({Pause::Mode::kWrites, world.now_usec + 1000});
  EXPECT_EQ(Ask({"SET", key, "v"}), "");
  EXPECT_TRUE(client->session().stalled());
}

// --- while keys move ---

class MovingTransactionTest : public MoveTest {};

TEST_F(MovingTransactionTest, TransactionIsSentBeforeItsKeysAreThere) {
  plan = world.MakePlan(three, four);
  const std::string key = MovingKey(1);
  client->Send(Command({"MULTI"}) + Command({"INCR", key}));
  world.EndTurn();
  client->Take();
  Adopt(HoldingTopology(++epoch, 0, plan));
  EXPECT_EQ(Ask({"EXEC"}), "");
  for (size_t shard = 0; shard < 4; ++shard) EXPECT_THAT(world.TakeRequests(shard), IsEmpty()) << "held";
  Adopt(MovingTopology(++epoch, 1, plan));
  client->session().MarkResumable();
  world.EndTurn();
  EXPECT_EQ(world.TakeRequests(1), BatchOf({key}));
  Reply(1, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(Words{"MULTI"}, Words{"INCR", key}, Words{"EXEC"}));
  EXPECT_EQ(Reply(3, "+OK\r\n+QUEUED\r\n*1\r\n:1\r\n"), "*1\r\n:1\r\n");
}

}  // namespace
}  // namespace ringway::proxy
