#include "proxy/move/test_fault.h"

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
  return TestFault::kNone;
}

}  // namespace

TestFault CurrentTestFault() {
  static const TestFault fault = ReadTestFault();
  return fault;
}

}  // namespace ringway::proxy
