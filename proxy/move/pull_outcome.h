#pragma once

#include <cstdint>
#include <string>

namespace ringway::proxy {

// How the attempt to bring one key to its new owner ended.
struct PullOutcome {
  enum class Kind : uint8_t {
    kPulled,         // the key is at the target, or there is none
    kTargetTrouble,  // the target does not take it: if there is a key, the source still has it
    kSourceTrouble,  // the source cannot be asked: where the key is is not known
  };
  Kind kind = Kind::kPulled;
  std::string error;  // a whole error text, if not pulled
};

}  // namespace ringway::proxy
