#pragma once

#include <cstdint>

namespace ringway::proxy {

// Faults put into a move or into hot keys on purpose, so that the tests which promise to find them can be
// seen to do so: the environment variable RINGWAY_TEST_FAULT, read once.
enum class TestFault : uint8_t {
  kNone,
  kSkipHold,        // skip-hold: nobody waits while owners change
  kSkipPull,        // skip-pull: commands run at the new owner before their keys are there
  kSkipFence,       // skip-fence: what lost connections may still do is not waited for
  kForgetOrder,     // forget-order: requests overtake those of their client that wait for keys
  kSkipGeneration,  // skip-generation: writes of hot keys leave the copies in use
};

TestFault CurrentTestFault();
// In its place, for tests in this process.
void SetTestFault(TestFault fault);

}  // namespace ringway::proxy
