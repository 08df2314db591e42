// Batches of keys on their way: their sizes, what waits for what, and targets that do not take part.
#include "proxy/move/puller.h"

#include "tests/unit/proxy/route/move_fixture.h"

namespace ringway::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr const char* kUnreachable = "-IOERR error or timeout writing to target instance\r\n";
constexpr const char* kFull = "-ERR Target instance replied with error: OOM command not allowed\r\n";

class PullerTest : public MoveTest {
 protected:
  // One turn with a GET of each key.
  void GetAll(const std::vector<std::string>& keys) {
    std::string frames;
    for (const std::string& key : keys) frames += Command({"GET", key});
    client->Send(frames);
    world.EndTurn();
  }
  void AnswerGets(size_t count) {
    for (size_t i = 0; i < count; ++i) Reply(3, "$-1\r\n");
  }
};

TEST_F(PullerTest, KeysOfOneTurnShareOneBatch) {
  Move(world.MakePlan(three, four));
  const auto keys = MovingKeys(Puller::kMaxBatchKeys, 1);
  GetAll(keys);
  EXPECT_EQ(world.TakeRequests(1), BatchOf(keys));
  Reply(1, BatchReply(keys.size()));
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_THAT(world.TakeRequests(3), SizeIs(keys.size()));
  AnswerGets(keys.size());
  EXPECT_EQ(plan->figures().pairs[plan->PairOf(1, 3)].keys_on_access, keys.size());
}

TEST_F(PullerTest, OneKeyMoreThanABatchTakesWaitsForTheNext) {
  Move(world.MakePlan(three, four));
  const auto keys = MovingKeys(Puller::kMaxBatchKeys + 1, 1);
  GetAll(keys);
  EXPECT_THAT(world.TakeRequests(1), SizeIs(Puller::kMaxBatchKeys + 5));
  Reply(1, BatchReply(Puller::kMaxBatchKeys));
  EXPECT_EQ(world.TakeRequests(1), BatchOf({keys.back()}));
  Reply(1, BatchReply(1));
  AnswerGets(keys.size());
}

TEST_F(PullerTest, OneBatchOfAPairAndDatabaseIsUnderWay) {
  Move(world.MakePlan(three, four));
  const auto keys = MovingKeys(3, 1);
  Ask({"GET", keys[0]});
  EXPECT_EQ(world.TakeRequests(1), BatchOf({keys[0]}));
  Ask({"GET", keys[1]});
  Ask({"GET", keys[2]});
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  Ask({"GET", MovingKey(2)});
  EXPECT_THAT(world.TakeRequests(2), SizeIs(6)) << "another source need not wait";
  FakeClient other(world.environment, 8);
  other.session().state().db = 4;
  other.Send(Command({"GET", keys[0]}));
  world.EndTurn();
  EXPECT_THAT(world.TakeRequests(1, 4), SizeIs(6)) << "nor need another database";
  Reply(1, BatchReply(1));
  EXPECT_EQ(world.TakeRequests(1), BatchOf({keys[1], keys[2]}));
  Reply(1, BatchReply(2));
  Reply(2, BatchReply(1));
  ASSERT_TRUE(FakeShard::Feed(world.session(1, 4), BatchReply(1)));
  AnswerGets(4);
  ASSERT_TRUE(FakeShard::Feed(world.session(3, 4), "$-1\r\n"));
}

TEST_F(PullerTest, WhoAsksForAKeyUnderWayIsServedWithIt) {
  Move(world.MakePlan(three, four));
  const std::string key = MovingKey(1);
  Ask({"GET", key});
  FakeClient other(world.environment, 8);
  other.Send(Command({"INCR", key}));
  world.EndTurn();
  EXPECT_EQ(world.TakeRequests(1), BatchOf({key}));
  Reply(1, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("GET", key), ElementsAre("INCR", key)));
  Reply(3, "$-1\r\n:1\r\n");
  EXPECT_EQ(other.Take(), ":1\r\n");
}

TEST_F(PullerTest, AbsentKeysAreCountedAndRemembered) {
  Move(world.MakePlan(three, four));
  const std::string key = MovingKey(1);
  Ask({"GET", key});
  Reply(1, "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*4\r\n:0\r\n$-1\r\n+NOKEY\r\n:0\r\n");
  Reply(3, "$-1\r\n");
  const MoveFigures::Pair& figures = plan->figures().pairs[plan->PairOf(1, 3)];
  EXPECT_EQ(figures.keys_absent, 1u);
  EXPECT_EQ(figures.keys_on_access, 0u);
  EXPECT_TRUE(world.puller.Has(0, key));
}

TEST_F(PullerTest, KeysPulledUnderAnotherPlanAreForgotten) {
  Move(world.MakePlan(three, four));
  const std::string key = MovingKey(1);
  Ask({"GET", key});
  Reply(1, BatchReply(1));
  Reply(3, "$-1\r\n");
  Move(plan);
  EXPECT_TRUE(world.puller.Has(0, key)) << "the same plan, published once more";
  Move(world.MakePlan(three, four));
  EXPECT_FALSE(world.puller.Has(0, key));
}

// --- limits ---

TEST_F(PullerTest, WhoFindsTheQueueFullWaitsAndIsWoken) {
  world.shard_environment.settings.in_flight = 4;
  Move(world.MakePlan(three, four));
  const auto keys = MovingKeys(5, 1);
  GetAll({keys[0], keys[1], keys[2], keys[3]});
  EXPECT_FALSE(client->session().stalled());
  Ask({"GET", keys[4]});
  EXPECT_TRUE(client->session().stalled());
  EXPECT_THAT(world.woken, IsEmpty());
  Reply(1, BatchReply(4));
  EXPECT_THAT(world.woken, ElementsAre(7));
  client->session().MarkResumable();
  AnswerGets(4);
  EXPECT_FALSE(client->session().stalled());
  world.TakeRequests(1);
  Reply(1, BatchReply(1));
  AnswerGets(1);
}

TEST_F(PullerTest, BatchWaitsForRoomOnTheSourcesConnection) {
  world.shard_environment.settings.in_flight = 3;
  Move(world.MakePlan(three, four));
  for (int i = 0; i < 3; ++i) Ask({"GET", StillKey(1)});
  world.TakeRequests(1);
  const std::string key = MovingKey(1);
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  Reply(1, "$-1\r\n");
  EXPECT_EQ(world.TakeRequests(1), BatchOf({key}));
  Reply(1, "$-1\r\n$-1\r\n" + BatchReply(1));
  AnswerGets(1);
}

TEST_F(PullerTest, BatchWaitsForCounts) {
  Move(world.MakePlan(three, four));
  CountingGate& gate = plan->figures().gate;
  const auto period = gate.Close(world.now_usec);
  ASSERT_TRUE(period.has_value());
  const std::string key = MovingKey(1);
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  gate.Leave(*period, world.now_usec);
  world.EndTurn();
  EXPECT_EQ(world.TakeRequests(1), BatchOf({key}));
  EXPECT_FALSE(gate.Quiet());
  Reply(1, BatchReply(1));
  EXPECT_TRUE(gate.Quiet());
  AnswerGets(1);
}

TEST_F(PullerTest, SourceWaitsForTheTargetLessLongThanClientsForTheSource) {
  world.shard_environment.settings.request_timeout_usec = 600'000;
  Move(world.MakePlan(three, four));
  const std::string key = MovingKey(1);
  Ask({"GET", key});
  EXPECT_EQ(world.TakeRequests(1), BatchOf({key}, 3, "0", "300"));
  Reply(1, BatchReply(1));
  AnswerGets(1);
}

// --- targets in trouble ---

TEST_F(PullerTest, KeysOfARefusedBatchAreTriedOneByOne) {
  Move(world.MakePlan(three, four));
  const auto keys = MovingKeys(2, 1);
  client->Send(Command({"SET", keys[0], "a"}) + Command({"SET", keys[1], "b"}));
  world.EndTurn();
  EXPECT_EQ(world.TakeRequests(1), BatchOf(keys));
  EXPECT_EQ(Reply(1, BatchReply(2, kFull)), "");
  EXPECT_EQ(world.TakeRequests(1), BatchOf({keys[0]}));
  EXPECT_THAT(Reply(1, BatchReply(1, kFull)), StartsWith("-MOVEFAIL "));
  EXPECT_EQ(world.TakeRequests(1), BatchOf({keys[1]}));
  Reply(1, BatchReply(1));
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("SET", keys[1], "b")));
  EXPECT_EQ(Reply(3, "+OK\r\n"), "+OK\r\n");
}

TEST_F(PullerTest, UnreachableTargetRestsUntilItHasAnsweredAPing) {
  Move(world.MakePlan(three, four));
  const auto keys = MovingKeys(3, 1);
  Ask({"DEL", keys[0]});
  EXPECT_THAT(Reply(1, BatchReply(1, kUnreachable)), StartsWith("-MOVEFAIL "));
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("PING")));
  world.TakeRequests(1);
  EXPECT_THAT(Ask({"DEL", keys[0]}), StartsWith("-MOVEFAIL s3 "));
  world.now_usec += Puller::kFirstRestUsec;
  EXPECT_THAT(Ask({"DEL", keys[0]}), StartsWith("-MOVEFAIL s3 ")) << "it has not answered";
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  Reply(3, "+PONG\r\n");
  client->Send(Command({"DEL", keys[1]}) + Command({"DEL", keys[2]}));
  world.EndTurn();
  EXPECT_EQ(world.TakeRequests(1), BatchOf({keys[1]})) << "one key, to see";
  Reply(1, BatchReply(1));
  EXPECT_EQ(world.TakeRequests(1), BatchOf({keys[2]}));
  Reply(1, BatchReply(1));
  EXPECT_EQ(Reply(3, ":1\r\n:1\r\n"), ":1\r\n:1\r\n");
}

TEST_F(PullerTest, AnsweredPingDoesNotShortenTheRestWhichGrows) {
  Move(world.MakePlan(three, four));
  const std::string key = MovingKey(1);
  int64_t rest = Puller::kFirstRestUsec;
  for (int i = 0; i < 6; ++i) {
    Ask({"DEL", key});
    EXPECT_EQ(world.TakeRequests(1), BatchOf({key}));
    Reply(1, BatchReply(1, kUnreachable));
    Reply(3, "+PONG\r\n");
    world.now_usec += rest - 1;
    EXPECT_THAT(Ask({"DEL", key}), StartsWith("-MOVEFAIL "));
    EXPECT_THAT(world.TakeRequests(1), IsEmpty());
    world.now_usec += 1;
    rest = std::min(2 * rest, Puller::kMaxRestUsec);
  }
}

TEST_F(PullerTest, WhoWaitsBehindAnUnreachableTargetIsToldAtOnce) {
  Move(world.MakePlan(three, four));
  const auto keys = MovingKeys(2, 1);
  Ask({"DEL", keys[0]});
  world.TakeRequests(1);
  Ask({"DEL", keys[1]});
  Reply(1, BatchReply(1, kUnreachable));
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_EQ(in_flight(), 1u) << "the PING";
  Reply(3, "+PONG\r\n");
}

TEST_F(PullerTest, LargeKeyGetsMoreTimeOnce) {
  Move(world.MakePlan(three, four));
  const auto keys = MovingKeys(2, 1);
  constexpr uint64_t kBytes = 100 * 1024 * 1024;
  client->Send(Command({"DEL", keys[0]}) + Command({"DEL", keys[1]}));
  world.EndTurn();
  world.TakeRequests(1);
  Reply(1, BatchReply(2, kUnreachable, kBytes));
  EXPECT_EQ(world.TakeRequests(1), BatchOf({keys[0]})) << "which of them is large is not known";
  Reply(1, BatchReply(1, kUnreachable, kBytes));
  EXPECT_EQ(world.TakeRequests(1), BatchOf({keys[0]}, 3, "0", "11240"));
  EXPECT_THAT(Reply(1, BatchReply(1, kUnreachable, kBytes)), StartsWith("-MOVEFAIL "));
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  Reply(3, "+PONG\r\n");
}

}  // namespace
}  // namespace ringway::proxy
