#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/hotkey/hot_key.h"

namespace ringway::proxy {

// The hot keys of one moment. Immutable; the control thread makes a new one for each change and posts it to
// the workers. Keys that stay hot keep their HotKey, and their HotPlacement as long as their buckets stay.
// Thread: any. Limits: kMaxKeys.
struct HotSet {
  static constexpr size_t kMaxKeys = 128;

  std::vector<std::shared_ptr<HotPlacement>> keys;
};

}  // namespace ringway::proxy
