#include "proxy/topology.h"

#include "tests/unit/proxy/route/move_fixture.h"

namespace ringway::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<uint32_t> IdsOf(const std::vector<Shard>& shards) {
  std::vector<uint32_t> ids;
  for (const Shard& shard : shards) ids.push_back(shard.id);
  return ids;
}

std::vector<std::string> Keys() {
  std::vector<std::string> keys;
  for (int i = 0; i < 2000; ++i) keys.push_back("key" + std::to_string(i));
  return keys;
}

class TopologyTest : public ::testing::Test {
 protected:
  const std::vector<size_t> three = {0, 1, 2};
  const std::vector<size_t> four = {0, 1, 2, 3};
  CoreWorld world{{.shards = 4, .down = {}, .hash_tag = "{}"}};
};

TEST_F(TopologyTest, WhoJoinsOwnsNothingInAHoldAndWhoLeavesNothingInAMove) {
  const auto joins = world.MakePlan(three, four);
  const auto hold = HoldingTopology(7, 2, joins);
  EXPECT_TRUE(hold->holding());
  EXPECT_EQ(hold->epoch, 7u);
  EXPECT_EQ(hold->generation, 2u);
  EXPECT_THAT(IdsOf(hold->shards), ElementsAre(0, 1, 2, 3));
  EXPECT_FALSE(hold->IsMember(3));
  EXPECT_EQ(hold->Share(3), 0);
  const auto leaves = world.MakePlan(four, {1, 2, 3});
  const auto move = MovingTopology(8, 3, leaves);
  EXPECT_TRUE(move->moving());
  EXPECT_THAT(IdsOf(move->shards), ElementsAre(1, 2, 3, 0));
  EXPECT_FALSE(move->IsMember(3));
  for (const std::string& key : Keys()) EXPECT_LT(move->Locate(key), 3u);
}

TEST_F(TopologyTest, KeysAreRoutedByTheRingBeforeInAHoldAndByTheOneAfterInAMove) {
  const auto plan = world.MakePlan(three, four);
  const auto before = world.MakeTopology(three);
  const auto after = world.MakeTopology(four);
  const auto hold = HoldingTopology(2, 0, plan);
  const auto move = MovingTopology(3, 1, plan);
  size_t moving = 0;
  for (const std::string& key : Keys()) {
    const uint64_t hash = hold->ring.Hash(key);
    EXPECT_EQ(hold->Locate(key), before->Locate(key));
    EXPECT_EQ(move->Locate(key), after->Locate(key));
    EXPECT_EQ(plan->Moves(hash), before->Locate(key) != after->Locate(key));
    EXPECT_EQ(hold->Source(hash).id, before->shards[before->Locate(key)].id);
    EXPECT_EQ(move->Target(hash).id, after->shards[after->Locate(key)].id);
    moving += plan->Moves(hash) ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(moving) / 2000, plan->moving_share(), 0.05);
  EXPECT_NEAR(plan->moving_share(), 0.25, 0.03);
}

TEST_F(TopologyTest, PairsAreThoseThatKeysMoveBetween) {
  const auto plan = world.MakePlan(three, four);
  ASSERT_GE(plan->pairs().size(), 3u);
  EXPECT_THAT(plan->figures().pairs, SizeIs(plan->pairs().size()));
  for (uint32_t i = 0; i < plan->pairs().size(); ++i) {
    const MovePlan::Pair& pair = plan->pairs()[i];
    EXPECT_EQ(plan->PairOf(pair.from, pair.to), i);
    EXPECT_GT(pair.share, 0);
  }
  EXPECT_THAT(IdsOf(plan->Joining()), ElementsAre(3));
  EXPECT_THAT(plan->Leaving(), IsEmpty());
}

TEST_F(TopologyTest, ReplacedShardsKeysAllMoveAlthoughItsNameOwnsThemStill) {
  const auto before = world.MakeTopology(three);
  std::vector<Shard> after = before->shards;
  after[1].id = 9;
  after[1].config.address = "elsewhere.invalid:6379";
  const MovePlan plan(1, before->shards, before->ring, after, before->ring, {}, config::Mover::kMigrate);
  ASSERT_THAT(plan.pairs(), SizeIs(1));
  EXPECT_NEAR(plan.moving_share(), before->ring.Share(1), 1e-9);
  for (const std::string& key : Keys()) {
    EXPECT_EQ(plan.Moves(before->ring.Hash(key)), before->Locate(key) == 1);
  }
  EXPECT_THAT(IdsOf(plan.Leaving()), ElementsAre(1));
  EXPECT_THAT(IdsOf(plan.Joining()), ElementsAre(9));
}

TEST_F(TopologyTest, GivenUpShardsKeysAreNotFetched) {
  const auto before = world.MakeTopology(four);
  const auto after = world.MakeTopology({0, 1, 2});
  const MovePlan plan(1, before->shards, before->ring, after->shards, after->ring, {3},
                      config::Mover::kMigrate);
  EXPECT_TRUE(plan.IsGivenUp(3));
  for (const std::string& key : Keys()) {
    const uint64_t hash = before->ring.Hash(key);
    if (before->Locate(key) == 3) {
      EXPECT_FALSE(plan.Moves(hash));
    }
  }
  for (const MovePlan::Pair& pair : plan.pairs()) EXPECT_NE(pair.from, 3u);
}

TEST_F(TopologyTest, ServersInMotionAreThoseOfPairsAndThenThoseThatLeave) {
  const auto plan = world.MakePlan(four, {1, 2, 3});
  const std::vector<uint32_t> servers = HoldingTopology(2, 0, plan)->ServersInMotion();
  EXPECT_THAT(servers, ElementsAre(0, 1, 2, 3));
  const auto left = StableTopology(3, 1, plan->diff().to(), plan->to(), plan->Leaving());
  EXPECT_EQ(left->phase, Topology::Phase::kLeaving);
  EXPECT_THAT(left->ServersInMotion(), ElementsAre(0));
  EXPECT_THAT(world.MakeTopology(four)->ServersInMotion(), IsEmpty());
}

}  // namespace
}  // namespace ringway::proxy
