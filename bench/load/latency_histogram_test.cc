#include "bench/load/latency_histogram.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace ringway::bench {
namespace {

TEST(LatencyHistogram, EmptyHasNoQuantile) { EXPECT_EQ(LatencyHistogram().Quantile(0.5), 0u); }

TEST(LatencyHistogram, QuantileIsWithinOneBucketOfTheSortedValues) {
  const uint64_t seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  LatencyHistogram histogram;
  std::vector<uint64_t> values;
  for (int i = 0; i < 100000; ++i) {
    values.push_back(random() >> (24 + random() % 40));
    histogram.Record(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double q : {0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
    const uint64_t exact = values[rank - 1];
    EXPECT_GE(histogram.Quantile(q), exact) << q;
    EXPECT_LE(histogram.Quantile(q), exact + exact / 64) << q;
  }
}

TEST(LatencyHistogram, ValueBeyondRangeIsKeptAtTheEnd) {
  LatencyHistogram histogram;
  histogram.Record(UINT64_MAX);
  EXPECT_EQ(histogram.Quantile(1), (uint64_t{1} << 41) - 1);
}

TEST(LatencyHistogram, CountWeighsAValue) {
  LatencyHistogram histogram;
  histogram.Record(1000, 99);
  histogram.Record(50000, 1);
  EXPECT_LT(histogram.Quantile(0.99), 1020u);
  EXPECT_EQ(histogram.Quantile(1), 50000u);
  histogram.Clear();
  EXPECT_EQ(histogram.count(), 0u);
}

}  // namespace
}  // namespace ringway::bench
