#include "proxy/move/drain.h"

#include <algorithm>

#include "proxy/move/test_fault.h"

namespace ringway::proxy {

void Drain::Begin(const std::shared_ptr<const void>& epoch_token) {
  older_epochs_.push_back(epoch_token);
  marked_ = false;
}

bool Drain::Ended(const std::vector<uint32_t>& servers, bool to_the_end) {
  if (CurrentTestFault() == TestFault::kSkipHold) return true;
  std::erase_if(older_epochs_, [](const auto& epoch) { return epoch.expired(); });
  if (!older_epochs_.empty()) return false;
  if (!marked_) {
    for (const uint32_t id : servers) pool_.MarkForDrain(whom_, id, to_the_end);
    marked_ = true;
  }
  return std::all_of(servers.begin(), servers.end(),
                     [this](uint32_t id) { return pool_.Drained(whom_, id); });
}

}  // namespace ringway::proxy
