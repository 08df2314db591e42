// The requests of one client are answered as if carried out in their order.
#include "protocol/learned_commands.h"
#include "tests/unit/proxy/route/hot_fixture.h"

namespace ringway::proxy {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

using HotOrderTest = HotTest;

constexpr const char* kWrongType = "-WRONGTYPE Operation against a key\r\n";

// The key itself may answer with a write under way that the copy does not show yet.
TEST_F(HotOrderTest, AReadBehindOneOfTheKeyItselfIsAnsweredByACopy) {
  hot.Burden(1, 2'000'000);
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(0), SizeIs(1));
  hot.Relieve(1, 2'000'000);
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_THAT(world.TakeRequests(0), SizeIs(1));
  FromKey("$1\r\na\r\n$1\r\nb\r\n");
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), SizeIs(1)) << "with nothing under way there is a choice again";
}

TEST_F(HotOrderTest, AReadBehindTheKeysTtlIsAnsweredByACopy) {
  Ask({"TTL", key});
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("TTL", key), ElementsAre("GET", key)));
}

TEST_F(HotOrderTest, OnlyTheFirstReadOfTheKeyItselfBindsThoseBehindIt) {
  for (const char* command : {"TTL", "GET"}) {
    hot.Burden(1, 2'000'000);
    Ask({command, key});
    Ask({command, key});
    hot.Relieve(1, 2'000'000);
    FromKey(":1\r\n");
    Ask({"GET", key});
    EXPECT_THAT(world.TakeRequests(1), IsEmpty()) << command;
    FromKey(":1\r\n:1\r\n");
  }
}

TEST_F(HotOrderTest, OneClientsReadsBindAnother) {
  Ask({"TTL", key});
  FakeClient other(world.environment, 8);
  other.Send(Command({"GET", key}));
  EXPECT_THAT(world.TakeRequests(1), SizeIs(1));
}

TEST_F(HotOrderTest, AWriteOvertakesAReadThatMayYetAskTheKey) {
  client->Send(Command({"GET", key}) + Command({"SET", key, "new"}));
  world.EndTurn();
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
  EXPECT_FALSE(state().written()) << "it has not been sent";
  FromCopy("$-1\r\n");
  FromCopy(":0\r\n");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("GET", key)));
  EXPECT_EQ(FromKey("$3\r\nold\r\n"), "$3\r\nold\r\n");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("SET", key, "new")));
  EXPECT_EQ(FromKey("+OK\r\n"), "+OK\r\n");
}

TEST_F(HotOrderTest, AFlushOvertakesAReadThatMayYetAskTheKey) {
  client->Send(Command({"GET", key}) + Command({"FLUSHALL"}));
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
  EXPECT_THAT(world.TakeRequests(2), IsEmpty());
  FromCopy("$1\r\nv\r\n");
  EXPECT_THAT(world.TakeRequests(0), SizeIs(1));
}

TEST_F(HotOrderTest, AWriteWhoseKeysAServerTellsOvertakesAReadThatMayYetAskTheKey) {
  const std::string reply =
      "*1\r\n*6\r\n" + Bulk("new.any") + ":-2\r\n*2\r\n+write\r\n+movablekeys\r\n:0\r\n:0\r\n:0\r\n";
  world.router.Adopt(
      std::shared_ptr<const protocol::LearnedCommands>(protocol::LearnedCommands::FromReply(reply)));
  client->Send(Command({"GET", key}) + Command({"NEW.ANY", key}));
  world.EndTurn();
  EXPECT_EQ(in_flight(), 1u) << "it is not even asked for its keys";
  FromCopy("$1\r\nv\r\n");
  EXPECT_EQ(in_flight(), 1u);
}

TEST_F(HotOrderTest, AReadBehindOneWhoseKeysAServerTellsIsAnsweredByACopy) {
  const std::string reply =
      "*1\r\n*6\r\n" + Bulk("new.any") + ":-2\r\n*2\r\n+readonly\r\n+movablekeys\r\n:0\r\n:0\r\n:0\r\n";
  world.router.Adopt(
      std::shared_ptr<const protocol::LearnedCommands>(protocol::LearnedCommands::FromReply(reply)));
  const std::vector<std::vector<std::string>> reads = {{"GET", key}, {"MGET", key, world.KeyOn(2)}};
  for (const std::vector<std::string>& read : reads) {
    client->Send(Command({"NEW.ANY", key}) + Command(read));
    world.EndTurn();
    EXPECT_EQ(in_flight(), 1u) << "it waits";
    for (size_t shard = 0; shard < 3; ++shard) {
      const auto asked = world.TakeRequests(shard);
      if (!asked.empty()) Reply(shard, "*1\r\n" + Bulk(key));
    }
    FromKey("$1\r\nv\r\n");
    EXPECT_THAT(world.TakeRequests(1), SizeIs(1)) << "and goes on";
    FromCopy("$1\r\nv\r\n");
    while (world.session(2).in_flight() > 0) Reply(2, "*1\r\n$-1\r\n");
    client = std::make_unique<FakeClient>(world.environment, 7);
  }
}

TEST_F(HotOrderTest, AReadTakesAnotherConnectionThanThoseBeforeIt) {
  Ask({"GET", key});
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), SizeIs(2));
  // A large reply of somebody else's occupies the connection.
  FakeClient other(world.environment, 8);
  other.Send(Command({"GET", world.KeyOn(1)}));
  FromCopy("$1\r\nv\r\n");
  Ask({"GET", key});
  ASSERT_THAT(world.TakeRequests(1), SizeIs(2));
  FromCopy("$1\r\nv\r\n");
  world.Reply(1, "$100000\r\n" + std::string(50'000, 'x'));
  ASSERT_TRUE(world.pool.MainConnection(1).session().occupied());
  Ask({"GET", key});
  EXPECT_TRUE(client->session().stalled());
}

TEST_F(HotOrderTest, WritesOfOtherKeysWaitForAHotKeysRead) {
  const std::string other = world.KeyOn(0, "other");
  client->Send(Command({"GET", key}) + Command({"SET", other, "v"}));
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("SET", other, "v")));
}

TEST_F(HotOrderTest, TheKeysTtlOvertakesAReadOfTheCopy) {
  client->Send(Command({"GET", key}) + Command({"TTL", key}));
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
  EXPECT_EQ(FromCopy("$1\r\nv\r\n"), "$1\r\nv\r\n");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("TTL", key)));
}

TEST_F(HotOrderTest, AReadGoesToTheKeyWhileOthersAreAtACopyThatIsNotUsedAnyMore) {
  Ask({"GET", key});
  FakeClient other(world.environment, 8);
  other.Send(Command({"SET", key, "new"}));
  world.TakeRequests(0);
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(0), IsEmpty()) << "it would see the SET, the first GET not";
  EXPECT_TRUE(client->session().stalled());
  FromCopy("$3\r\nold\r\n");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("GET", key)));
}

TEST_F(HotOrderTest, AReadGoesToAnotherCopyThanThoseBeforeIt) {
  Ask({"GET", key});
  world.TakeRequests(1);
  const std::string next = hot.Fill(*placement);
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  FromCopy("$1\r\nv\r\n");
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("GET", next)));
}

// --- a copy that fails a read ---

TEST_F(HotOrderTest, AReadBehindOneThatFellBackIsOlder) {
  client->Send(Command({"GET", key}) + Command({"STRLEN", key}));
  EXPECT_EQ(FromCopy(kWrongType), "");
  EXPECT_EQ(FromCopy(":3\r\n"), "");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("GET", key), ElementsAre("STRLEN", key)));
  EXPECT_EQ(FromKey("$5\r\nnewer\r\n:5\r\n"), "$5\r\nnewer\r\n:5\r\n");
  EXPECT_TRUE(placement->buckets[0]->copy.Get().has_value()) << "it is only this client's way";
}

TEST_F(HotOrderTest, AReadInFrontOfOneThatFellBackIsAskedAgain) {
  client->Send(Command({"GET", key}) + Command({"LLEN", key}));
  EXPECT_EQ(FromCopy("$1\r\nv\r\n"), "$1\r\nv\r\n");
  EXPECT_EQ(FromCopy(kWrongType), "");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("LLEN", key)));
  EXPECT_EQ(FromKey(kWrongType), kWrongType);
}

TEST_F(HotOrderTest, AReadThatIsDoubtedFollowsALaterOneThatFellBack) {
  client->Send(Command({"LRANGE", key, "9", "9"}) + Command({"LLEN", key}));
  EXPECT_EQ(FromCopy(std::string("*0\r\n") + kWrongType), "");
  EXPECT_EQ(FromCopy(":1\r\n"), "*0\r\n");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("LLEN", key)));
  EXPECT_EQ(FromKey(":3\r\n"), ":3\r\n");
}

// The later answer proves that the copy was there when the first one was given.
TEST_F(HotOrderTest, AHollowAnswerIsDoubtedThoughALaterOneProvesTheCopy) {
  client->Send(Command({"HGET", key, "none"}) + Command({"HGET", key, "f"}));
  EXPECT_EQ(FromCopy("$-1\r\n$1\r\nv\r\n"), "");
  EXPECT_EQ(FromCopy(":0\r\n"), "$-1\r\n$1\r\nv\r\n");
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
}

TEST_F(HotOrderTest, AHollowAnswerIsBelievedBecauseAnEarlierOneProvedTheCopy) {
  client->Send(Command({"HGET", key, "f"}) + Command({"HGET", key, "none"}));
  EXPECT_EQ(FromCopy("$1\r\nv\r\n$-1\r\n"), "$1\r\nv\r\n");
  EXPECT_EQ(FromCopy(":0\r\n"), "");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("HGET", key, "none")));
  EXPECT_EQ(FromKey("$1\r\nw\r\n"), "$1\r\nw\r\n");
}

// While a large reply occupies a connection to the key's shard another one is used; two have no order.
TEST_F(HotOrderTest, ReadsThatFellBackOvertakeEachOther) {
  client->Send(Command({"GET", key}) + Command({"GET", key}));
  FakeClient other(world.environment, 8);
  other.Send(Command({"GET", world.KeyOn(0, "large")}));
  FromCopy(kWrongType);
  ShardSession& first = world.pool.MainConnection(0).session();
  ASSERT_EQ(first.in_flight(), 2u);
  const std::string large = Bulk(std::string(100'000, 'x'));
  ASSERT_TRUE(FakeShard::Feed(first, large.substr(0, 40'000)));
  FromCopy(kWrongType);
  EXPECT_EQ(first.in_flight(), 3u) << "the second one might be answered first";
  ASSERT_TRUE(FakeShard::Feed(first, large.substr(40'000) + "$1\r\na\r\n$1\r\nb\r\n"));
  world.EndTurn();
  EXPECT_EQ(client->Take(), "$1\r\na\r\n$1\r\nb\r\n");
}

// --- large answers ---

TEST_F(HotOrderTest, LargeAnswersOfCopiesPileUp) {
  placement->bytes = ClientSession::kSoftOutputBytes / 2;
  for (int i = 0; i < 3; ++i) Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), SizeIs(2));
  EXPECT_THAT(world.TakeRequests(0), IsEmpty()) << "two places have no order";
  FromCopy("$1\r\nv\r\n");
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  FromCopy("$1\r\nv\r\n");
  EXPECT_THAT(world.TakeRequests(1), SizeIs(1));
}

// --- connections that never rest ---

TEST_F(HotOrderTest, AConnectionThatNeverRestsStaysAtOnePlaceForEver) {
  const size_t together = 1 + HotTrail::kMaxFollowers;
  for (size_t i = 0; i < together; ++i) Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), SizeIs(together));
  EXPECT_FALSE(client->session().stalled());
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_TRUE(client->session().stalled());
  for (size_t i = 0; i < together; ++i) FromCopy("$1\r\nv\r\n");
  EXPECT_THAT(world.TakeRequests(1), SizeIs(1)) << "after them it goes on";
}

TEST_F(HotOrderTest, AConnectionThatNeverRestsStaysAtTheKeyForEver) {
  hot.Burden(1, 2'000'000);
  const size_t together = 1 + HotTrail::kMaxFollowers;
  for (size_t i = 0; i < together; ++i) Ask({"GET", key});
  EXPECT_EQ(world.session(0).in_flight(), together);
  Ask({"GET", key});
  EXPECT_EQ(world.session(0).in_flight(), together);
  hot.Relieve(1, 2'000'000);
  for (size_t i = 0; i < together; ++i) FromKey("$1\r\nv\r\n");
  EXPECT_THAT(world.TakeRequests(1), SizeIs(1)) << "after them it is free to choose";
}

// The read that is at the copy may yet be asked of the key, after the one behind it.
TEST_F(HotOrderTest, AReadOvertakesOneOfAKeyThatHasCooled) {
  client->Send(Command({"GET", key}));
  world.EndTurn();
  EXPECT_THAT(world.TakeRequests(1), SizeIs(1));
  hot.Cool(placement);
  client->Send(Command({"GET", key}) + Command({"TTL", key}) +
               Command({"MGET", key, world.KeyOn(2, "cold")}));
  world.EndTurn();
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
  FromCopy("$-1\r\n");
  FromCopy(":0\r\n");
  EXPECT_EQ(FromKey("$3\r\nnew\r\n"), "$3\r\nnew\r\n");
  world.EndTurn();
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("GET", key), ElementsAre("GET", key),
                                                 ElementsAre("TTL", key), ElementsAre("MGET", key)))
      << "the first one's, and those that waited";
}

}  // namespace
}  // namespace ringway::proxy
