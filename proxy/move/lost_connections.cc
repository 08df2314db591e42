#include "proxy/move/lost_connections.h"

#include <algorithm>
#include <atomic>

namespace ringway::proxy {

uint64_t NextConnectionNumber() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

void LostConnections::Add(uint32_t shard_id, uint64_t number) {
  if (all_.size() == kMaxKept) all_.erase(all_.begin());
  all_.push_back({shard_id, number});
}

void LostConnections::Forget(const std::vector<LostConnection>& fenced) {
  std::erase_if(all_, [&fenced](const LostConnection& lost) {
    return std::find(fenced.begin(), fenced.end(), lost) != fenced.end();
  });
}

}  // namespace ringway::proxy
