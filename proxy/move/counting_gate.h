#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "proxy/thread_annotations.h"

namespace ringway::proxy {

// Between those who move keys and those who count them: while the gate is closed and quiet, every key is on
// one server, so that a count of all servers sees it once.
//
// Counts share a period in which the gate is closed. A period ends when its last count leaves, or by itself
// after kClosedUsec, so that nobody can forget it; then the gate stays open for a multiple of that time, so
// that counts in a row do not stop the move. Times are of the monotonic clock.
// Thread: any. Owns: nothing. Limits: kClosedUsec.
class CountingGate {
 public:
  // How long commands on keys that move may have to wait for counts.
  static constexpr int64_t kClosedUsec = 50'000;
  // A count that begins in the second half of a period waits for the next one, or its time would be short.
  static constexpr int64_t kJoinUsec = kClosedUsec / 2;
  // At least four fifths of the time are the move's.
  static constexpr int64_t kOpenPerClosed = 4;

  // --- those who move keys ---
  // Before keys are moved (any number of them, by one call). False: not now, ask again in a millisecond;
  // true: EndBatch must follow, when no server can still be at it.
  bool BeginBatch(int64_t now_usec) {
    // Announced before looking, as Close closes before Quiet looks: one of the two sees the other.
    begun_.fetch_add(1);
    if (closed_until_usec_.load() <= now_usec) return true;
    ended_.fetch_add(1);
    return false;
  }
  void EndBatch() { ended_.fetch_add(1); }

  // --- those who count ---
  // Closes the gate or joins those who have; gives the period, to be left by Leave. Nothing: not now, ask
  // again in a millisecond.
  std::optional<uint64_t> Close(int64_t now_usec);
  // Whether no batch is under way.
  bool Quiet() const {
    // In this order: had one begun in between, the numbers would differ.
    const uint64_t ended = ended_.load();
    return begun_.load() == ended;
  }
  bool IsClosed(uint64_t period, int64_t now_usec) const;
  // Opens the gate if nobody else counts. A period that has ended by itself may still be left.
  void Leave(uint64_t period, int64_t now_usec);

 private:
  std::atomic<uint64_t> begun_{0};
  std::atomic<uint64_t> ended_{0};
  std::atomic<int64_t> closed_until_usec_{0};

  mutable Mutex mutex_;
  uint64_t period_ GUARDED_BY(mutex_) = 0;
  uint32_t counts_ GUARDED_BY(mutex_) = 0;  // that have not left the period
  int64_t closed_usec_ GUARDED_BY(mutex_) = 0;
  int64_t open_until_usec_ GUARDED_BY(mutex_) = 0;  // no period begins before
};

}  // namespace ringway::proxy
