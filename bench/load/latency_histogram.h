#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringway::bench {

// Counts of latencies in log-linear buckets: 64 equal ones in each power of two, as HdrHistogram
// arranges them, so a percentile is at most 1/64 (1.6 %) above the true value at any magnitude.
//
// Thread: one.
// Owns: its 2,304 counters.
// Limits: 2^41 ns (36 minutes); longer ones count as that.
class LatencyHistogram {
 public:
  LatencyHistogram();

  void Record(uint64_t nanoseconds, uint64_t count = 1);
  void Clear();

  uint64_t count() const { return count_; }
  uint64_t max() const { return max_; }

  // Nanoseconds that `quantile` (0..1) of the recorded values do not exceed: the upper end of their
  // bucket, but never more than the largest value. 0 when nothing was recorded.
  uint64_t Quantile(double quantile) const;

 private:
  std::vector<uint64_t> buckets_;
  uint64_t count_ = 0;
  uint64_t max_ = 0;
};

}  // namespace ringway::bench
