#pragma once

#include <time.h>

#include <cstdint>

namespace ringway::proxy {

// Microseconds of the monotonic clock.
inline int64_t MonotonicUsec() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1'000;
}

// Microseconds since 1970.
inline int64_t WallClockUsec() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1'000;
}

}  // namespace ringway::proxy
