#pragma once

#include <cstdint>

namespace ringway::proxy {

// xorshift64 (Marsaglia, 2003): any cheap sequence will do to pick one of a few. `state` is not 0.
inline uint64_t NextRandom(uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

}  // namespace ringway::proxy
