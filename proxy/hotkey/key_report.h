// What workers tell the control thread of the keys that they see.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringway::proxy {

// A key that may be hot. Counts are of sampled requests, halved twice a second.
struct KeyCount {
  uint32_t db = 0;
  std::string key;
  uint64_t count = 0;  // at most so often; `error` of these may have been other keys
  uint64_t error = 0;
  uint64_t reads = 0;  // of those surely counted, the ones that a bucket could answer
};

struct KeyReport {
  uint64_t sampled = 0;  // all sampled requests on keys, halved in the same way
  std::vector<KeyCount> keys;
};

}  // namespace ringway::proxy
