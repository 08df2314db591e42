#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/hotkey/key_report.h"

namespace ringway::proxy {

// The keys that come most often, by Space-Saving (Metwally, Agrawal, El Abbadi: "Efficient computation of
// frequent and top-k elements in data streams", 2005): a key that has no counter takes over the smallest one
// and its count, which becomes the key's error. So a key's true count lies between count - error and count,
// and every key that comes more often than sampled / kCounters has a counter.
// Thread: one worker. Owns: the keys. Limits: kCounters, kMaxKeyBytes.
class HeavyHitters {
 public:
  static constexpr size_t kCounters = 512;
  // Longer keys are not counted: nobody would spread them.
  static constexpr size_t kMaxKeyBytes = 1024;

  HeavyHitters();

  // `read`: a bucket could answer it.
  void Add(uint32_t db, std::string_view key, bool read);
  // What has been counted: keys of at least `least` (count - error), the most frequent first, at most `most`.
  KeyReport Report(uint64_t least, size_t most) const;
  // Halves all counts, so that the past is forgotten.
  void Halve();
};

}  // namespace ringway::proxy
