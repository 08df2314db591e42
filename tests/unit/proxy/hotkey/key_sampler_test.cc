#include "proxy/hotkey/key_sampler.h"

#include <string>

#include <gtest/gtest.h>

#include "proxy/hotkey/bucket_name.h"

namespace ringway::proxy {
namespace {

TEST(KeySampler, EachPlaceOfAPipelineIsSeenAsOften) {
  KeySampler sampler(1);
  constexpr int kRounds = 160'000;
  for (int i = 0; i < kRounds; ++i) {
    for (int place = 0; place < 16; ++place) sampler.Note(0, "k" + std::to_string(place), true);
  }
  const KeyReport report = sampler.TakeReport();
  EXPECT_NEAR(static_cast<double>(report.sampled), kRounds, 0.01 * kRounds);
  ASSERT_EQ(report.keys.size(), 16u);
  for (const KeyCount& key : report.keys) {
    EXPECT_NEAR(static_cast<double>(key.count), kRounds / 16, 0.05 * kRounds / 16) << key.key;
  }
}

TEST(KeySampler, BucketsAreNotTakenForKeys) {
  KeySampler sampler(1);
  const std::string bucket = "k" + BucketSuffix("01234567", 5);
  for (int i = 0; i < 1000; ++i) sampler.Note(0, bucket, true);
  const KeyReport report = sampler.TakeReport();
  EXPECT_EQ(report.sampled, 0u);
  EXPECT_TRUE(report.keys.empty());
}

TEST(KeySampler, WhatIsSeenOnceIsNotReportedAndWhatIsSeenTwiceIs) {
  int once = 0;
  int twice = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    KeySampler sampler(seed);
    for (int i = 0; i < 32; ++i) sampler.Note(0, "k", true);
    const KeyReport report = sampler.TakeReport();
    EXPECT_EQ(report.keys.size(), report.sampled < 2 ? 0u : 1u) << "seed " << seed;
    once += report.sampled == 1 ? 1 : 0;
    twice += report.sampled == 2 ? 1 : 0;
  }
  EXPECT_GT(once, 0);
  EXPECT_GT(twice, 0);
}

TEST(KeySampler, ReportsForgetThePast) {
  KeySampler sampler(1);
  for (int i = 0; i < 16'000; ++i) sampler.Note(3, "k", i % 2 == 0);
  const KeyReport first = sampler.TakeReport();
  const KeyReport second = sampler.TakeReport();
  ASSERT_EQ(first.keys.size(), 1u);
  ASSERT_EQ(second.keys.size(), 1u);
  EXPECT_EQ(first.keys[0].db, 3u);
  EXPECT_EQ(second.sampled, first.sampled / 2);
  EXPECT_EQ(second.keys[0].count, first.keys[0].count / 2);
  EXPECT_NEAR(static_cast<double>(first.keys[0].reads), 500, 60);
}

TEST(KeySampler, ReportIsBounded) {
  KeySampler sampler(1);
  for (int i = 0; i < 400 * 16 * 20; ++i) sampler.Note(0, std::to_string(i % 400), true);
  EXPECT_EQ(sampler.TakeReport().keys.size(), KeySampler::kMaxReported);
}

TEST(KeySampler, SwitchedOffItCountsNothingAndForgets) {
  KeySampler sampler(1);
  for (int i = 0; i < 16'000; ++i) sampler.Note(0, "k", true);
  sampler.set_enabled(false);
  const uint64_t before = sampler.TakeReport().sampled;
  for (int i = 0; i < 16'000; ++i) sampler.Note(0, "k", true);
  EXPECT_EQ(sampler.TakeReport().sampled, before / 2);
  for (int i = 0; i < 20; ++i) sampler.TakeReport();
  EXPECT_TRUE(sampler.TakeReport().keys.empty());
  sampler.set_enabled(true);
  for (int i = 0; i < 16'000; ++i) sampler.Note(0, "k", true);
  EXPECT_NEAR(static_cast<double>(sampler.TakeReport().sampled), 1000, 100);
}

}  // namespace
}  // namespace ringway::proxy
