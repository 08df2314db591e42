#include "proxy/move/relay.h"

#include "tests/unit/proxy/route/move_fixture.h"

namespace ringway::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class RelayTest : public MoveTest {
 protected:
  RelayTest() { Move(world.MakePlan(three, four, config::Mover::kRelay)); }

  static Frames DumpOf(const std::string& key) { return {{"MULTI"}, {"DUMP", key}, {"PTTL", key}, {"EXEC"}}; }
  static std::string DumpReply(const std::string& dump, const std::string& ttl) {
    return "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n" + dump + ":" + ttl + "\r\n";
  }
  static Frames RestoreOf(const std::string& key, const std::string& ttl) {
    return {{"RESTORE", key, ttl, "dump", "REPLACE"}};
  }
};

TEST_F(RelayTest, KeyIsAtTheTargetBeforeItLeavesTheSource) {
  const std::string key = MovingKey(1);
  EXPECT_EQ(Ask({"GET", key}), "");
  EXPECT_EQ(world.TakeRequests(1), DumpOf(key));
  Reply(1, DumpReply(Bulk("dump"), "-1"));
  EXPECT_EQ(world.TakeRequests(3), RestoreOf(key, "0"));
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  Reply(3, "+OK\r\n");
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("DEL", key)));
  EXPECT_THAT(world.TakeRequests(3), IsEmpty());
  Reply(1, ":1\r\n");
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("GET", key)));
  EXPECT_EQ(Reply(3, "$1\r\nv\r\n"), "$1\r\nv\r\n");
  EXPECT_TRUE(world.puller.Has(0, key));
  EXPECT_EQ(plan->figures().pairs[plan->PairOf(1, 3)].keys_on_access, 1u);
  EXPECT_EQ(plan->figures().pairs[plan->PairOf(1, 3)].bytes, 4u);
}

TEST_F(RelayTest, TimeToLiveShrinksByWhatHasPassed) {
  const std::string key = MovingKey(1);
  Ask({"GET", key});
  world.TakeRequests(1);
  world.now_usec += 30'001;
  Reply(1, DumpReply(Bulk("dump"), "100"));
  EXPECT_EQ(world.TakeRequests(3), RestoreOf(key, "69"));
  Reply(3, "+OK\r\n");
  Reply(1, ":1\r\n");
  Reply(3, "$-1\r\n");
}

TEST_F(RelayTest, KeyThatExpiresOnTheWayIsNotRestored) {
  const std::string key = MovingKey(1);
  Ask({"GET", key});
  world.TakeRequests(1);
  world.now_usec += 100'000;
  Reply(1, DumpReply(Bulk("dump"), "100"));
  EXPECT_THAT(world.TakeRequests(3), IsEmpty());
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("DEL", key)));
  Reply(1, ":0\r\n");
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("GET", key)));
  Reply(3, "$-1\r\n");
  EXPECT_EQ(plan->figures().pairs[plan->PairOf(1, 3)].keys_absent, 1u);
}

TEST_F(RelayTest, KeyThatIsNotThereNeedsNoFurtherStep) {
  const std::string key = MovingKey(1);
  Ask({"GET", key});
  world.TakeRequests(1);
  Reply(1, DumpReply("$-1\r\n", "-2"));
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("GET", key)));
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  Reply(3, "$-1\r\n");
}

TEST_F(RelayTest, TwoWhoAskShareOneRelay) {
  const std::string key = MovingKey(1);
  Ask({"INCR", key});
  int told = 0;
  world.relay.Move(plan, plan->PairOf(1, 3), 0, key, [&told](const Relay::Result& result) {
    EXPECT_TRUE(result.moved);
    ++told;
  });
  EXPECT_EQ(world.TakeRequests(1), DumpOf(key));
  Reply(1, DumpReply(Bulk("dump"), "-1"));
  Reply(3, "+OK\r\n");
  EXPECT_EQ(told, 0);
  Reply(1, ":1\r\n");
  EXPECT_EQ(told, 1);
  Reply(3, ":1\r\n");
}

TEST_F(RelayTest, NoMoreKeysThanTheLimitAreUnderWay) {
  const auto keys = MovingKeys(Relay::kMaxUnderWay + 1, 1);
  for (const std::string& key : keys) {
    world.relay.Move(plan, plan->PairOf(1, 3), 0, key, [](const Relay::Result&) {});
  }
  EXPECT_THAT(world.TakeRequests(1), SizeIs(4 * Relay::kMaxUnderWay));
  Reply(1, DumpReply("$-1\r\n", "-2"));
  EXPECT_EQ(world.TakeRequests(1), DumpOf(keys.back()));
  for (size_t i = 0; i < Relay::kMaxUnderWay; ++i) Reply(1, DumpReply("$-1\r\n", "-2"));
}

TEST_F(RelayTest, KeyWaitsForCounts) {
  CountingGate& gate = plan->figures().gate;
  const auto period = gate.Close(world.now_usec);
  ASSERT_TRUE(period.has_value());
  const std::string key = MovingKey(1);
  Ask({"GET", key});
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  gate.Leave(*period, world.now_usec);
  world.EndTurn();
  EXPECT_EQ(world.TakeRequests(1), DumpOf(key));
  Reply(1, DumpReply(Bulk("dump"), "-1"));
  Reply(3, "+OK\r\n");
  EXPECT_FALSE(gate.Quiet()) << "it is on both servers";
  Reply(1, ":1\r\n");
  EXPECT_TRUE(gate.Quiet());
  Reply(3, "$-1\r\n");
}

// --- errors in each step: the source has the truth, and the next who asks begins anew ---

TEST_F(RelayTest, SourceThatCannotDumpIsNamed) {
  const std::string key = MovingKey(1);
  Ask({"GET", key});
  EXPECT_THAT(Reply(1, "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n-NOPERM no\r\n:-1\r\n"),
              StartsWith("-MOVEFAIL s1 s1.invalid:6379: NOPERM no"));
  world.TakeRequests(1);
  Ask({"GET", key});
  EXPECT_EQ(world.TakeRequests(1), DumpOf(key));
  Reply(1, DumpReply("$-1\r\n", "-2"));
  Reply(3, "$-1\r\n");
}

TEST_F(RelayTest, FullTargetFailsWritesAndLeavesReadsToTheSource) {
  const std::string key = MovingKey(1);
  Ask({"SET", key, "v"});
  Reply(1, DumpReply(Bulk("dump"), "-1"));
  EXPECT_THAT(Reply(3, "-OOM command not allowed\r\n"), HasSubstr("MOVEFAIL s3"));
  world.TakeRequests(1);
  Ask({"GET", key});
  Reply(1, DumpReply(Bulk("dump"), "-1"));
  Reply(3, "-OOM command not allowed\r\n");
  EXPECT_EQ(Reply(1, "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:1\r\n$1\r\nv\r\n"), "$1\r\nv\r\n");
}

TEST_F(RelayTest, KeyThatCouldNotBeDeletedIsMovedOnceMore) {
  const std::string key = MovingKey(1);
  Ask({"SET", key, "v"});
  Reply(1, DumpReply(Bulk("dump"), "-1"));
  Reply(3, "+OK\r\n");
  world.session(1).FailAll("SHARDDOWN s1 is unreachable");
  world.EndTurn();
  EXPECT_EQ(client->Take(), "-SHARDDOWN s1 is unreachable\r\n");
  EXPECT_FALSE(world.puller.Has(0, key));
  Ask({"SET", key, "v"});
  EXPECT_THAT(world.TakeRequests(3), ElementsAre(ElementsAre("RESTORE", key, "0", "dump", "REPLACE")));
  Reply(1, DumpReply(Bulk("dump"), "-1"));
  EXPECT_EQ(world.TakeRequests(3), RestoreOf(key, "0"));
  Reply(3, "+OK\r\n");
  Reply(1, ":1\r\n");
  EXPECT_EQ(Reply(3, "+OK\r\n"), "+OK\r\n");
}

TEST(RelayWorker, AKeyIsAlwaysOneWorkersAndAllHaveSome) {
  std::vector<int> keys(4, 0);
  for (int i = 0; i < 400; ++i) ++keys[Relay::WorkerOf("key" + std::to_string(i), 4)];
  for (const int count : keys) EXPECT_GT(count, 50);
  EXPECT_EQ(Relay::WorkerOf("any", 1), 0u);
}

}  // namespace
}  // namespace ringway::proxy
