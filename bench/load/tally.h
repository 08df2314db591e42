#pragma once

#include <cstdint>
#include <string>

namespace ringway::bench {

// What a run counts. `requests` is of the measured window alone; faults count from the first byte on,
// because a wrong reply while warming up is as wrong as any other.
struct Tally {
  uint64_t requests = 0;     // replies received
  uint64_t errors = 0;       // error replies
  uint64_t wrong = 0;        // replies that cannot be true (only with --verify)
  uint64_t lost = 0;         // nulls where a value had been acknowledged (only with --verify)
  uint64_t misses = 0;       // nulls otherwise
  uint64_t disconnects = 0;  // connections that failed or ended early
  uint64_t unanswered = 0;   // requests they took with them
  std::string first_error;   // the text of the first error reply or failed connection
  std::string first_wrong;   // what was expected and what came
};

}  // namespace ringway::bench
