#include "proxy/hotkey/hot_key.h"

namespace ringway::proxy {

uint64_t NextCopyId() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace ringway::proxy
