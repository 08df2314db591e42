#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ringway::proxy {

// A figure written by one thread and read by any.
class Counter {
 public:
  void Add(uint64_t amount = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  void Set(uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  uint64_t Get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

// How latencies fall into buckets: exact up to 15 microseconds, then 16 buckets for each doubling (at
// most 6.25 % wide), as in HdrHistogram. The last bucket takes everything from about 19 hours on.
class LatencyBuckets {
 public:
  static constexpr size_t kSubBuckets = 16;
  static constexpr size_t kDoublings = 32;
  static constexpr size_t kCount = kSubBuckets * (kDoublings + 1);

  static size_t IndexOf(uint64_t usec) {
    if (usec < kSubBuckets) return usec;
    const auto doubling = static_cast<size_t>(std::bit_width(usec)) - 5;
    if (doubling >= kDoublings) return kCount - 1;
    return kSubBuckets * (doubling + 1) + ((usec >> doubling) - kSubBuckets);
  }
  // The largest value of a bucket, in microseconds.
  static uint64_t UpperBound(size_t index) {
    if (index < kSubBuckets) return index;
    const size_t doubling = index / kSubBuckets - 1;
    return ((kSubBuckets + index % kSubBuckets + 1) << doubling) - 1;
  }
};

// Thread: Record from one, reading from any.
class LatencyHistogram {
 public:
  void Record(uint64_t usec) { buckets_[LatencyBuckets::IndexOf(usec)].Add(); }
  void Reset() {
    for (Counter& bucket : buckets_) bucket.Set(0);
  }
  uint64_t bucket(size_t index) const { return buckets_[index].Get(); }

 private:
  std::array<Counter, LatencyBuckets::kCount> buckets_;
};

// The sum of several histograms, for a reader.
class LatencySummary {
 public:
  void Add(const LatencyHistogram& histogram) {
    for (size_t i = 0; i < LatencyBuckets::kCount; ++i) {
      counts_[i] += histogram.bucket(i);
      total_ += histogram.bucket(i);
    }
  }
  uint64_t total() const { return total_; }
  uint64_t count(size_t index) const { return counts_[index]; }
  // The value, in microseconds, that a share of `fraction` (0..1) does not exceed; 0 without samples.
  uint64_t Percentile(double fraction) const {
    if (total_ == 0) return 0;
    const auto wanted = static_cast<uint64_t>(fraction * static_cast<double>(total_ - 1)) + 1;
    uint64_t seen = 0;
    for (size_t i = 0; i < LatencyBuckets::kCount; ++i) {
      seen += counts_[i];
      if (seen >= wanted) return LatencyBuckets::UpperBound(i);
    }
    return LatencyBuckets::UpperBound(LatencyBuckets::kCount - 1);
  }

 private:
  std::array<uint64_t, LatencyBuckets::kCount> counts_{};
  uint64_t total_ = 0;
};

}  // namespace ringway::proxy
