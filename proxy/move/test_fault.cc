#include "proxy/move/test_fault.h"

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#include "proxy/log.h"

namespace ringway::proxy {
namespace {

TestFault ReadTestFault() {
  const char* value = std::getenv("RINGWAY_TEST_FAULT");
  if (value == nullptr) return TestFault::kNone;
  const std::string_view name = value;
  LogError("RINGWAY_TEST_FAULT is set to " + std::string(name) + ": this proxy loses data on purpose");
  if (name == "skip-hold") return TestFault::kSkipHold;
  if (name == "skip-pull") return TestFault::kSkipPull;
  if (name == "skip-fence") return TestFault::kSkipFence;
  if (name == "forget-order") return TestFault::kForgetOrder;
  if (name == "skip-generation") return TestFault::kSkipGeneration;
  return TestFault::kNone;
}

std::atomic<TestFault>& Fault() {
  static std::atomic<TestFault> fault{ReadTestFault()};
  return fault;
}

}  // namespace

TestFault CurrentTestFault() { return Fault().load(std::memory_order_relaxed); }

void SetTestFault(TestFault fault) { Fault().store(fault, std::memory_order_relaxed); }

}  // namespace ringway::proxy
