#ifndef RINGWAY_RING_CHECK_H_
#define RINGWAY_RING_CHECK_H_

#include <cstdio>
#include <cstdlib>

namespace ringway::ring {

// Says which invariant broke and where, then aborts. Never returns.
[[noreturn]] inline void CheckFailed(const char* file, int line, const char* condition, const char* message) {
  std::fprintf(stderr, "%s:%d: check failed: %s: %s\n", file, line, condition, message);
  std::abort();
}

}  // namespace ringway::ring

// An invariant that stays on in release builds: a ring that is wrong would send keys to the wrong shard,
// which is worse than stopping.
#define RINGWAY_RING_CHECK(condition, message) \
  ((condition) ? (void)0 : ::ringway::ring::CheckFailed(__FILE__, __LINE__, #condition, (message)))

#endif  // RINGWAY_RING_CHECK_H_
