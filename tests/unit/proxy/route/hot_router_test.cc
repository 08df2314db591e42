// When buckets are read, and what becomes of their answers.
#include "tests/unit/proxy/route/hot_fixture.h"

namespace ringway::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

using HotRouterTest = HotTest;

constexpr const char* kWrongType = "-WRONGTYPE Operation against a key\r\n";

TEST_F(HotRouterTest, TheCopyIsAskedForUnderAnotherNameThanItsOwn) {
  EXPECT_EQ(Ask({"GET", key}), "");
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("GET", copy)));
  EXPECT_EQ(FromCopy("$1\r\nv\r\n"), "$1\r\nv\r\n");
  EXPECT_EQ(world.stats.bucket_reads.Get(), 1u);
  hot.Tick();
  EXPECT_EQ(placement->bucket_reads.load(), 1u);
}

TEST_F(HotRouterTest, ArgumentsBehindTheKeyAreLost) {
  Ask({"HGET", key, "field"});
  Ask({"ZRANGE", key, "0", "-1", "WITHSCORES"});
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("HGET", copy, "field"),
                                                 ElementsAre("ZRANGE", copy, "0", "-1", "WITHSCORES")));
  EXPECT_EQ(FromCopy("$1\r\nf\r\n*1\r\n$1\r\nz\r\n"), "$1\r\nf\r\n*1\r\n$1\r\nz\r\n");
}

TEST_F(HotRouterTest, ACommandOnTheKeyItselfIsAnsweredByACopy) {
  for (const char* command : {"TTL", "DUMP", "PEXPIRETIME"}) Ask({command, key});
  Ask({"OBJECT", "ENCODING", key});
  Ask({"HSCAN", key, "0"});
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_THAT(world.TakeRequests(0), SizeIs(5));
}

TEST_F(HotRouterTest, ClientsOfResp3GetRepliesOfResp2) {
  Ask({"HELLO", "3"});
  Ask({"HGETALL", key});
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_THAT(world.TakeRequests(1, 0, 3), ElementsAre(ElementsAre("HGETALL", copy)));
  FakeShard::Feed(world.session(1, 0, 3), "%0\r\n");
  EXPECT_THAT(world.TakeRequests(1, 0, 3), ElementsAre(ElementsAre("EXISTS", copy)));
  FakeShard::Feed(world.session(1, 0, 3), ":0\r\n");
  EXPECT_THAT(world.TakeRequests(0, 0, 3), ElementsAre(ElementsAre("HGETALL", key)));
  FakeShard::Feed(world.session(0, 0, 3), "%1\r\n+f\r\n+v\r\n");
  world.EndTurn();
  EXPECT_EQ(client->Take(), "%1\r\n+f\r\n+v\r\n");
}

TEST_F(HotRouterTest, AKeyOfAnotherDatabaseIsTakenForTheHotOne) {
  Ask({"SELECT", "3"});
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(0, 3), ElementsAre(ElementsAre("GET", key)));
  FakeShard::Feed(world.session(0, 3), "$1\r\na\r\n");
  const auto namesake = hot.Make(key, {1}, 3);
  const std::string name = hot.Fill(*namesake);
  FakeClient other(world.environment, 8);
  other.Send(Command({"SELECT", "3"}) + Command({"GET", key}));
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_THAT(world.TakeRequests(1, 3), ElementsAre(ElementsAre("GET", name)));
  FakeShard::Feed(world.session(1, 3), "$-1\r\n");
  EXPECT_THAT(world.TakeRequests(1, 3), ElementsAre(ElementsAre("EXISTS", name)));
  FakeShard::Feed(world.session(1, 3), ":0\r\n");
  EXPECT_THAT(world.TakeRequests(0, 3), ElementsAre(ElementsAre("GET", key)));
  FakeShard::Feed(world.session(0, 3), "$1\r\nb\r\n");
  world.EndTurn();
  EXPECT_EQ(other.Take(), "+OK\r\n$1\r\nb\r\n");
}

TEST_F(HotRouterTest, XreadTellsTheNameOfTheCopy) {
  Ask({"XREAD", "COUNT", "1", "STREAMS", key, "0"});
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("XREAD", "COUNT", "1", "STREAMS", copy, "0")));
  const std::string entries = "*1\r\n*2\r\n+1-1\r\n*2\r\n+f\r\n" + Bulk(copy);
  EXPECT_EQ(FromCopy("*1\r\n*2\r\n" + Bulk(copy) + entries), "*1\r\n*2\r\n" + Bulk(key) + entries)
      << "a value that looks like it is left alone";
}

TEST_F(HotRouterTest, XreadOfResp3TellsTheNameOfTheCopy) {
  Ask({"HELLO", "3"});
  Ask({"XREAD", "STREAMS", key, "0"});
  FakeShard::Feed(world.session(1, 0, 3), "%1\r\n" + Bulk(copy) + "*1\r\n*2\r\n+1-1\r\n*0\r\n");
  world.EndTurn();
  EXPECT_EQ(client->Take(), "%1\r\n" + Bulk(key) + "*1\r\n*2\r\n+1-1\r\n*0\r\n");
}

// --- which bucket ---

TEST_F(HotRouterTest, TheKeysOwnShardGetsNoReadsAnyMore) {
  hot.Relieve(0);
  hot.Burden(1);
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(0), SizeIs(1));
  hot.Relieve(1);
}

TEST_F(HotRouterTest, TheBusierOfTwoBucketsIsAsked) {
  const std::string other = world.KeyOn(0, "other");
  const auto two = hot.Make(other, {1, 2});
  const std::string first = hot.Fill(*two, 0);
  const std::string second = hot.Fill(*two, 1);
  hot.Burden(1, 1'000);
  // Of the three places two are drawn; the key's own shard is the busiest, so it never wins.
  for (int i = 0; i < 50; ++i) {
    Ask({"GET", other});
    for (const auto& request : world.TakeRequests(1)) EXPECT_THAT(request, ElementsAre("GET", first));
    for (const auto& request : world.TakeRequests(2)) EXPECT_THAT(request, ElementsAre("GET", second));
    const bool second_asked = world.session(2).in_flight() > 0;
    Reply(second_asked ? 2 : 1, "$1\r\nv\r\n");
  }
  EXPECT_GT(world.stats.by_shard.At(2).requests.Get(), world.stats.by_shard.At(1).requests.Get());
  EXPECT_EQ(world.stats.by_shard.At(0).requests.Get(), 0u);
}

TEST_F(HotRouterTest, ACopyIsReadBeyondItsTime) {
  world.now_usec += 999'999;
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), SizeIs(1));
  FromCopy("$1\r\nv\r\n");
  world.now_usec += 1;
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("GET", key)));
}

// Its turn may have begun before the key expired.
TEST_F(HotRouterTest, ACopyIsReadWhenItsKeyHasExpiredWithinTheTurn) {
  int64_t clock_usec = world.now_usec + 999'999;
  hot.hot_keys().set_clock([&] { return clock_usec; });
  placement->buckets[0]->copy.Set({NextCopyId(), state().generation(), world.now_usec + 1'000'000, true});
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), SizeIs(1));
  FromCopy("$1\r\nv\r\n");
  ++clock_usec;
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("GET", key)));
}

TEST_F(HotRouterTest, ACopyIsReadForLongerThanALimitThatWasLowered) {
  hot.SetLimits(1000, 1024);
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), SizeIs(1)) << "the same limit ends nothing";
  FromCopy("$1\r\nv\r\n");
  hot.SetLimits(999, 1024);
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(0),
              ElementsAre(ElementsAre("MEMORY", "USAGE", key), ElementsAre("GET", key)));
}

TEST_F(HotRouterTest, ReadsWaitForABucketsShardThatIsFull) {
  world.shard_environment.settings.in_flight = 1;
  FakeClient other(world.environment, 8);
  other.Send(Command({"GET", world.KeyOn(1)}));
  EXPECT_EQ(Ask({"GET", key}), "");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("GET", key)));
  EXPECT_THAT(world.TakeRequests(1), SizeIs(1));
}

class HotDownTest : public HotTest {
 protected:
  HotDownTest() : HotTest({.shards = 3, .down = {1}, .hash_tag = "{}"}) {}
};

TEST_F(HotDownTest, ReadsFailWithABucketsShard) {
  EXPECT_EQ(Ask({"GET", key}), "");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("GET", key)));
}

// --- hollow answers and errors ---

TEST_F(HotRouterTest, AnAnswerThatAMissingCopyWouldGiveIsPassedOnUnasked) {
  EXPECT_EQ(Ask({"HGET", key, "f"}), "");
  world.TakeRequests(1);
  EXPECT_EQ(FromCopy("$-1\r\n"), "");
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("EXISTS", copy)));
  EXPECT_EQ(FromCopy(":1\r\n"), "$-1\r\n");
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
}

TEST_F(HotRouterTest, AMissingCopyShowsAsAMissingKey) {
  for (const char* presence : {":0\r\n", "-LOADING\r\n"}) {
    copy = hot.Fill(*placement);
    Ask({"HGET", key, "f"});
    FromCopy("$-1\r\n");
    EXPECT_EQ(FromCopy(presence), "");
    EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("HGET", key, "f")));
    EXPECT_EQ(FromKey("$1\r\nv\r\n"), "$1\r\nv\r\n");
  }
  EXPECT_EQ(world.stats.bucket_reads.Get(), 0u);
}

TEST_F(HotRouterTest, ACopyThatHasGoneIsAskedAgainOrNeverMadeAnew) {
  Ask({"GET", key});
  FromCopy("$-1\r\n");
  FromCopy(":0\r\n");
  FromKey("$1\r\nv\r\n");
  world.TakeRequests(0);
  world.TakeRequests(1);
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_THAT(world.TakeRequests(0),
              ElementsAre(ElementsAre("MEMORY", "USAGE", key), ElementsAre("GET", key)));
}

TEST_F(HotRouterTest, AnErrorOfACopyIsTheReply) {
  EXPECT_EQ(Ask({"GET", key}), "");
  EXPECT_EQ(FromCopy(kWrongType), "");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("GET", key)));
  EXPECT_EQ(FromKey("$1\r\nv\r\n"), "$1\r\nv\r\n");
  EXPECT_TRUE(placement->buckets[0]->copy.Get().has_value()) << "there is nothing wrong with it";
  EXPECT_TRUE(world.stats.Errors().empty());
}

TEST_F(HotRouterTest, AShardThatLoadsIsAskedAgainAndAgain) {
  Ask({"GET", key});
  FromCopy("-LOADING Redis is loading the dataset in memory\r\n");
  EXPECT_FALSE(placement->buckets[0]->copy.Get().has_value());
  FromKey("$1\r\nv\r\n");
}

TEST_F(HotRouterTest, AnErrorOfTheKeyIsNotCounted) {
  Ask({"GET", key});
  FromCopy(kWrongType);
  EXPECT_EQ(FromKey(kWrongType), kWrongType);
  EXPECT_EQ(world.stats.Errors().at("WRONGTYPE"), 1u);
  EXPECT_EQ(world.stats.by_command.Peek(protocol::FindCommand("get")->id)->failed.Get(), 1u);
}

TEST_F(HotRouterTest, ABucketsShardThatDoesNotAnswerFailsTheRead) {
  Ask({"GET", key});
  world.now_usec += 10;
  world.session(1).FailSentBefore(world.now_usec, "SHARDTIMEOUT s1 did not answer in time");
  world.EndTurn();
  EXPECT_EQ(client->Take(), "");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("GET", key)));
  EXPECT_EQ(FromKey("$1\r\nv\r\n"), "$1\r\nv\r\n");
  world.TakeRequests(1);
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), IsEmpty()) << "each read would wait as long";
}

TEST_F(HotRouterTest, EveryHollowAnswerCostsARoundTrip) {
  Ask({"GET", key});
  FromCopy("$-1\r\n");
  FromCopy(":1\r\n");
  world.TakeRequests(1);
  for (uint32_t i = 0; i < HotEntry::kEscorts; ++i) {
    Ask({"GET", key});
    EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("GET", copy), ElementsAre("EXISTS", copy)));
    EXPECT_EQ(FromCopy("$1\r\nv\r\n:1\r\n"), "$1\r\nv\r\n");
  }
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("GET", copy)));
}

TEST_F(HotRouterTest, AnEscortedAnswerIsPassedOnThoughTheCopyHasGone) {
  Ask({"GET", key});
  FromCopy("$-1\r\n");
  FromCopy(":1\r\n");
  Ask({"GET", key});
  EXPECT_EQ(FromCopy("$-1\r\n"), "") << "its escort is under way";
  EXPECT_EQ(FromCopy(":0\r\n"), "");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("GET", key)));
  EXPECT_EQ(FromKey("$1\r\nv\r\n"), "$1\r\nv\r\n");
}

// --- clients that go, keys that cool ---

TEST_F(HotRouterTest, AClientThatGoesLeavesItsReadBehind) {
  Ask({"GET", key});
  client.reset();
  world.Reply(1, "$-1\r\n");
  world.Reply(1, ":0\r\n");
  EXPECT_THAT(world.TakeRequests(0), SizeIs(1));
  EXPECT_EQ(world.requests.in_use(), 1u);
  world.Reply(0, "$-1\r\n");
  EXPECT_EQ(world.requests.in_use(), 0u);
}

TEST_F(HotRouterTest, AKeyThatCoolsTakesItsReadsUnderWayWithIt) {
  Ask({"GET", key});
  hot.Cool(placement);
  EXPECT_TRUE(hot.hot_keys().watching()) << "the read may yet need its entry";
  EXPECT_EQ(FromCopy("$-1\r\n"), "");
  EXPECT_EQ(FromCopy(":0\r\n"), "");
  EXPECT_EQ(FromKey("$1\r\nv\r\n"), "$1\r\nv\r\n");
  hot.Tick();
  EXPECT_FALSE(hot.hot_keys().watching());
}

TEST_F(HotRouterTest, ABucketIsReadAfterItsKeyHasCooled) {
  placement->key->Retire();
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), IsEmpty()) << "another worker counts its writes no more";
  hot.Cool(placement);
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_THAT(world.TakeRequests(0), SizeIs(2));
}

// The next client's write must not overtake the read of one whose key has cooled meanwhile.
TEST_F(HotRouterTest, AWriteOvertakesAReadOfAKeyThatHasCooled) {
  Ask({"GET", key});
  hot.Cool(placement);
  Ask({"SET", key, "new"});
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
  FromCopy("$-1\r\n");
  FromCopy(":0\r\n");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("GET", key)));
  EXPECT_EQ(FromKey("$3\r\nold\r\n"), "$3\r\nold\r\n");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("SET", key, "new")));
}

// --- the ring changes ---

TEST_F(HotRouterTest, ABucketOfAShardThatHasLeftIsRead) {
  const std::string kept = world.KeyOn(0, "kept");
  const auto two = hot.Make(kept, {2, 1});
  hot.Fill(*two, 0);
  const std::string name = hot.Fill(*two, 1);
  world.Adopt({0, 1});
  for (int i = 0; i < 20; ++i) {
    Ask({"GET", kept});
    for (const auto& request : world.TakeRequests(1)) EXPECT_THAT(request, ElementsAre("GET", name));
    const size_t shard = world.session(1).in_flight() > 0 ? 1 : 0;
    ASSERT_EQ(world.session(shard).in_flight(), 1u);
    EXPECT_EQ(Reply(shard, "$1\r\nv\r\n"), "$1\r\nv\r\n");
  }
}

TEST_F(HotRouterTest, ABucketOfAShardThatHasLeftStandsInForAnEmptyOne) {
  const std::string kept = world.KeyOn(0, "kept");
  const auto two = hot.Make(kept, {2, 1});
  hot.Fill(*two);
  world.Adopt({0, 1});
  for (int i = 0; i < 20; ++i) {
    Ask({"GET", kept});
    EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("GET", kept)));
    FromKey("$1\r\nv\r\n");
  }
}

TEST_F(HotRouterTest, AReadIsLostWithTheShardThatLeaves) {
  const std::string kept = world.KeyOn(0, "kept");
  const auto leaving = hot.Make(kept, {2});
  hot.Fill(*leaving);
  Ask({"GET", kept});
  ASSERT_EQ(world.session(2).in_flight(), 1u);
  world.Adopt({0, 1});
  world.EndTurn();
  EXPECT_EQ(client->Take(), "");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("GET", kept)));
  EXPECT_EQ(FromKey("$1\r\nv\r\n"), "$1\r\nv\r\n");
}

TEST_F(HotRouterTest, ReadsUnderWayAreLostWhenBucketsArePlacedAnew) {
  Ask({"GET", key});
  const auto anew = std::make_shared<HotPlacement>(placement->key, placement->hash, std::vector<uint32_t>{2});
  auto set = std::make_shared<HotSet>();
  set->keys.push_back(anew);
  world.router.Adopt(std::shared_ptr<const HotSet>(set));
  EXPECT_EQ(FromCopy("$-1\r\n"), "");
  EXPECT_EQ(FromCopy(":1\r\n"), "$-1\r\n");
  const std::string name = hot.Fill(*anew);
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(2), ElementsAre(ElementsAre("GET", name)));
}

}  // namespace
}  // namespace ringway::proxy
