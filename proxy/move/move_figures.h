#pragma once

#include <atomic>
#include <cstdint>
#include <deque>

namespace ringway::proxy {

// What a move has done so far. Several threads add to one figure, so these are atomic operations and not the
// workers' counters: they happen once for each batch of keys that is moved, never for an ordinary request.
// Thread: any. Owns: nothing else.
struct MoveFigures {
  struct Pair {
    std::atomic<uint64_t> keys_on_access{0};   // moved because a client asked for them
    std::atomic<uint64_t> keys_background{0};  // moved by the mover
    std::atomic<uint64_t> keys_absent{0};      // asked for on access, and the source had none
    std::atomic<uint64_t> bytes{0};            // of both, by MEMORY USAGE on the source
    std::atomic<uint64_t> errors{0};           // calls that failed
    std::atomic<int64_t> remaining{0};         // estimate, set by the mover
  };

  explicit MoveFigures(size_t count) : pairs(count) {}

  std::deque<Pair> pairs;  // by index into MovePlan::pairs()
  std::atomic<uint64_t> big_keys{0};

  // For a count of all keys that must see none of them twice or not at all: batches begin only while the gate
  // is open. A gate opens by itself when its time is over, so that nobody can forget it.
  std::atomic<uint64_t> batches_begun{0};
  std::atomic<uint64_t> batches_ended{0};
  std::atomic<int64_t> gate_closed_until_usec{0};  // of the monotonic clock
};

}  // namespace ringway::proxy
