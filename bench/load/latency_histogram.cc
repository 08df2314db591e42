#include "bench/load/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ringway::bench {
namespace {

constexpr unsigned kSubBits = 6;
constexpr uint64_t kSubBuckets = 1u << kSubBits;
constexpr unsigned kMaxBits = 41;
constexpr std::size_t kBuckets = (kMaxBits - kSubBits + 1) * kSubBuckets;

// Values below 64 have a bucket each; beyond, the six bits after the leading one choose it.
std::size_t BucketOf(uint64_t value) {
  if (value < kSubBuckets) return value;
  const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1 - kSubBits;
  return (shift + 1) * kSubBuckets + ((value >> shift) - kSubBuckets);
}

uint64_t UpperEnd(std::size_t bucket) {
  if (bucket < kSubBuckets) return bucket;
  const std::size_t shift = bucket / kSubBuckets - 1;
  return ((bucket % kSubBuckets + kSubBuckets + 1) << shift) - 1;
}

}  // namespace

LatencyHistogram::LatencyHistogram() : buckets_(kBuckets) {}

void LatencyHistogram::Record(uint64_t nanoseconds, uint64_t count) {
  const uint64_t value = std::min(nanoseconds, (uint64_t{1} << kMaxBits) - 1);
  buckets_[BucketOf(value)] += count;
  count_ += count;
  max_ = std::max(max_, value);
}

void LatencyHistogram::Clear() {
  std::fill(buckets_.begin(), buckets_.end(), 0);
  count_ = 0;
  max_ = 0;
}

uint64_t LatencyHistogram::Quantile(double quantile) const {
  if (count_ == 0) return 0;
  const double wanted = std::ceil(std::clamp(quantile, 0.0, 1.0) * static_cast<double>(count_));
  const uint64_t rank = std::max<uint64_t>(1, static_cast<uint64_t>(wanted));
  uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen >= rank) return std::min(UpperEnd(i), max_);
  }
  return max_;
}

}  // namespace ringway::bench
