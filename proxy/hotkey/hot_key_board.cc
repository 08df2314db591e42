#include "proxy/hotkey/hot_key_board.h"

#include <utility>

namespace ringway::proxy {

std::shared_ptr<const std::vector<TrackedKey>> HotKeyBoard::Get() const {
  const MutexLock lock(mutex_);
  return keys_;
}

void HotKeyBoard::Set(std::shared_ptr<const std::vector<TrackedKey>> keys) {
  const MutexLock lock(mutex_);
  keys_ = std::move(keys);
}

}  // namespace ringway::proxy
