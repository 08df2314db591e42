#include "proxy/hotkey/hot_key_judge.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "proxy/hotkey/heavy_hitters.h"
#include "proxy/hotkey/hot_set.h"

namespace ringway::proxy {
namespace {

constexpr uint32_t kShards = 8;
// With a threshold of a quarter of a shard's share, a 32nd of these is the limit: 1000 samples, which stand
// for 16,000 requests a second.
constexpr uint64_t kTotal = 32'000;
constexpr uint64_t kLimit = 1000;
constexpr int kRounds = HotKeyJudge::kRoundsToCool;

KeyCount Reads(const std::string& key, uint64_t count) { return {0, key, count, 0, count}; }

class HotKeyJudgeTest : public testing::Test {
 protected:
  HotKeyJudgeTest() {
    options_.threshold = 0.25;
    options_.min_rate = 1;
  }

  std::vector<HotKeyJudge::Verdict> Decide(std::vector<KeyCount> keys, uint64_t total = kTotal) {
    return judge_.Decide({KeyReport{total, std::move(keys)}}, shards_, options_);
  }
  // Buckets of a key after a round in which only it was seen: 1 unless it is hot.
  uint32_t Buckets(const KeyCount& key) {
    for (const auto& verdict : Decide({key})) {
      if (verdict.key == key.key && verdict.db == key.db) return verdict.buckets;
    }
    return 1;
  }
  bool IsHot(const KeyCount& key) { return Buckets(key) > 1; }
  // Rounds until a hot key is not hot any more, at most `most`.
  int RoundsHot(const KeyCount& key, int most = 20) {
    int rounds = 0;
    while (rounds < most && IsHot(key)) ++rounds;
    return rounds;
  }

  config::HotKeys options_;
  uint32_t shards_ = kShards;
  HotKeyJudge judge_;
};

TEST_F(HotKeyJudgeTest, KeyOfAnOrdinaryShareIsNotSpread) {
  EXPECT_FALSE(IsHot(Reads("k", kLimit)));
  EXPECT_TRUE(IsHot(Reads("k", kLimit + 1)));
}

TEST_F(HotKeyJudgeTest, KeyOfALowRateIsNotSpreadHoweverLargeItsShare) {
  options_.min_rate = 16 * kLimit;
  EXPECT_FALSE(IsHot(Reads("k", kLimit - 1)));
  EXPECT_FALSE(IsHot(Reads("k", kLimit)));  // the rate would do, the share does not
  EXPECT_EQ(Decide({Reads("j", kLimit - 1)}, kLimit)[0].buckets, 1u);
  EXPECT_EQ(Decide({Reads("j", kLimit)}, kLimit)[0].buckets, kShards);
}

TEST_F(HotKeyJudgeTest, WritesDoNotCountForTheRate) {
  options_.min_rate = 16 * kLimit;
  EXPECT_FALSE(IsHot({0, "k", 1800, 0, kLimit - 1}));
  EXPECT_TRUE(IsHot({0, "k", 1800, 0, kLimit}));
}

TEST_F(HotKeyJudgeTest, WhatMayHaveBeenOtherKeysMakesNoKeyHot) {
  EXPECT_FALSE(IsHot({0, "k", 5 * kLimit, 4 * kLimit, kLimit}));
  EXPECT_TRUE(IsHot({0, "k", 5 * kLimit, 4 * kLimit - 1, kLimit}));
}

TEST_F(HotKeyJudgeTest, KeyThatIsMostlyWrittenIsNotSpread) {
  EXPECT_FALSE(IsHot({0, "k", 2000, 0, 999}));
  EXPECT_TRUE(IsHot({0, "k", 2000, 0, 1000}));
}

TEST_F(HotKeyJudgeTest, HotKeyCoolsWhenWritesTakeOver) {
  ASSERT_TRUE(IsHot(Reads("k", 3000)));
  EXPECT_EQ(RoundsHot({0, "k", 3000, 0, 1000}), 20);
  EXPECT_EQ(RoundsHot({0, "k", 3000, 0, 999}), kRounds - 1);
}

TEST_F(HotKeyJudgeTest, HotKeyDoesNotComeAndGoAtTheLimitOfTheShare) {
  ASSERT_TRUE(IsHot(Reads("k", kLimit + 1)));
  EXPECT_EQ(RoundsHot(Reads("k", kLimit / 2)), 20);
  EXPECT_EQ(RoundsHot(Reads("k", kLimit / 2 - 1)), kRounds - 1);
  EXPECT_FALSE(IsHot(Reads("k", kLimit)));
}

TEST_F(HotKeyJudgeTest, HotKeyDoesNotComeAndGoAtTheLimitOfTheRate) {
  options_.min_rate = 16 * 2000;
  ASSERT_TRUE(IsHot(Reads("k", 2000)));
  EXPECT_EQ(RoundsHot({0, "k", 1001, 0, 1000}), 20);
  EXPECT_EQ(RoundsHot({0, "k", 1001, 0, 999}), kRounds - 1);
}

TEST_F(HotKeyJudgeTest, OneGoodRoundEndsTheCooling) {
  ASSERT_TRUE(IsHot(Reads("k", 2 * kLimit)));
  for (int i = 0; i < 3; ++i) {
    for (int round = 1; round < kRounds; ++round) EXPECT_TRUE(IsHot(Reads("k", 1)));
    EXPECT_TRUE(IsHot(Reads("k", kLimit / 2)));
  }
}

TEST_F(HotKeyJudgeTest, HotKeyOfWhichNobodyTellsCools) {
  ASSERT_TRUE(IsHot(Reads("k", 2 * kLimit)));
  for (int round = 1; round < kRounds; ++round) {
    const auto verdicts = Decide({});
    ASSERT_EQ(verdicts.size(), 1u);
    EXPECT_EQ(verdicts[0].buckets, 2u);
    EXPECT_EQ(verdicts[0].share, 0);
  }
  EXPECT_TRUE(Decide({}).empty());
  EXPECT_TRUE(Decide({}, 0).empty());
}

TEST_F(HotKeyJudgeTest, ReportsOfAllWorkersAreOneSum) {
  const KeyReport one{kTotal / 2, {Reads("k", kLimit / 2)}};
  const KeyReport other{kTotal / 2, {{0, "k", 900, 400, 501}, {1, "k", 800, 0, 800}}};
  auto verdicts = judge_.Decide({one, other}, kShards, options_);
  ASSERT_EQ(verdicts.size(), 2u);
  EXPECT_EQ(verdicts[0].buckets, 1u);
  EXPECT_EQ(verdicts[0].db, 0u);
  EXPECT_DOUBLE_EQ(verdicts[0].share, 1.0 / 32);
  EXPECT_DOUBLE_EQ(verdicts[0].rate, 16'000);
  EXPECT_DOUBLE_EQ(verdicts[0].reads, 16'000);  // not more reads than requests
  EXPECT_EQ(verdicts[1].db, 1u);
  verdicts = judge_.Decide({one, other, {0, {Reads("k", 1)}}}, kShards, options_);
  EXPECT_EQ(verdicts[0].buckets, 2u);
}

TEST_F(HotKeyJudgeTest, LoneShardSpreadsNothing) {
  options_.patterns = {"p*"};
  shards_ = 1;
  EXPECT_FALSE(IsHot(Reads("k", kTotal)));
  EXPECT_FALSE(IsHot(Reads("p", kTotal)));
  shards_ = 2;
  EXPECT_EQ(Buckets(Reads("k", kTotal)), 2u);
  EXPECT_EQ(Buckets(Reads("p", kTotal)), 2u);
  shards_ = 1;
  EXPECT_FALSE(IsHot(Reads("k", kTotal)));
  shards_ = 0;
  EXPECT_EQ(Buckets(Reads("k", kTotal)), 1u);
  EXPECT_EQ(Buckets(Reads("p", kTotal)), 1u);
}

TEST_F(HotKeyJudgeTest, KeyTooLongToBeTrackedIsNotSpread) {
  EXPECT_TRUE(IsHot(Reads(std::string(HeavyHitters::kMaxKeyBytes, 'k'), kTotal)));
  EXPECT_FALSE(IsHot(Reads(std::string(HeavyHitters::kMaxKeyBytes + 1, 'k'), kTotal)));
}

TEST_F(HotKeyJudgeTest, BucketsAreAsManyAsTheShareNeeds) {
  // A bucket for each 1000 samples.
  EXPECT_EQ(Buckets(Reads("a", 1001)), 2u);
  EXPECT_EQ(Buckets(Reads("b", 2000)), 2u);
  EXPECT_EQ(Buckets(Reads("c", 2001)), 3u);
  EXPECT_EQ(Buckets(Reads("d", 5000)), 5u);
  EXPECT_EQ(Buckets(Reads("e", 7001)), 8u);
  EXPECT_EQ(Buckets(Reads("f", kTotal)), 8u);
}

TEST_F(HotKeyJudgeTest, BucketsRiseAtOnceAndFallLate) {
  EXPECT_EQ(Buckets(Reads("k", 2000)), 2u);
  EXPECT_EQ(Buckets(Reads("k", 6000)), 6u);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(Buckets(Reads("k", 3001)), 6u) << "four are more than half";
  for (int i = 1; i < kRounds; ++i) ASSERT_EQ(Buckets(Reads("k", 3000)), 6u);
  EXPECT_EQ(Buckets(Reads("k", 3001)), 6u);
  for (int i = 1; i < kRounds; ++i) ASSERT_EQ(Buckets(Reads("k", 3000)), 6u) << "counted anew";
  EXPECT_EQ(Buckets(Reads("k", 3000)), 3u);
}

TEST_F(HotKeyJudgeTest, BucketsAreNeverMoreThanShards) {
  EXPECT_EQ(Buckets(Reads("k", 8000)), 8u);
  shards_ = 5;
  EXPECT_EQ(Buckets(Reads("k", 8000)), 5u);
  options_.buckets = 7;
  EXPECT_EQ(Buckets(Reads("k", 8000)), 5u);
  shards_ = 7;
  EXPECT_EQ(Buckets(Reads("k", 8000)), 7u);
}

TEST_F(HotKeyJudgeTest, OrderedNumberOfBucketsIsTakenAtOnce) {
  EXPECT_EQ(Buckets(Reads("k", 8000)), 8u);
  options_.buckets = 7;
  EXPECT_EQ(Buckets(Reads("k", 8000)), 7u);
  options_.buckets = 2;
  EXPECT_EQ(Buckets(Reads("k", 8000)), 2u);
  EXPECT_FALSE(IsHot(Reads("j", kLimit))) << "it does not decide what is hot";
}

TEST_F(HotKeyJudgeTest, KeyOfAPatternIsSpreadAsSoonAsItIsSeen) {
  options_.patterns = {"config:*", "flags"};
  EXPECT_EQ(Buckets(Reads("config:a", 1)), kShards);
  EXPECT_EQ(Buckets({0, "flags", 1, 0, 0}), kShards) << "though it is written";
  EXPECT_FALSE(IsHot(Reads("conf", 1)));
  options_.buckets = 3;
  EXPECT_EQ(Buckets(Reads("config:a", 1)), 3u);
}

TEST_F(HotKeyJudgeTest, KeyOfAPatternStaysSpreadWhileItIsSeldomSeen) {
  options_.patterns = {"config:*"};
  ASSERT_TRUE(IsHot(Reads("config:a", 1)));
  for (int i = 0; i < 20; ++i) {
    const auto verdicts = Decide({});
    ASSERT_EQ(verdicts.size(), 1u) << i;
    ASSERT_EQ(verdicts[0].buckets, kShards) << i;
  }
  options_.patterns.clear();
  EXPECT_TRUE(Decide({}).empty());
}

TEST_F(HotKeyJudgeTest, DetectionThatIsSwitchedOffEndsAtOnceButForPatterns) {
  options_.patterns = {"config:*"};
  ASSERT_TRUE(IsHot(Reads("k", 8000)));
  ASSERT_TRUE(IsHot(Reads("config:a", 1)));
  options_.detect = false;
  EXPECT_FALSE(IsHot(Reads("k", 8000)));
  EXPECT_TRUE(IsHot(Reads("config:a", 1)));
  EXPECT_TRUE(IsHot(Reads("config:b", 1)));
  options_.detect = true;
  EXPECT_TRUE(IsHot(Reads("k", 8000)));
}

TEST_F(HotKeyJudgeTest, NeverWinsOverEverythingAndAtOnce) {
  options_.patterns = {"config:*"};
  ASSERT_TRUE(IsHot(Reads("config:a", 8000)));
  ASSERT_TRUE(IsHot(Reads("k", 8000)));
  options_.never = {"nothing", "config:a", "k"};
  EXPECT_FALSE(IsHot(Reads("config:a", 8000)));
  EXPECT_FALSE(IsHot(Reads("k", 8000)));
  EXPECT_TRUE(IsHot(Reads("config:b", 8000)));
}

TEST_F(HotKeyJudgeTest, KeysOfTwoDatabasesAreJudgedApart) {
  ASSERT_TRUE(IsHot({1, "k", 8000, 0, 8000}));
  EXPECT_FALSE(IsHot({2, "k", 100, 0, 100}));
  EXPECT_TRUE(IsHot({1, "k", 8000, 0, 8000}));
}

// More keys than may be hot, each hot by itself: total 1,000,000, so that 100 samples are enough.
class CrowdedJudgeTest : public HotKeyJudgeTest {
 protected:
  static constexpr size_t kMost = HotSet::kMaxKeys;
  CrowdedJudgeTest() { options_.threshold = 0.0008; }

  std::map<std::string, uint32_t> Hot(const std::vector<KeyCount>& keys) {
    std::map<std::string, uint32_t> hot;
    for (const auto& verdict : Decide(keys, 1'000'000)) {
      if (verdict.buckets > 1) hot[verdict.key] = verdict.buckets;
    }
    return hot;
  }
  static std::vector<KeyCount> Crowd(size_t keys, uint64_t count) {
    std::vector<KeyCount> crowd;
    for (size_t i = 0; i < keys; ++i) crowd.push_back(Reads("k" + std::to_string(i), count));
    return crowd;
  }
};

TEST_F(CrowdedJudgeTest, HottestOnesAreSpreadWhenThereAreTooMany) {
  EXPECT_EQ(Hot(Crowd(kMost, 1000)).size(), kMost);
  std::vector<KeyCount> keys = Crowd(kMost + 50, 1000);
  for (size_t i = 0; i < kMost; ++i) keys[i + 50].count = keys[i + 50].reads = 2000;
  const auto hot = Hot(keys);
  EXPECT_EQ(hot.size(), kMost);
  for (size_t i = 0; i < kMost; ++i) EXPECT_EQ(hot.count("k" + std::to_string(i + 50)), 1u) << i;
}

TEST_F(CrowdedJudgeTest, HotKeyIsNotPushedOutByOneHardlyHotter) {
  std::vector<KeyCount> keys = Crowd(kMost, 1000);
  keys[7].count = keys[7].reads = 800;
  Hot(keys);
  keys.push_back(Reads("new", 1000));  // 1.25 times as hot as the coolest
  for (int i = 0; i < 10; ++i) {
    const auto hot = Hot(keys);
    ASSERT_EQ(hot.size(), kMost);
    ASSERT_EQ(hot.count("new"), 0u);
  }
  keys.back() = Reads("new", 1001);
  const auto hot = Hot(keys);
  EXPECT_EQ(hot.size(), kMost);
  EXPECT_EQ(hot.count("new"), 1u);
  EXPECT_EQ(hot.count("k7"), 0u);
}

TEST_F(CrowdedJudgeTest, IdleKeysOfPatternsMakeRoomForHotOnes) {
  options_.patterns = {"k*"};
  EXPECT_EQ(Hot(Crowd(kMost + 1, 1)).size(), kMost);
  EXPECT_EQ(Hot({}).size(), kMost);
  const auto hot = Hot({Reads("new", 200)});
  EXPECT_EQ(hot.size(), kMost);
  EXPECT_EQ(hot.count("new"), 1u);
}

TEST_F(CrowdedJudgeTest, ReportsAreOfTheMostFrequentAndOfAllHotOnes) {
  std::vector<KeyCount> keys = Crowd(HotKeyJudge::kMaxTracked + 1, 50);
  options_.patterns = {"rare"};
  keys.push_back(Reads("rare", 2));
  keys.push_back(Reads("top", 60));
  const auto verdicts = Decide(keys, 1'000'000);
  ASSERT_EQ(verdicts.size(), HotKeyJudge::kMaxTracked + 1);
  EXPECT_EQ(verdicts.front().key, "top");
  EXPECT_EQ(verdicts.back().key, "rare");
  for (size_t i = 1; i < verdicts.size(); ++i) EXPECT_LE(verdicts[i].rate, verdicts[i - 1].rate);
}

TEST_F(CrowdedJudgeTest, PatternsAreTriedOnTheMostFrequentKeysOnly) {
  options_.patterns = {"last"};
  std::vector<KeyCount> keys = Crowd(HotKeyJudge::kMaxConsidered, 3);
  keys.push_back(Reads("last", 2));
  EXPECT_EQ(Hot(keys).size(), 0u);
  keys.pop_back();
  keys.back() = Reads("last", 2);
  EXPECT_EQ(Hot(keys).size(), 1u);
}

}  // namespace
}  // namespace ringway::proxy
