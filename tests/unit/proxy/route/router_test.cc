// One shard, many keys, failures, refusals.
#include "proxy/route/router.h"

#include "tests/unit/proxy/route/router_fixture.h"

namespace ringway::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

using Frame = std::vector<std::string>;

TEST_F(RouterTest, EveryKeyGoesToTheShardThatTheRingSays) {
  for (size_t shard = 0; shard < 3; ++shard) {
    const std::string key = world.KeyOn(shard);
    EXPECT_EQ(Ask({"get", key}), "");
    EXPECT_THAT(world.TakeRequests(shard), ElementsAre(ElementsAre("get", key)));
    EXPECT_EQ(Reply(shard, Bulk(key)), Bulk(key));
  }
}

TEST_F(RouterTest, DatabaseAndRespVersionHaveConnectionsOfTheirOwn) {
  const std::string key = world.KeyOn(1);
  Ask({"SELECT", "3"});
  Ask({"HELLO", "3"});
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_THAT(world.TakeRequests(1, 3, 3), ElementsAre(ElementsAre("GET", key)));
  FakeShard::Feed(world.session(1, 3, 3), "_\r\n");
  world.EndTurn();
  EXPECT_EQ(client->Take(), "_\r\n");
}

TEST_F(RouterTest, KeysWithoutACommonTagAreRefusedEvenOnOneShard) {
  const std::string a = world.KeyOn(0, "a");
  const std::string b = world.KeyOn(0, "b");
  EXPECT_THAT(Ask({"SINTER", a, b}), StartsWith("-CROSSSLOT "));
  world.router.set_same_shard_is_enough(true);
  EXPECT_THAT(Ask({"SINTER", a, world.KeyOn(1)}), StartsWith("-CROSSSLOT "));
  EXPECT_EQ(Ask({"SINTER", a, b}), "");
  EXPECT_EQ(in_flight(), 1u);
  world.router.set_same_shard_is_enough(false);
  EXPECT_EQ(Ask({"SINTER", "{t}a", "{t}b"}), "");
  EXPECT_EQ(in_flight(), 2u);
}

TEST_F(RouterTest, OddKeysAreKeysLikeAnyOther) {
  const std::vector<std::string> keys = {"{", "{}", "}{", "", "{}{a}", std::string("\0\r\n", 3)};
  for (const std::string& key : keys) {
    EXPECT_EQ(Ask({"GET", key}), "");
  }
  EXPECT_EQ(in_flight(), keys.size());
}

TEST_F(RouterTest, MgetIsSplitAndPutBackIntoTheOrderOfItsKeys) {
  const std::string a = world.KeyOn(2, "a");
  const std::string b = world.KeyOn(0, "b");
  const std::string c = world.KeyOn(2, "c");
  EXPECT_EQ(Ask({"MGET", a, b, a, c}), "");
  EXPECT_THAT(world.TakeRequests(2), ElementsAre(ElementsAre("MGET", a, a, c)));
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("MGET", b)));
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_EQ(Reply(0, "*1\r\n" + Bulk("B")), "");
  EXPECT_EQ(Reply(2, "*3\r\n" + Bulk("A") + Bulk("A") + "$-1\r\n"),
            "*4\r\n" + Bulk("A") + Bulk("B") + Bulk("A") + "$-1\r\n");
}

TEST_F(RouterTest, MgetOnOneShardIsPassedOnAsItIs) {
  const std::string a = world.KeyOn(1, "a");
  Ask({"mget", a, a});
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("mget", a, a)));
  EXPECT_EQ(Reply(1, "*2\r\n$-1\r\n$-1\r\n"), "*2\r\n$-1\r\n$-1\r\n");
}

TEST_F(RouterTest, MgetPassesLargeValuesOnByReference) {
  const std::string a = world.KeyOn(0, "a");
  const std::string b = world.KeyOn(1, "b");
  const std::string value(200'000, 'v');
  Ask({"MGET", a, b, a});
  world.Reply(1, "*1\r\n" + Bulk(value), 5'000);
  EXPECT_EQ(Reply(0, "*2\r\n" + Bulk("x") + Bulk("y")), "*3\r\n" + Bulk("x") + Bulk(value) + Bulk("y"));
}

TEST_F(RouterTest, MsetIsSplitWithRepeatedKeysInTheirOrder) {
  const std::string a = world.KeyOn(0, "a");
  const std::string b = world.KeyOn(1, "b");
  Ask({"MSET", a, "1", b, "2", a, "3"});
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("MSET", a, "1", a, "3")));
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("MSET", b, "2")));
  EXPECT_EQ(Reply(1, "+OK\r\n"), "");
  EXPECT_EQ(Reply(0, "+OK\r\n"), "+OK\r\n");
}

TEST_F(RouterTest, AnOddMsetIsRefusedAndTheNextCommandAnswered) {
  client->Send(Command({"MSET", "a", "1", "b"}) + Command({"MGET"}) + Command({"PING"}));
  world.EndTurn();
  EXPECT_EQ(client->Take(),
            "-ERR wrong number of arguments for 'mset' command\r\n"
            "-ERR wrong number of arguments for 'mget' command\r\n+PONG\r\n");
  EXPECT_EQ(in_flight(), 0u);
}

TEST_F(RouterTest, DelAddsUpAndAnErrorOfAnyPartIsTheReply) {
  const std::string a = world.KeyOn(0, "a");
  const std::string b = world.KeyOn(1, "b");
  Ask({"DEL", a, b, a});
  Reply(0, ":2\r\n");
  EXPECT_EQ(Reply(1, ":1\r\n"), ":3\r\n");
  Ask({"DEL", a, b});
  Reply(1, "-MISCONF cannot\r\n");
  EXPECT_EQ(Reply(0, ":1\r\n"), "-MISCONF cannot\r\n");
  EXPECT_EQ(world.stats.Errors().at("MISCONF"), 1u);
}

TEST_F(RouterTest, AWriteThatFailsInPartSaysHowManyPartsWereCarriedOut) {
  const std::string a = world.KeyOn(0, "a");
  const std::string b = world.KeyOn(1, "b");
  Ask({"MSET", a, "1", b, "2"});
  Reply(0, "+OK\r\n");
  world.session(1).FailAll("SHARDDOWN s1 is unreachable");
  world.EndTurn();
  EXPECT_EQ(client->Take(), "-SHARDDOWN s1 is unreachable (1 of 2 shards have carried out their part)\r\n");
  // A read has no outcome that the client must be told of.
  Ask({"MGET", a, b});
  Reply(0, "*1\r\n$-1\r\n");
  world.session(1).FailAll("SHARDDOWN s1 is unreachable");
  world.EndTurn();
  EXPECT_EQ(client->Take(), "-SHARDDOWN s1 is unreachable\r\n");
}

TEST_F(RouterTest, RepliesOfSplitCommandsKeepTheirPlaceInThePipeline) {
  const std::string a = world.KeyOn(0, "a");
  const std::string b = world.KeyOn(1, "b");
  client->Send(Command({"GET", a}) + Command({"MGET", a, b}) + Command({"GET", b}) + Command({"PING"}));
  EXPECT_EQ(Reply(1, "*1\r\n" + Bulk("B") + "+b\r\n"), "");
  EXPECT_EQ(Reply(0, "+a\r\n*1\r\n" + Bulk("A")), "+a\r\n*2\r\n" + Bulk("A") + Bulk("B") + "+b\r\n+PONG\r\n");
}

TEST_F(RouterTest, UnknownCommandsAndSubcommandsHaveRedissTexts) {
  EXPECT_EQ(Ask({"NOSUCH", "x"}), "-ERR unknown command 'NOSUCH', with args beginning with: 'x' \r\n");
  EXPECT_THAT(Ask({"CLIENT", "NOSUCH"}), StartsWith("-ERR unknown subcommand 'NOSUCH'. Try CLIENT HELP."));
  EXPECT_EQ(Ask({"GET"}), "-ERR wrong number of arguments for 'get' command\r\n");
  EXPECT_EQ(Ask({"PING"}), "+PONG\r\n");
}

TEST_F(RouterTest, AWebPageThatPostsIsCutOffBeforeItsCommandsRun) {
  client->Send("POST / HTTP/1.1\r\nHost: x\r\n\r\nFLUSHALL\r\n");
  EXPECT_TRUE(client->closed);
  EXPECT_EQ(in_flight(), 0u);
}

TEST_F(RouterTest, NothingButAuthIsAllowedBeforeAuthentication) {
  client->session().state().authenticated = false;
  EXPECT_EQ(Ask({"GET", "k"}), "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(Ask({"PING"}), "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(Ask({"AUTH", "x"}), "+LOCAL\r\n");
  EXPECT_EQ(Ask({"HELLO", "2"}), "+OK\r\n");
  EXPECT_EQ(in_flight(), 0u);
}

TEST_F(RouterTest, PausedCommandsWaitAndThenGoOnInOrder) {
  const std::string key = world.KeyOn(0);
  world.router.set_pause({Pause::Mode::kWrites, world.now_usec + 1000});
  EXPECT_EQ(Ask({"GET", key}), "");
  EXPECT_THAT(world.TakeRequests(0), SizeIs(1));
  Ask({"SET", key, "1"});
  client->Send(Command({"GET", key}));
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
  EXPECT_TRUE(client->session().stopped());
  world.now_usec += 1000;
  client->session().Resume();
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("SET", key, "1")));
}

TEST_F(RouterTest, UnpauseGetsThroughAPauseOfEverything) {
  world.router.set_pause({Pause::Mode::kAll, world.now_usec + 1000});
  EXPECT_EQ(Ask({"CLIENT", "UNPAUSE"}), "+LOCAL\r\n");
  EXPECT_EQ(Ask({"PING"}), "");
  EXPECT_TRUE(client->session().stopped());
}

TEST_F(RouterTest, AFullShardMakesTheClientWaitAndWakesIt) {
  world.shard_environment.settings.in_flight = 2;
  const std::string key = world.KeyOn(0);
  const std::string other = world.KeyOn(1);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Ask({"GET", key}), "");
  EXPECT_FALSE(client->session().stopped()) << "the limit itself is allowed";
  Ask({"GET", key});
  EXPECT_TRUE(client->session().stopped());
  // Another client's commands for other shards are not held up, those for several shards are.
  FakeClient neighbour(world.environment, 8);
  neighbour.Send(Command({"GET", other}));
  EXPECT_FALSE(neighbour.session().stopped());
  neighbour.Send(Command({"MGET", other, key}));
  EXPECT_TRUE(neighbour.session().stopped());
  EXPECT_EQ(world.session(1).in_flight(), 1u) << "nothing of it may have been sent";
}

TEST_F(RouterTest, LearntCommandsAreServedByTheirKeys) {
  // NEW.ADD, arity -3, write, first key 1, last 1, step 1.
  const std::string reply = "*1\r\n*6\r\n" + Bulk("new.add") + ":-3\r\n*1\r\n+write\r\n:1\r\n:1\r\n:1\r\n";
  std::shared_ptr<const protocol::LearnedCommands> learned = protocol::LearnedCommands::FromReply(reply);
  world.router.Adopt(learned);
  const std::string key = world.KeyOn(2);
  EXPECT_EQ(Ask({"NEW.ADD", key}), "-ERR wrong number of arguments for 'new.add' command\r\n");
  EXPECT_EQ(Ask({"NEW.ADD", key, "x"}), "");
  EXPECT_THAT(world.TakeRequests(2), ElementsAre(ElementsAre("NEW.ADD", key, "x")));
}

TEST_F(RouterTest, KeysThatOnlyAServerKnowsAreAskedForFirst) {
  const std::string reply =
      "*1\r\n*6\r\n" + Bulk("new.any") + ":-2\r\n*2\r\n+write\r\n+movablekeys\r\n:0\r\n:0\r\n:0\r\n";
  std::shared_ptr<const protocol::LearnedCommands> learned = protocol::LearnedCommands::FromReply(reply);
  world.router.Adopt(learned);
  const std::string key = world.KeyOn(2);
  const auto asked_shard = [&] {
    for (size_t i = 0; i < 3; ++i) {
      if (world.session(i).in_flight() > 0) return i;
    }
    return size_t{3};
  };
  EXPECT_EQ(Ask({"new.any", "opt", key}), "");
  const size_t first = asked_shard();
  ASSERT_LT(first, 3u);
  EXPECT_THAT(world.TakeRequests(first),
              ElementsAre(ElementsAre("COMMAND", "GETKEYS", "new.any", "opt", key)));
  EXPECT_EQ(Reply(first, "*1\r\n" + Bulk(key)), "");
  EXPECT_THAT(world.TakeRequests(2), ElementsAre(ElementsAre("new.any", "opt", key)));
  EXPECT_EQ(Reply(2, "+done\r\n"), "+done\r\n");
  // Keys that do not share a tag; and arguments that the server does not understand.
  Ask({"new.any", "x"});
  EXPECT_THAT(Reply(asked_shard(), "*2\r\n" + Bulk("a") + Bulk("b")), StartsWith("-CROSSSLOT "));
  Ask({"new.any", "x"});
  EXPECT_EQ(Reply(asked_shard(), "-ERR Invalid arguments\r\n"), "-ERR Invalid arguments\r\n");
  EXPECT_EQ(world.stats.Errors().at("CROSSSLOT"), 1u);
}

TEST_F(RouterTest, CommandThatMayWaitBlocksAConnectionThatOthersShare) {
  EXPECT_EQ(Ask({"XREAD", "BLOCK", "0", "STREAMS", "s", "$"}), "");
  EXPECT_EQ(in_flight(), 0u);
  EXPECT_EQ(world.pool.own().lent(), 1u);
  EXPECT_EQ(Ask({"GET", "behind"}), "");
  EXPECT_EQ(in_flight(), 0u) << "its client has to wait";
  FakeClient other(world.environment, 8);
  other.Send(Command({"XREAD", "COUNT", "1", "STREAMS", "block", "0"}));
  EXPECT_EQ(in_flight(), 1u);
  client.reset();
  world.pool.own().EndReleased();
  EXPECT_EQ(world.requests.in_use(), 1u) << "but for the other's";
}

TEST_F(RouterTest, CommandThatMayWaitIsLetInWithoutAConnection) {
  world.pool.own().set_limit(0);
  EXPECT_THAT(Ask({"BLPOP", "k", "0"}), HasSubstr("limits.own_connections"));
  EXPECT_EQ(Ask({"PING"}), "+PONG\r\n");
}

TEST_F(RouterTest, SortMayOnlyLookAtKeysOfItsOwnTag) {
  EXPECT_THAT(Ask({"SORT", "k", "BY", "w_*"}), StartsWith("-ERR BY and GET patterns"));
  EXPECT_EQ(Ask({"SORT", "{t}k", "BY", "{t}w_*", "GET", "#"}), "");
  EXPECT_EQ(in_flight(), 1u);
}

// --- shards that are down ---

// While a large reply occupies a shard's connection others are used, and two connections have no order.
TEST_F(RouterTest, ARequestOvertakesAnEarlierOneOnAnotherConnection) {
  const std::string key = world.KeyOn(0);
  ShardSession& first = world.session(0);
  Ask({"GET", world.KeyOn(0, "large")});
  Ask({"SET", key, "1"});
  const std::string large = Bulk(std::string(100'000, 'x'));
  const size_t begun = 40'000;
  ASSERT_TRUE(FakeShard::Feed(first, large.substr(0, begun)));
  Ask({"GET", key});
  ShardSession& other = world.session(0);
  ASSERT_NE(&first, &other);
  EXPECT_EQ(other.in_flight(), 0u) << "the SET is still under way";

  FakeClient stranger(world.environment, 8);
  stranger.Send(Command({"GET", key}));
  world.EndTurn();
  EXPECT_EQ(other.in_flight(), 1u) << "a client with nothing under way has nothing to wait for";

  ASSERT_TRUE(FakeShard::Feed(first, large.substr(begun) + "+OK\r\n"));
  world.EndTurn();
  EXPECT_EQ(first.in_flight() + other.in_flight(), 2u);
  other.FailAll("SHARDDOWN s0");
  first.FailAll("SHARDDOWN s0");
  world.EndTurn();
  EXPECT_EQ(client->session().pending(), 0u);
}

TEST_F(RouterTest, PartsThatWaitForAnotherShardAreHeldWithoutEnd) {
  world.environment.limits.client_output = 50'000;
  const std::string a = world.KeyOn(0, "a");
  const std::string b = world.KeyOn(1, "b");
  const std::string part = "*1\r\n" + Bulk(std::string(20'000, 'x'));
  for (int i = 0; i < 3; ++i) Ask({"MGET", a, b});
  for (int i = 0; i < 2; ++i) Reply(0, part);
  EXPECT_FALSE(client->closed);
  EXPECT_GT(client->session().unsent_bytes(), 40'000u);
  Reply(0, part);
  EXPECT_TRUE(client->closed);

  // Its requests go on without it, and what they have brought is let go at once.
  const size_t held = world.blocks.bytes_in_use();
  client.reset();
  EXPECT_LT(world.blocks.bytes_in_use(), held);
  world.session(1).FailAll("SHARDDOWN s1");
}

class RouterDownTest : public RouterTest {
 protected:
  RouterDownTest() : RouterTest({.shards = 3, .down = {1}, .hash_tag = "{}"}) {}
};

TEST_F(RouterDownTest, OnlyTheKeysOfTheShardThatIsDownFail) {
  EXPECT_THAT(Ask({"GET", world.KeyOn(1)}),
              StartsWith("-SHARDDOWN s1 unix:/nonexistent/ringway-test.sock is"));
  EXPECT_EQ(Ask({"GET", world.KeyOn(0)}), "");
  EXPECT_EQ(Reply(0, "+a\r\n"), "+a\r\n");
}

TEST_F(RouterDownTest, ASplitCommandWithAPartDownStillWaitsForTheOthers) {
  const std::string a = world.KeyOn(0, "a");
  const std::string b = world.KeyOn(1, "b");
  EXPECT_EQ(Ask({"MSET", a, "1", b, "2"}), "");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("MSET", a, "1")));
  const std::string reply = Reply(0, "+OK\r\n");
  EXPECT_THAT(reply, StartsWith("-SHARDDOWN s1 "));
  EXPECT_THAT(reply, HasSubstr("(1 of 2 shards have carried out their part)\r\n"));
}

TEST_F(RouterDownTest, CommandsForAnyShardPassByTheOneThatIsDown) {
  for (int i = 0; i < 6; ++i) EXPECT_EQ(Ask({"EVAL", "return 1", "0"}), "");
  EXPECT_EQ(in_flight(), 6u);
}

// The shard that would take them all, were they always sent to the same.
class RouterFirstDownTest : public RouterTest {
 protected:
  RouterFirstDownTest() : RouterTest({.shards = 3, .down = {0}, .hash_tag = "{}"}) {}
};

TEST_F(RouterFirstDownTest, ScriptsWithoutKeysNeedTheFirstShard) {
  for (int i = 0; i < 6; ++i) EXPECT_EQ(Ask({"EVALSHA", std::string(40, 'a'), "0"}), "");
  EXPECT_EQ(in_flight(), 6u);
}

TEST_F(RouterDownTest, CommandsForAllShardsNameTheOneThatIsDown) {
  EXPECT_EQ(Ask({"DBSIZE"}), "");
  Reply(0, ":1\r\n");
  EXPECT_THAT(Reply(2, ":1\r\n"), StartsWith("-SHARDDOWN s1 "));
}

// A connection that was never opened fails while a request is being sent on it.
TEST_F(RouterDownTest, AFrameIsNeverLeftBehindWithoutItsPosition) {
  Ask({"HELLO", "3"});
  const std::string a = world.KeyOn(1, "a");
  EXPECT_EQ(Ask({"GET", a}), "");
  EXPECT_EQ(world.session(1, 0, 3).in_flight(), 1u);
  EXPECT_THAT(world.TakeRequests(1, 0, 3), ElementsAre(ElementsAre("GET", a)));
  EXPECT_THAT(Ask({"GET", a}), IsEmpty()) << "the first request is answered first";
  world.session(1, 0, 3).FailAll("SHARDDOWN s1");
  world.EndTurn();
  EXPECT_THAT(client->Take(), HasSubstr("-SHARDDOWN s1\r\n-SHARDDOWN s1 unix:"));
  EXPECT_TRUE(world.session(1, 0, 3).output().empty());
}

class RouterAllDownTest : public RouterTest {
 protected:
  RouterAllDownTest() : RouterTest({.shards = 3, .down = {0, 1, 2}, .hash_tag = "{}"}) {}
};

TEST_F(RouterAllDownTest, EverySortOfCommandIsAnsweredAtOnce) {
  const std::string a = world.KeyOn(0, "a");
  const std::string b = world.KeyOn(1, "b");
  const std::vector<std::vector<std::string>> requests = {{"GET", a},
                                                          {"MGET", a, b},
                                                          {"MSET", a, "1", b, "2"},
                                                          {"DBSIZE"},
                                                          {"SCAN", "0"},
                                                          {"RANDOMKEY"},
                                                          {"EVALSHA", std::string(40, 'a'), "1", a},
                                                          {"EVAL", "return 1", "0"},
                                                          {"KEYS", "*"},
                                                          {"SCRIPT", "EXISTS", "x"}};
  for (const auto& request : requests) EXPECT_THAT(Ask(request), StartsWith("-SHARDDOWN ")) << request[0];
  EXPECT_EQ(client->session().pending(), 0u);
  EXPECT_EQ(world.stats.by_command.At(protocol::FindCommand("randomkey")->id).failed.Get(), 1u);
}

}  // namespace
}  // namespace ringway::proxy
