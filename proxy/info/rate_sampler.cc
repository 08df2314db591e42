#include "proxy/info/rate_sampler.h"

#include <numeric>

namespace ringway::proxy {

void RateSampler::Sample(uint64_t value, int64_t now_usec) {
  const int64_t elapsed = now_usec - last_usec_;
  if (last_usec_ != 0 && elapsed < kIntervalUsec) return;
  if (last_usec_ != 0 && value >= last_value_) {
    rates_[next_] = (value - last_value_) * 1'000'000 / static_cast<uint64_t>(elapsed);
    growths_[next_] = value - last_value_;
    next_ = (next_ + 1) % kSamples;
    const uint64_t sum = std::accumulate(rates_.begin(), rates_.end(), uint64_t{0});
    per_second_.store(sum / kSamples, std::memory_order_relaxed);
    recent_.store(std::accumulate(growths_.begin(), growths_.end(), uint64_t{0}), std::memory_order_relaxed);
  }
  last_value_ = value;
  last_usec_ = now_usec;
}

}  // namespace ringway::proxy
