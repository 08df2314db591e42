// What finding hot keys is for: that no shard has much more to do than another, however uneven the keys are.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "proxy/hotkey/hot_key_judge.h"
#include "proxy/hotkey/key_sampler.h"
#include "ring/hash_ring.h"
#include "tests/support/zipf.h"

namespace ringway::proxy {
namespace {

constexpr uint32_t kShards = 10;
constexpr size_t kKeys = 1'000'000;
constexpr int kRequestsPerRound = 200'000;  // 400,000 a second
constexpr int kMemory = 100;                // requests until half of what shards had to do is done

ring::HashRing Ring(uint32_t salt) {
  std::vector<ring::Member> members;
  for (uint32_t i = 0; i < kShards; ++i) {
    members.push_back({"shard" + std::to_string(i) + "-" + std::to_string(salt), "", 1});
  }
  return ring::HashRing(std::move(members), {});
}

// Two workers, the control thread and the shards, without anything between them.
class Simulation {
 public:
  Simulation(uint32_t seed, const test::Zipf& zipf)
      : zipf_(zipf), random_(seed), ring_(Ring(seed)), load_(kShards, 0), recent_(kShards, 0) {
    for (uint64_t worker = 0; worker < 2; ++worker) {
      samplers_.push_back(std::make_unique<KeySampler>(seed * 2 + worker));
    }
  }

  void Round() {
    for (int i = 0; i < kRequestsPerRound; ++i) {
      const std::string key = "key:" + std::to_string(zipf_(random_));
      samplers_[random_() % 2]->Note(0, key, true);
      const uint32_t shard = ShardFor(key);
      ++load_[shard];
      ++recent_[shard];
      if (i % kMemory == 0) {
        for (double& recent : recent_) recent /= 2;
      }
    }
    std::vector<KeyReport> reports;
    for (auto& sampler : samplers_) reports.push_back(sampler->TakeReport());
    buckets_.clear();
    for (const HotKeyJudge::Verdict& verdict : judge_.Decide(reports, kShards, options_)) {
      if (verdict.buckets < 2) continue;
      ring_.Successors(ring_.Hash(verdict.key), verdict.buckets, &buckets_[verdict.key]);
    }
  }

  // Since it was last asked: the busiest shard's load over the mean.
  double MaxOverMean() {
    const double mean = std::accumulate(load_.begin(), load_.end(), 0.0) / kShards;
    const double max = *std::max_element(load_.begin(), load_.end());
    std::fill(load_.begin(), load_.end(), 0);
    return max / mean;
  }
  size_t hot_keys() const { return buckets_.size(); }
  config::HotKeys& options() { return options_; }

 private:
  // Two buckets by chance, then the one that has had less to do lately, as requests in flight show it.
  uint32_t ShardFor(const std::string& key) {
    const auto hot = buckets_.find(key);
    if (hot == buckets_.end()) return ring_.Locate(key);
    const std::vector<uint32_t>& shards = hot->second;
    const size_t one = random_() % shards.size();
    const size_t other = (one + 1 + random_() % (shards.size() - 1)) % shards.size();
    return recent_[shards[one]] <= recent_[shards[other]] ? shards[one] : shards[other];
  }

  const test::Zipf& zipf_;
  std::mt19937 random_;
  const ring::HashRing ring_;
  config::HotKeys options_;
  std::vector<std::unique_ptr<KeySampler>> samplers_;
  HotKeyJudge judge_;
  std::map<std::string, std::vector<uint32_t>> buckets_;
  std::vector<double> load_;
  std::vector<double> recent_;
};

TEST(HotKeyProperty, NoShardIsMuchBusierThanTheOthers) {
  const test::Zipf zipf(kKeys, 1.2);
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Simulation simulation(seed, zipf);
    for (int i = 0; i < 4; ++i) simulation.Round();
    simulation.MaxOverMean();
    for (int i = 0; i < 4; ++i) simulation.Round();
    const double spread = simulation.MaxOverMean();
    std::printf("seed %u: %zu hot keys, busiest / mean %.4f\n", seed, simulation.hot_keys(), spread);
    EXPECT_LT(spread, 1.08);
    EXPECT_GE(simulation.hot_keys(), 5u);
    EXPECT_LE(simulation.hot_keys(), 30u);

    simulation.options().detect = false;
    simulation.Round();
    simulation.MaxOverMean();
    simulation.Round();
    EXPECT_GT(simulation.MaxOverMean(), 1.5) << "without spreading";
  }
}

TEST(HotKeyProperty, EvenTrafficHasNoHotKeys) {
  const test::Zipf zipf(10'000, 0);
  Simulation simulation(1, zipf);
  for (int i = 0; i < 6; ++i) {
    simulation.Round();
    EXPECT_EQ(simulation.hot_keys(), 0u);
  }
}

}  // namespace
}  // namespace ringway::proxy
