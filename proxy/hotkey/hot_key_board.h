#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proxy/hotkey/hot_key.h"
#include "proxy/thread_annotations.h"

namespace ringway::proxy {

// A key that is tracked, as INFO and RING HOTKEYS tell of it.
struct TrackedKey {
  uint32_t db = 0;
  std::string key;
  double rate = 0;                          // requests a second
  double share = 0;                         // 0..1 of all requests on keys
  std::shared_ptr<HotPlacement> placement;  // null: not spread

  // The key itself included.
  size_t buckets() const { return placement == nullptr ? 1 : placement->Spread(); }
  uint64_t bucket_hits() const {
    return placement == nullptr ? 0 : placement->bucket_reads.load(std::memory_order_relaxed);
  }
};

// The hottest keys of the moment. Thread: Set from the control thread, Get from any.
class HotKeyBoard {
 public:
  // The hottest first.
  std::shared_ptr<const std::vector<TrackedKey>> Get() const;
  void Set(std::shared_ptr<const std::vector<TrackedKey>> keys);

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const std::vector<TrackedKey>> keys_ GUARDED_BY(mutex_) =
      std::make_shared<std::vector<TrackedKey>>();
};

}  // namespace ringway::proxy
