#include "proxy/latency_histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ringway::proxy {
namespace {

TEST(LatencyBuckets, EveryValueLiesBetweenTheBoundsOfItsBucket) {
  for (uint64_t usec = 0; usec < 100'000; ++usec) {
    const size_t index = LatencyBuckets::IndexOf(usec);
    ASSERT_LE(usec, LatencyBuckets::UpperBound(index));
    if (index == 0) continue;
    ASSERT_GT(usec, LatencyBuckets::UpperBound(index - 1));
  }
}

TEST(LatencyBuckets, IndexesRiseByOneOnBothSidesOfEachDoubling) {
  for (int bit = 4; bit < 36; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    EXPECT_EQ(LatencyBuckets::IndexOf(power), LatencyBuckets::IndexOf(power - 1) + 1) << power;
    EXPECT_EQ(LatencyBuckets::UpperBound(LatencyBuckets::IndexOf(power - 1)), power - 1);
  }
}

TEST(LatencyBuckets, BoundsRiseAndNoBucketIsWiderThanOneSixteenth) {
  for (size_t i = 1; i < LatencyBuckets::kCount; ++i) {
    const uint64_t below = LatencyBuckets::UpperBound(i - 1);
    const uint64_t bound = LatencyBuckets::UpperBound(i);
    ASSERT_GT(bound, below) << i;
    ASSERT_LE(static_cast<double>(bound - below), std::max(1.0, static_cast<double>(below + 1) / 16)) << i;
    ASSERT_EQ(LatencyBuckets::IndexOf(bound), i);
  }
}

TEST(LatencyBuckets, NoValueLiesBeyondTheLastBucket) {
  EXPECT_EQ(LatencyBuckets::IndexOf((uint64_t{1} << 36) - 1), LatencyBuckets::kCount - 1);
  EXPECT_EQ(LatencyBuckets::IndexOf(uint64_t{1} << 36), LatencyBuckets::kCount - 1);
  EXPECT_EQ(LatencyBuckets::IndexOf(std::numeric_limits<uint64_t>::max()), LatencyBuckets::kCount - 1);
}

TEST(LatencySummary, NothingRecordedIsZero) { EXPECT_EQ(LatencySummary().Percentile(0.5), 0u); }

TEST(LatencySummary, PercentilesAgreeWithASortedList) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::lognormal_distribution<double> latency(6, 2);
  auto first = std::make_unique<LatencyHistogram>();
  auto second = std::make_unique<LatencyHistogram>();
  std::vector<uint64_t> all;
  for (int i = 0; i < 20'000; ++i) {
    const auto usec = static_cast<uint64_t>(latency(random));
    all.push_back(usec);
    (i % 3 == 0 ? first : second)->Record(usec);
  }
  std::sort(all.begin(), all.end());
  LatencySummary summary;
  summary.Add(*first);
  summary.Add(*second);
  EXPECT_EQ(summary.total(), all.size());
  for (const double fraction : {0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const uint64_t exact = all[static_cast<size_t>(fraction * static_cast<double>(all.size() - 1))];
    const uint64_t got = summary.Percentile(fraction);
    EXPECT_GE(got, exact) << fraction;
    EXPECT_LE(static_cast<double>(got), static_cast<double>(exact) * 1.0625 + 1) << fraction;
  }
}

}  // namespace
}  // namespace ringway::proxy
