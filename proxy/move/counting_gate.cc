#include "proxy/move/counting_gate.h"

#include <algorithm>

namespace ringway::proxy {

std::optional<uint64_t> CountingGate::Close(int64_t now_usec) {
  MutexLock lock(mutex_);
  if (closed_until_usec_.load() > now_usec) {
    if (now_usec > closed_usec_ + kJoinUsec) return std::nullopt;
    ++counts_;
    return period_;
  }
  if (now_usec < open_until_usec_) return std::nullopt;
  ++period_;
  counts_ = 1;
  closed_usec_ = now_usec;
  open_until_usec_ = now_usec + kClosedUsec * (1 + kOpenPerClosed);
  closed_until_usec_.store(now_usec + kClosedUsec);
  return period_;
}

bool CountingGate::IsClosed(uint64_t period, int64_t now_usec) const {
  MutexLock lock(mutex_);
  return period == period_ && closed_until_usec_.load() > now_usec;
}

void CountingGate::Leave(uint64_t period, int64_t now_usec) {
  MutexLock lock(mutex_);
  if (period != period_ || --counts_ > 0) return;
  if (closed_until_usec_.load() <= now_usec) return;
  closed_until_usec_.store(0);
  // Threads' clocks may differ by the length of a turn.
  const int64_t took_usec = std::max<int64_t>(now_usec - closed_usec_, 0);
  open_until_usec_ = now_usec + took_usec * kOpenPerClosed;
}

}  // namespace ringway::proxy
