#include "proxy/hotkey/shard_loads.h"

#include <gtest/gtest.h>

namespace ringway::proxy {
namespace {

// Two shards, of which the second has about three quarters of the ring.
class ShardLoadsTest : public ::testing::Test {
 protected:
  ShardLoadsTest() {
    std::vector<Shard> shards(2);
    for (uint32_t i = 0; i < 2; ++i) {
      shards[i].id = i;
      shards[i].config.name = "s" + std::to_string(i);
      shards[i].config.address = shards[i].config.name + ":1";
      shards[i].config.weight = i == 0 ? 1 : 3;
    }
    topology_ = StableTopology(1, 0, RingOf(shards, ring::RingOptions{}), shards);
    loads_.Adopt(*topology_);
  }
  void SetInFlight(uint64_t first, uint64_t second) {
    stats_.by_shard.At(0).in_flight.Set(first);
    stats_.by_shard.At(1).in_flight.Set(second);
  }

  WorkerStats stats_;
  ShardLoads loads_{stats_};
  std::shared_ptr<const Topology> topology_;
};

TEST_F(ShardLoadsTest, AShardOfThreeTimesTheWeightIsSpared) {
  SetInFlight(10, 20);
  EXPECT_TRUE(loads_.IsLighter(1, 0));
  EXPECT_FALSE(loads_.IsLighter(0, 1));
  SetInFlight(10, 40);
  EXPECT_TRUE(loads_.IsLighter(0, 1));
}

TEST_F(ShardLoadsTest, IdleShardsAreAllTheSame) {
  stats_.by_shard.At(0).requests.Add(100);
  stats_.by_shard.At(1).requests.Add(200);
  EXPECT_TRUE(loads_.IsLighter(1, 0));
  stats_.by_shard.At(1).requests.Add(200);
  EXPECT_TRUE(loads_.IsLighter(0, 1));
}

TEST_F(ShardLoadsTest, WhatWasLongAgoCountsForEver) {
  stats_.by_shard.At(0).requests.Add(1'000'000);
  for (int i = 0; i < 30; ++i) loads_.Tick();
  stats_.by_shard.At(1).requests.Add(100);
  EXPECT_TRUE(loads_.IsLighter(0, 1));
}

TEST_F(ShardLoadsTest, FiguresThatAreSetToZeroMakeAShardLookBusy) {
  stats_.by_shard.At(0).requests.Add(1'000'000);
  for (int i = 0; i < 30; ++i) loads_.Tick();
  stats_.by_shard.At(0).requests.Set(0);
  loads_.Tick();
  stats_.by_shard.At(1).requests.Add(100);
  EXPECT_TRUE(loads_.IsLighter(0, 1));
}

}  // namespace
}  // namespace ringway::proxy
