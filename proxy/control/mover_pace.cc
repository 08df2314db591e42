#include "proxy/control/mover_pace.h"

#include <algorithm>
#include <cmath>

namespace ringway::proxy {
namespace {

// What a next call may take, in units of whatever this one had: straight to the size that would have taken
// kCallUsec, but no more than twice or a quarter of this one, since a single time says little.
double Resized(double size, int64_t took_usec) {
  const double wanted = size * static_cast<double>(SourcePace::kCallUsec) /
                        static_cast<double>(std::max<int64_t>(took_usec, 1));
  return std::clamp(wanted, size / 4, size * 2);
}

}  // namespace

void KeyAllowance::SetRate(int64_t keys_per_second) {
  rate_ = keys_per_second;
  keys_ = std::min(keys_, static_cast<double>(rate_) * kBurstSeconds);
}

KeyAllowance::Grant KeyAllowance::Take(int64_t now_usec, size_t wanted) {
  if (rate_ == 0) return {wanted, 0};
  const double rate = static_cast<double>(rate_);
  const double elapsed = static_cast<double>(std::max<int64_t>(now_usec - filled_usec_, 0)) / 1e6;
  // At the lowest rates one key is more than the burst.
  keys_ = std::min(keys_ + elapsed * rate, std::max(rate * kBurstSeconds, 1.0));
  filled_usec_ = now_usec;
  const double worthwhile = std::clamp(rate * kWorthwhileSeconds, 1.0, static_cast<double>(wanted));
  if (keys_ < worthwhile) {
    return {0, static_cast<int64_t>(std::ceil((worthwhile - keys_) / rate * 1e6))};
  }
  const size_t granted = std::min(wanted, static_cast<size_t>(keys_));
  keys_ -= static_cast<double>(granted);
  return {granted, 0};
}

void KeyAllowance::GiveBack(size_t keys) { keys_ += static_cast<double>(keys); }

void SourcePace::OnCall(int64_t sent_usec, int64_t answered_usec) {
  const auto took = static_cast<double>(std::max<int64_t>(answered_usec - sent_usec, 0));
  const bool limited = max_busy_ > 0 && max_busy_ < 1;
  const double rest = limited ? took * (1 / max_busy_ - 1) : 0;
  next_call_usec_ = answered_usec + static_cast<int64_t>(std::ceil(rest));
}

void SourcePace::OnBatch(int64_t sent_usec, int64_t answered_usec, double units) {
  OnCall(sent_usec, answered_usec);
  const double resized = Resized(units, answered_usec - sent_usec);
  // A small batch at the end of a scan that was quick says nothing against larger ones.
  if (resized > batch_units_ || units >= batch_units_ / 2 || resized < units) batch_units_ = resized;
  batch_units_ = std::clamp(batch_units_, 1.0, kMaxBatchUnits);
}

void SourcePace::OnScan(int64_t sent_usec, int64_t answered_usec, size_t count) {
  OnCall(sent_usec, answered_usec);
  const double resized = Resized(static_cast<double>(count), answered_usec - sent_usec);
  scan_count_ = static_cast<size_t>(
      std::clamp(resized, static_cast<double>(kMinScanCount), static_cast<double>(kMaxScanCount)));
}

}  // namespace ringway::proxy
