// Hot keys while they move to another shard.
#include "tests/unit/proxy/route/hot_fixture.h"

namespace ringway::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr const char* kWrongType = "-WRONGTYPE Operation against a key\r\n";

// A key that is to move from shard 1 to shard 3, with a copy on shard 0.
class HotMoveTest : public HotFixture<MoveTest> {
 protected:
  HotMoveTest() {
    plan = world.MakePlan(three, four);
    key = MovingKey(1);
    placement = hot.Make(key, {0});
    copy = hot.Fill(*placement);
    hot.Burden(1);
    hot.Burden(3);
  }
  // As a worker adopts a topology.
  void AdoptAndResume(std::shared_ptr<const Topology> topology) {
    Adopt(std::move(topology));
    world.router.ResumeParked();
    world.EndTurn();
  }
  void BeginHold() { AdoptAndResume(HoldingTopology(++epoch, 0, plan)); }
  void BeginMove() { AdoptAndResume(MovingTopology(++epoch, 1, plan)); }

  std::string key;
  std::string copy;
  std::shared_ptr<HotPlacement> placement;
};

TEST_F(HotMoveTest, TheKeyIsAskedInAHold) {
  Ask({"GET", key});
  BeginHold();
  EXPECT_EQ(Reply(0, kWrongType), "");
  for (size_t shard = 1; shard < 4; ++shard) EXPECT_THAT(world.TakeRequests(shard), IsEmpty());
  BeginMove();
  EXPECT_EQ(world.TakeRequests(1), BatchOf({key}));
  EXPECT_THAT(world.TakeRequests(3), IsEmpty()) << "it is not there yet";
  Reply(1, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("GET", key)));
  EXPECT_EQ(Reply(3, "$1\r\nv\r\n"), "$1\r\nv\r\n");
}

TEST_F(HotMoveTest, AReadThatWaitsIsForgottenWhenTheHoldIsCalledOff) {
  Ask({"GET", key});
  BeginHold();
  Reply(0, kWrongType);
  AdoptAndResume(world.MakeTopology({0, 1, 2}));
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("GET", key)));
  EXPECT_EQ(Reply(1, "$1\r\nv\r\n"), "$1\r\nv\r\n");
}

TEST_F(HotMoveTest, ReadsThatWaitChangeTheirOrder) {
  client->Send(Command({"GET", key}) + Command({"STRLEN", key}));
  BeginHold();
  Reply(0, kWrongType);
  Reply(0, ":9\r\n");
  BeginMove();
  Reply(1, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("GET", key), ElementsAre("STRLEN", key)));
  EXPECT_EQ(Reply(3, "$1\r\nv\r\n:1\r\n"), "$1\r\nv\r\n:1\r\n");
}

TEST_F(HotMoveTest, AClientThatGoesLeavesAReadWaitingForTheMove) {
  Ask({"GET", key});
  BeginHold();
  Reply(0, kWrongType);
  client.reset();
  BeginMove();
  world.Reply(1, BatchReply(1));
  world.Reply(3, "$1\r\nv\r\n");
  EXPECT_EQ(world.requests.in_use(), 0u);
}

TEST_F(HotMoveTest, AFallbackOfAKeyThatStaysWaitsForTheHold) {
  const std::string still = StillKey(1);
  const auto stays = hot.Make(still, {0});
  hot.Fill(*stays);
  Ask({"GET", still});
  BeginHold();
  Reply(0, kWrongType);
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("GET", still)));
}

TEST_F(HotMoveTest, TheKeyIsAskedBeforeItHasBeenPulled) {
  BeginMove();
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("GET", copy))) << "its value does not change";
  EXPECT_EQ(Reply(0, "$-1\r\n"), "");
  EXPECT_EQ(Reply(0, ":0\r\n"), "");
  EXPECT_EQ(world.TakeRequests(1), BatchOf({key}));
  EXPECT_THAT(world.TakeRequests(3), IsEmpty());
  Reply(1, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("GET", key)));
  EXPECT_EQ(Reply(3, "$1\r\nv\r\n"), "$1\r\nv\r\n");
}

TEST_F(HotMoveTest, AKeyIsAskedForWhereItWasBeforeTheNextMove) {
  BeginMove();
  Ask({"GET", key});
  Reply(0, kWrongType);
  EXPECT_EQ(world.TakeRequests(1), BatchOf({key}));
  // It turns back while the key is on its way.
  const auto back = world.MakePlan(four, three);
  AdoptAndResume(HoldingTopology(++epoch, 1, back));
  Reply(1, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(3), IsEmpty()) << "held";
  AdoptAndResume(MovingTopology(++epoch, 2, back));
  EXPECT_THAT(world.TakeRequests(3), SizeIs(6)) << "it is brought back first";
  Reply(3, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("GET", key)));
  EXPECT_EQ(Reply(1, "$1\r\nv\r\n"), "$1\r\nv\r\n");
}

TEST_F(HotMoveTest, AKeyIsAskedForWhereItWasBeforeTheMoveTurnedBack) {
  BeginMove();
  Ask({"GET", key});
  Reply(0, kWrongType);
  EXPECT_EQ(world.TakeRequests(1), BatchOf({key}));
  const auto back = world.MakePlan(four, three);
  AdoptAndResume(MovingTopology(++epoch, 2, back));
  Reply(1, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(1), IsEmpty()) << "it may have arrived at the other";
  EXPECT_THAT(world.TakeRequests(3), SizeIs(6));
  Reply(3, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("GET", key)));
  EXPECT_EQ(Reply(1, "$1\r\nv\r\n"), "$1\r\nv\r\n");
}

TEST_F(HotMoveTest, AKeyThatCannotBePulledShowsAsMissing) {
  BeginMove();
  Ask({"GET", key});
  Reply(0, "$-1\r\n");
  Reply(0, ":0\r\n");
  EXPECT_THAT(Reply(1, BatchReply(1, "-ERR Target instance replied with error: OOM\r\n")), StartsWith("-"));
  EXPECT_EQ(client->session().pending(), 0u);
}

// The MGET asks the key itself once it is there, and may see what the copy does not show.
TEST_F(HotMoveTest, AReadBehindOneOfSeveralKeysThatWaitsForThemIsAnsweredByACopy) {
  BeginMove();
  client->Send(Command({"MGET", key, StillKey(2)}) + Command({"GET", key}));
  world.EndTurn();
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
  Reply(1, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("MGET", key)));
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
  Reply(3, "*1\r\n$1\r\na\r\n");
  EXPECT_EQ(Reply(2, "*1\r\n$1\r\nb\r\n"), "*2\r\n$1\r\na\r\n$1\r\nb\r\n");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("GET", copy)));
}

TEST_F(HotMoveTest, AReadOfSeveralKeysWaitsForThemWhileItsClientsReadsAreAtACopy) {
  BeginMove();
  client->Send(Command({"GET", key}) + Command({"MGET", key, StillKey(2)}) + Command({"GET", key}));
  world.EndTurn();
  EXPECT_THAT(world.TakeRequests(0), SizeIs(1));
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_EQ(Reply(0, "$1\r\nv\r\n"), "$1\r\nv\r\n");
  EXPECT_EQ(world.TakeRequests(1), BatchOf({key}));
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
}

TEST_F(HotMoveTest, AReadOfSeveralKeysThatAreThereSparesTheCopies) {
  BeginMove();
  Ask({"TTL", key});
  Reply(1, BatchReply(1));
  Reply(3, ":-1\r\n");
  world.TakeRequests(3);
  Ask({"MGET", key, StillKey(2)});
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("MGET", copy)));
  EXPECT_THAT(world.TakeRequests(3), IsEmpty());
}

// It was about to ask a copy when it had to wait for room elsewhere.
TEST_F(HotMoveTest, AReadOfSeveralKeysThatHadNoRoomHangsWhenTheMoveBegins) {
  FakeClient other(world.environment, 8);
  other.Send(Command({"GET", StillKey(2)}));
  world.shard_environment.settings.in_flight = 1;
  Ask({"MGET", key, StillKey(2)});
  ASSERT_TRUE(client->session().stalled());
  world.shard_environment.settings.in_flight = 1'000;
  BeginMove();
  EXPECT_FALSE(client->session().stalled());
  EXPECT_EQ(world.TakeRequests(1), BatchOf({key}));
}

// The key is written at its new shard, which nobody has asked yet.
TEST_F(HotMoveTest, AWriteThatWaitsForItsKeyIsCountedTooLate) {
  BeginMove();
  Ask({"SET", key, "new"});
  EXPECT_TRUE(placement->key->state().written());
  FakeClient other(world.environment, 8);
  other.Send(Command({"GET", key}));
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
  Reply(1, BatchReply(1));
  EXPECT_EQ(Reply(3, "+OK\r\n"), "+OK\r\n");
  EXPECT_FALSE(placement->key->state().written());
  Reply(3, "$3\r\nnew\r\n");
}

TEST_F(HotMoveTest, AFillAsksForAKeyThatIsNotThere) {
  placement->filled_generation = UINT64_MAX;
  placement->buckets[0]->copy.Forget(placement->buckets[0]->copy.Get()->id);
  BeginMove();
  hot.ReadByOthers(key, 8);
  EXPECT_FALSE(placement->filling.load());
  world.Reply(1, BatchReply(1));
  world.TakeRequests(3);
  Ask({"GET", key});
  EXPECT_TRUE(placement->filling.load());
  EXPECT_THAT(world.TakeRequests(3),
              ElementsAre(ElementsAre("MEMORY", "USAGE", key), ElementsAre("GET", key)));
}

TEST_F(HotMoveTest, AFillThatAHoldOvertakesAsksTheOldShard) {
  placement->filled_generation = UINT64_MAX;
  placement->buckets[0]->copy.Forget(placement->buckets[0]->copy.Get()->id);
  hot.ReadByOthers(key, 4);
  ASSERT_TRUE(placement->filling.load());
  world.TakeRequests(1);
  BeginHold();
  Reply(1, "+a\r\n+b\r\n+c\r\n:100\r\n+d\r\n");
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_FALSE(placement->filling.load());
}

TEST_F(HotMoveTest, AWriteInDoubtIsForgottenWhenTheNewShardHasAnswered) {
  BeginMove();
  Ask({"GET", StillKey(1)});
  Ask({"SET", key, "new"});
  Reply(1, "$1\r\nv\r\n");
  Reply(1, BatchReply(1));
  client->Take();
  Ask({"GET", StillKey(1)});  // the old shard has something to answer
  world.now_usec += 10;
  world.session(3).FailSentBefore(world.now_usec, "SHARDTIMEOUT s3 did not answer in time");
  world.EndTurn();
  EXPECT_EQ(world.session(1).in_flight(), 1u);
  hot.Tick();
  Reply(3, "+OK\r\n");
  hot.Tick();
  EXPECT_TRUE(placement->key->state().written()) << "the old shard may not have done with it";
  Reply(1, "$1\r\nv\r\n");
  hot.Tick();
  EXPECT_FALSE(placement->key->state().written());
}

TEST_F(HotMoveTest, AKeyThatBecomesHotInAMoveSettlesWithOneOfItsShards) {
  BeginMove();
  const std::string other = MovingKey(1, 3, "other");
  Ask({"GET", StillKey(1)});
  const auto late = hot.Spread(other, {0});
  hot.Tick();
  EXPECT_TRUE(late->key->state().written());
  Reply(1, "$1\r\nv\r\n");
  hot.Tick();
  EXPECT_FALSE(late->key->state().written());
}

// Whoever drains for the move waits for what hot keys have renewed meanwhile, too.
TEST_F(HotMoveTest, AHoldIsDrainedBeforeARequestInSeveralStepsHasEnded) {
  BeginMove();
  const std::string other = MovingKey(2);
  Ask({"SET", other, "v"});
  hot.Spread(world.KeyOn(0, "late"), {2});
  hot.Tick();
  plan = world.MakePlan(four, three);
  BeginHold();
  EXPECT_FALSE(Drained());
  Reply(2, BatchReply(1));
  EXPECT_FALSE(Drained());
  Reply(3, "+OK\r\n");
  EXPECT_TRUE(Drained());
}

// The fixture looks for requests that are left.
TEST_F(HotMoveTest, AWorkerThatEndsLeavesAReadBehindThatWouldWaitForItsKey) {
  BeginMove();
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(0), SizeIs(1));
}

}  // namespace
}  // namespace ringway::proxy
