// Commands while keys move: who waits, what is sent where, and in which order.
#include "protocol/learned_commands.h"
#include "proxy/route/script_cache.h"
#include "tests/unit/proxy/route/move_fixture.h"

namespace ringway::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

using RouterMoveTest = MoveTest;

constexpr const char* kUnreachable = "-IOERR error or timeout writing to target instance\r\n";
constexpr const char* kFull =
    "-ERR Target instance replied with error: OOM command not allowed when used memory > 'maxmemory'.\r\n";

// --- hold ---

TEST_F(RouterMoveTest, HoldParksOnlyKeysThatMove) {
  Hold(world.MakePlan(three, four));
  const std::string still = StillKey(1);
  EXPECT_EQ(Ask({"GET", still}), "");
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("GET", still)));
  EXPECT_EQ(Ask({"GET", MovingKey(1)}), "");
  EXPECT_TRUE(client->session().stalled());
  for (size_t i = 0; i < 4; ++i) EXPECT_THAT(world.TakeRequests(i), IsEmpty());
  EXPECT_EQ(Reply(1, "$-1\r\n"), "$-1\r\n");
}

TEST_F(RouterMoveTest, HoldThatIsCalledOffLetsCommandsGoWhereTheyWent) {
  Hold(world.MakePlan(three, four));
  const std::string key = MovingKey(1);
  Ask({"SET", key, "v"});
  Adopt(world.MakeTopology({0, 1, 2}));
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("SET", key, "v")));
  EXPECT_EQ(Reply(1, "+OK\r\n"), "+OK\r\n");
}

TEST_F(RouterMoveTest, HoldParksCommandsWhoseKeysOnlyAServerKnows) {
  const std::string reply =
      "*1\r\n*10\r\n$6\r\nmy.cmd\r\n:-2\r\n*2\r\n+write\r\n+movablekeys\r\n:0\r\n:0\r\n:0\r\n*0\r\n*0\r\n*"
      "0\r\n"
      "*0\r\n";
  world.router.Adopt(
      std::shared_ptr<const protocol::LearnedCommands>(protocol::LearnedCommands::FromReply(reply)));
  Hold(world.MakePlan(three, four));
  const std::string key = MovingKey(0);
  Ask({"MY.CMD", key});
  for (size_t i = 0; i < 4; ++i) EXPECT_THAT(world.TakeRequests(i), IsEmpty());
  Move(plan);
  const Frame question = {"COMMAND", "GETKEYS", "MY.CMD", key};
  size_t asked = 0;
  for (size_t i = 0; i < 4; ++i) {
    if (world.TakeRequests(i) == Frames{question}) asked = i;
  }
  Reply(asked, "*1\r\n" + Bulk(key));
  EXPECT_EQ(world.TakeRequests(0), BatchOf({key}));
  Reply(0, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("MY.CMD", key)));
  EXPECT_EQ(Reply(3, ":5\r\n"), ":5\r\n");
}

// What was sent under the topology before could still be carried out by the source.
TEST_F(RouterMoveTest, HoldIsNotDrainedBeforeOlderCommandsAreAnswered) {
  plan = world.MakePlan(three, four);
  Ask({"SET", MovingKey(1), "v"});
  Hold(plan);
  EXPECT_FALSE(Drained());
  Ask({"GET", StillKey(1)});
  Reply(1, "+OK\r\n");
  EXPECT_TRUE(Drained()) << "what came later need not have ended";
  Reply(1, "$-1\r\n");
}

TEST_F(RouterMoveTest, HoldIsNotDrainedWhileAGivenUpCommandMayStillRun) {
  plan = world.MakePlan(three, four);
  Ask({"SET", MovingKey(1), "v"});
  world.now_usec += 10;
  world.session(1).FailSentBefore(world.now_usec, "SHARDTIMEOUT s1 did not answer in time");
  world.EndTurn();
  EXPECT_THAT(client->Take(), StartsWith("-SHARDTIMEOUT "));
  Hold(plan);
  EXPECT_FALSE(Drained());
  Reply(1, "+OK\r\n");
  EXPECT_TRUE(Drained());
}

// --- pulls ---

TEST_F(RouterMoveTest, KeyIsPulledBeforeItsFirstCommandAndOnce) {
  Move(world.MakePlan(three, four));
  const std::string key = MovingKey(1);
  EXPECT_EQ(Ask({"INCR", key}), "");
  EXPECT_EQ(world.TakeRequests(1), BatchOf({key}));
  EXPECT_THAT(world.TakeRequests(3), IsEmpty());
  EXPECT_EQ(Reply(1, BatchReply(1)), "");
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("INCR", key)));
  EXPECT_EQ(Reply(3, ":8\r\n"), ":8\r\n");
  Ask({"INCR", key});
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("INCR", key)));
  EXPECT_EQ(Reply(3, ":9\r\n"), ":9\r\n");
}

TEST_F(RouterMoveTest, KeysOfAnotherDatabaseAreOtherKeys) {
  Move(world.MakePlan(three, four));
  const std::string key = MovingKey(1);
  Ask({"GET", key});
  Reply(1, BatchReply(1));
  Reply(3, "$-1\r\n");
  Ask({"SELECT", "2"});
  Ask({"GET", key});
  EXPECT_EQ(world.TakeRequests(1, 2), BatchOf({key}, 3, "2"));
  ASSERT_TRUE(FakeShard::Feed(world.session(1, 2), BatchReply(1)));
  world.EndTurn();
  ASSERT_TRUE(FakeShard::Feed(world.session(3, 2), "$1\r\nx\r\n"));
  world.EndTurn();
  EXPECT_THAT(client->Take(), HasSubstr("$1\r\nx\r\n"));
}

TEST_F(RouterMoveTest, CommandsOnOneKeyKeepTheirOrder) {
  Move(world.MakePlan(three, four));
  const std::string key = MovingKey(1);
  client->Send(Command({"SET", key, "a"}) + Command({"APPEND", key, "b"}) + Command({"GET", key}));
  world.EndTurn();
  Reply(1, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("SET", key, "a"),
                                                 ElementsAre("APPEND", key, "b"), ElementsAre("GET", key)));
  EXPECT_EQ(Reply(3, "+OK\r\n:2\r\n$2\r\nab\r\n"), "+OK\r\n:2\r\n$2\r\nab\r\n");
}

// The MSET waits for the moving key; the GET of the other one must not see the value before.
TEST_F(RouterMoveTest, CommandOfSeveralKeysIsNotOvertakenOnKeysThatDoNotMove) {
  Move(world.MakePlan(three, four));
  const std::string key = MovingKey(1);
  const std::string still = StillKey(0);
  client->Send(Command({"MSET", key, "a", still, "b"}) + Command({"GET", still}));
  world.EndTurn();
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
  Reply(1, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("MSET", key, "a")));
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("MSET", still, "b")));
  Reply(3, "+OK\r\n");
  EXPECT_EQ(Reply(0, "+OK\r\n"), "+OK\r\n");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("GET", still)));
  Reply(0, "$1\r\nb\r\n");
}

TEST_F(RouterMoveTest, NothingOvertakesAWaitingCommandWhenTheMoveEndsMeanwhile) {
  Move(world.MakePlan(three, four));
  const std::string key = MovingKey(1);
  Ask({"SET", key, "a"});
  world.TakeRequests(1);
  Adopt(world.MakeTopology({0, 1, 2, 3}));
  EXPECT_FALSE(Drained());
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(3), IsEmpty());
  Reply(1, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("SET", key, "a")));
  Reply(3, "+OK\r\n");
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("GET", key)));
  EXPECT_EQ(Reply(3, "$1\r\na\r\n"), "$1\r\na\r\n");
  EXPECT_TRUE(Drained());
}

TEST_F(RouterMoveTest, CommandForAllShardsWaitsForPulls) {
  Move(world.MakePlan(three, four));
  Ask({"SET", MovingKey(1), "a"});
  world.TakeRequests(1);
  Ask({"SCRIPT", "EXISTS", std::string(40, 'a')});
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
  Reply(1, BatchReply(1));
  Reply(3, "+OK\r\n");
  EXPECT_THAT(world.TakeRequests(0), SizeIs(1));
  for (size_t i = 0; i < 4; ++i) Reply(i, "*1\r\n:0\r\n");
}

TEST_F(RouterMoveTest, SplitCommandWaitsForThePullsOfAllItsPairs) {
  Move(world.MakePlan(three, four));
  const std::string a = MovingKey(0);
  const std::string b = MovingKey(1);
  const std::string c = StillKey(2);
  Ask({"MGET", a, b, c, a});
  EXPECT_EQ(world.TakeRequests(0), BatchOf({a}));
  EXPECT_EQ(world.TakeRequests(1), BatchOf({b}));
  Reply(1, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(3), IsEmpty());
  Reply(0, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("MGET", a, b, a)));
  EXPECT_THAT(world.TakeRequests(2), ElementsAre(ElementsAre("MGET", c)));
  Reply(3, "*3\r\n" + Bulk("a") + Bulk("b") + Bulk("a"));
  EXPECT_EQ(Reply(2, "*1\r\n" + Bulk("c")), "*4\r\n" + Bulk("a") + Bulk("b") + Bulk("c") + Bulk("a"));
}

TEST_F(RouterMoveTest, SortedKeyIsPulled) {
  Move(world.MakePlan(three, four));
  const std::string key = MovingKey(2);
  Ask({"SORT", key, "ALPHA"});
  EXPECT_EQ(world.TakeRequests(2), BatchOf({key}));
  Reply(2, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("SORT", key, "ALPHA")));
  Reply(3, "*0\r\n");
}

TEST_F(RouterMoveTest, ScriptIsLoadedAtTheNewOwner) {
  Move(world.MakePlan(three, four));
  const std::string body = "return redis.call('get', KEYS[1])";
  world.scripts.Remember(body);
  const std::string key = MovingKey(1);
  Ask({"EVALSHA", ScriptSha(body), "1", key});
  EXPECT_EQ(world.TakeRequests(1), BatchOf({key}));
  Reply(1, BatchReply(1));
  world.TakeRequests(3);
  Reply(3, "-NOSCRIPT No matching script.\r\n");
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("SCRIPT", "LOAD", body),
                                                 ElementsAre("EVALSHA", ScriptSha(body), "1", key)));
  Reply(3, "+loaded\r\n");
  EXPECT_EQ(Reply(3, "+value\r\n"), "+value\r\n");
}

// MOVE waits for the key's namesake in the other database; what follows concerns the first one.
TEST_F(RouterMoveTest, MoveIsNotOvertakenWhileItWaitsForTheOtherDatabase) {
  Move(world.MakePlan(three, four));
  const std::string key = MovingKey(1);
  Ask({"GET", key});
  Reply(1, BatchReply(1));
  Reply(3, "$1\r\nx\r\n");
  world.TakeRequests(3);
  client->Send(Command({"MOVE", key, "1"}) + Command({"GET", key}));
  world.EndTurn();
  EXPECT_EQ(world.TakeRequests(1, 1), BatchOf({key}, 3, "1"));
  EXPECT_THAT(world.TakeRequests(3), IsEmpty());
  ASSERT_TRUE(FakeShard::Feed(world.session(1, 1), BatchReply(1)));
  world.EndTurn();
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("MOVE", key, "1")));
  Reply(3, ":1\r\n");
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("GET", key)));
  Reply(3, "$-1\r\n");
}

TEST_F(RouterMoveTest, CopyPullsTheKeyThatItReplacesInAnotherDatabase) {
  Move(world.MakePlan(three, four));
  const std::string tag = "{" + MovingKey(0, 3, "") + "}";
  Ask({"COPY", tag + "a", tag + "b", "DB", "5", "REPLACE"});
  EXPECT_EQ(world.TakeRequests(0), BatchOf({tag + "a", tag + "b"}));
  EXPECT_EQ(world.TakeRequests(0, 5), BatchOf({tag + "b"}, 3, "5"));
  Reply(0, BatchReply(2));
  EXPECT_THAT(world.TakeRequests(3), IsEmpty());
  ASSERT_TRUE(FakeShard::Feed(world.session(0, 5), BatchReply(1)));
  world.EndTurn();
  EXPECT_THAT(world.TakeRequests(3), SizeIs(1));
  EXPECT_EQ(Reply(3, ":1\r\n"), ":1\r\n");
}

TEST_F(RouterMoveTest, ClientOfResp3WaitsOnItsOwnConnection) {
  Move(world.MakePlan(three, four));
  const std::string key = MovingKey(1);
  Ask({"HELLO", "3"});
  Ask({"GET", key});
  Reply(1, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(3), IsEmpty());
  EXPECT_THAT(world.TakeRequests(3, 0, 3), ElementsAre(ElementsAre("GET", key)));
  ASSERT_TRUE(FakeShard::Feed(world.session(3, 0, 3), "_\r\n"));
  world.EndTurn();
  EXPECT_EQ(client->Take(), "_\r\n");
}

TEST_F(RouterMoveTest, ClientWithoutRepliesGetsNone) {
  Move(world.MakePlan(three, four));
  const std::string key = MovingKey(1);
  Ask({"CLIENT", "REPLY", "OFF"});
  Ask({"SET", key, "v"});
  Reply(1, BatchReply(1, kFull));
  Ask({"SET", key, "v"});
  Reply(1, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(3), SizeIs(1));
  Reply(3, "+OK\r\n");
  EXPECT_EQ(client->received, "");
}

TEST_F(RouterMoveTest, WriteOfAClientThatHasGoneIsCarriedOut) {
  Move(world.MakePlan(three, four));
  const std::string key = MovingKey(1);
  const std::string other = MovingKey(2);
  Ask({"SET", key, "v"});
  Ask({"MSET", key, "a", other, "b", StillKey(0), "c"});
  client.reset();
  world.Reply(1, BatchReply(1));
  world.Reply(2, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(3),
              ElementsAre(ElementsAre("SET", key, "v"), ElementsAre("MSET", key, "a", other, "b")));
  EXPECT_THAT(world.TakeRequests(0), SizeIs(1));
  world.Reply(3, "+OK\r\n+OK\r\n");
  world.Reply(0, "+OK\r\n");
}

// --- turning back ---

// The SET is sent to what is the source of the way back, after the hold has begun there.
TEST_F(RouterMoveTest, HoldOfTheWayBackIsNotDrainedBeforeWaitingCommandsHaveRun) {
  Move(world.MakePlan(three, four));
  const std::string key = MovingKey(1);
  Ask({"SET", key, "v"});
  world.TakeRequests(1);
  Hold(world.MakePlan(four, three));
  EXPECT_FALSE(Drained());
  Reply(1, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("SET", key, "v")));
  EXPECT_FALSE(Drained()) << "the SET is on its way";
  EXPECT_EQ(Reply(3, "+OK\r\n"), "+OK\r\n");
  EXPECT_TRUE(Drained());
  Move(plan);
  Ask({"GET", key});
  EXPECT_EQ(world.TakeRequests(3), BatchOf({key}, 1)) << "it was pulled the other way before";
  Reply(3, BatchReply(1));
  EXPECT_EQ(Reply(1, "$1\r\nv\r\n"), "$1\r\nv\r\n");
}

TEST_F(RouterMoveTest, HoldOfTheWayBackWaitsForAScriptThatIsLoadedAgain) {
  Move(world.MakePlan(three, four));
  const std::string body = "return 1";
  world.scripts.Remember(body);
  Ask({"EVALSHA", ScriptSha(body), "1", MovingKey(1)});
  Hold(world.MakePlan(four, three));
  Reply(1, BatchReply(1));
  EXPECT_FALSE(Drained());
  Reply(3, "-NOSCRIPT No matching script.\r\n");
  EXPECT_FALSE(Drained());
  Reply(3, "+loaded\r\n");
  EXPECT_FALSE(Drained());
  EXPECT_EQ(Reply(3, ":1\r\n"), ":1\r\n");
  EXPECT_TRUE(Drained());
}

// --- a target in trouble ---

TEST_F(RouterMoveTest, WriteFailsWhenTheTargetIsFull) {
  Move(world.MakePlan(three, four));
  const std::string key = MovingKey(1);
  Ask({"SET", key, "v"});
  EXPECT_THAT(Reply(1, BatchReply(1, kFull)), StartsWith("-MOVEFAIL s3 "));
  EXPECT_EQ(in_flight(), 0u);
}

TEST_F(RouterMoveTest, ReadIsAnsweredByTheSourceWhenTheTargetIsFull) {
  Move(world.MakePlan(three, four));
  const std::string key = MovingKey(1);
  client->Send(Command({"GET", key}) + Command({"GET", StillKey(1)}));
  world.EndTurn();
  world.TakeRequests(1);
  Reply(1, "$5\r\nstill\r\n");
  Reply(1, BatchReply(1, kFull));
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("MULTI"), ElementsAre("EXISTS", key),
                                                 ElementsAre("GET", key), ElementsAre("EXEC")));
  EXPECT_EQ(Reply(1, "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:1\r\n$1\r\nv\r\n"), "$1\r\nv\r\n$5\r\nstill\r\n");
  EXPECT_EQ(in_flight(), 0u) << "later replies would go to the wrong requests";
}

TEST_F(RouterMoveTest, ReadFailsWhenTheSourceMayNotHaveTheKeyAnyMore) {
  Move(world.MakePlan(three, four));
  Ask({"GET", MovingKey(1)});
  Reply(1, BatchReply(1, kUnreachable));
  EXPECT_THAT(Reply(1, "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:0\r\n$-1\r\n"), StartsWith("-MOVEFAIL s3 "));
}

TEST_F(RouterMoveTest, ReadOfKeysFromSeveralServersFailsWhenTheTargetIsFull) {
  Move(world.MakePlan(three, four));
  Ask({"MGET", MovingKey(0), MovingKey(1)});
  Reply(0, BatchReply(1, kFull));
  EXPECT_THAT(Reply(1, BatchReply(1)), StartsWith("-MOVEFAIL s3 "));
}

TEST_F(RouterMoveTest, SourceThatDoesNotAnswerIsNamed) {
  Move(world.MakePlan(three, four));
  const std::string key = MovingKey(1);
  Ask({"GET", key});
  world.now_usec += 10;
  world.session(1).FailSentBefore(world.now_usec, "SHARDTIMEOUT s1 did not answer in time");
  world.EndTurn();
  EXPECT_EQ(client->Take(), "-SHARDTIMEOUT s1 did not answer in time\r\n");
  // Its late reply is nobody's, and the key is not known to have moved.
  EXPECT_EQ(Reply(1, BatchReply(1)), "");
  world.TakeRequests(1);
  Ask({"GET", key});
  EXPECT_EQ(world.TakeRequests(1), BatchOf({key}));
  world.session(1).FailAll("SHARDDOWN s1 is unreachable");
  world.EndTurn();
  EXPECT_EQ(client->Take(), "-SHARDDOWN s1 is unreachable\r\n");
}

}  // namespace
}  // namespace ringway::proxy
