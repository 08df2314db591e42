#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ringway::proxy {

// How fast a figure grows just now: the mean over the last 16 samples, which are at least 100 ms apart, as in
// Redis's instantaneous metrics.
// Thread: Sample from one, reading from any. Owns: the samples.
class RateSampler {
 public:
  static constexpr size_t kSamples = 16;
  static constexpr int64_t kIntervalUsec = 100'000;

  // The figure's present value. A value below the last one (statistics were reset) starts anew. `now_usec`:
  // of the monotonic clock.
  void Sample(uint64_t value, int64_t now_usec);
  // Growth in each second.
  uint64_t PerSecond() const { return per_second_.load(std::memory_order_relaxed); }
  // Growth in the time of these samples: since 1.6 seconds or a little more.
  uint64_t Recent() const { return recent_.load(std::memory_order_relaxed); }

 private:
  std::array<uint64_t, kSamples> rates_{};
  std::array<uint64_t, kSamples> growths_{};
  size_t next_ = 0;
  uint64_t last_value_ = 0;
  int64_t last_usec_ = 0;
  std::atomic<uint64_t> per_second_{0};
  std::atomic<uint64_t> recent_{0};
};

// The rates that INFO tells. Thread: see RateSampler.
struct InfoRates {
  RateSampler commands;
  RateSampler bytes_in;
  RateSampler bytes_out;
};

}  // namespace ringway::proxy
