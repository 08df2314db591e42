#pragma once

#include <cstdint>

namespace ringway::protocol {

// What bytes from a peer amounted to.
enum class ParseStatus : uint8_t {
  kComplete,  // a whole request or reply
  kNeedMore,  // fine so far; the rest has not arrived
  kError,     // not the protocol: the connection cannot be used any further
};

}  // namespace ringway::protocol
