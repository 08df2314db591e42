#pragma once

#include <atomic>
#include <cstdint>
#include <deque>

#include "proxy/move/counting_gate.h"

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

  // Whoever moves keys passes it; a count of all keys closes it.
  CountingGate gate;
};

}  // namespace ringway::proxy
