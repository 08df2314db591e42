#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/hotkey/key_report.h"

namespace ringway::proxy {

// The keys that come most often, by Space-Saving (Metwally, Agrawal, El Abbadi: "Efficient computation of
// frequent and top-k elements in data streams", 2005): a key that has no counter takes over the smallest one
// and its count, which becomes the key's error. So a key's true count lies between count - error and count,
// and every key that comes more often than sampled / kCounters has a counter. Halving rounds count - error
// down, which keeps it a lower bound; the upper one may fall short by less than 1.
// Counters are kept in order of their counts: those of one count stand together as a group, so raising one by
// 1 is to change places with the last of its group.
// Thread: one worker. Owns: the keys, in strings that keep their memory. Limits: kCounters, kMaxKeyBytes.
class HeavyHitters {
 public:
  static constexpr size_t kCounters = 512;
  // Longer keys are not tracked: nobody would spread them.
  static constexpr size_t kMaxKeyBytes = 1024;

  HeavyHitters();

  // `read`: a bucket could answer it. Constant time.
  void Add(uint32_t db, std::string_view key, bool read) { Add(HashOf(db, key), db, key, read); }
  // The same for who has HashOf(db, key).
  void Add(uint64_t hash, uint32_t db, std::string_view key, bool read);
  // Whether the key has a counter.
  bool Knows(uint64_t hash, uint32_t db, std::string_view key) const {
    return table_[Find(hash, db, key)] != kNone;
  }
  // A key that is not to be told of: it only adds to what has been sampled.
  void AddOther() { ++sampled_; }
  static uint64_t HashOf(uint32_t db, std::string_view key);
  // What has been counted: keys of at least `least` (count - error), the most frequent first, at most `most`.
  KeyReport Report(uint64_t least, size_t most) const;
  // Halves all counts, so that the past is forgotten.
  void Halve();

 private:
  static constexpr size_t kTableBits = 11;
  static constexpr size_t kTableSize = size_t{1} << kTableBits;
  static constexpr uint16_t kNone = UINT16_MAX;
  static_assert(kTableSize >= 4 * kCounters, "probes are short only while few places are taken");

  struct Counter {
    uint64_t error = 0;
    uint64_t reads = 0;
    uint32_t db = 0;
    uint16_t group = 0;
    uint16_t position = 0;  // in order_
    bool used = false;
    std::string key;
  };
  struct Group {
    uint64_t count = 0;
    uint16_t last = 0;  // position in order_ of the last counter
  };

  uint64_t CountOf(const Counter& counter) const { return groups_[counter.group].count; }
  uint64_t SureCountOf(const Counter& counter) const { return CountOf(counter) - counter.error; }
  // The place of a key in table_, or the free one where it belongs.
  size_t Find(uint64_t hash, uint32_t db, std::string_view key) const;
  void Forget(uint16_t id);
  void Raise(uint16_t id);
  void RegroupHalved();

  uint64_t sampled_ = 0;
  // Counters by key: open addressing, linear probing. Hashes stand apart, so that a probe touches little.
  std::array<uint16_t, kTableSize> table_;
  std::array<uint64_t, kCounters> hashes_{};
  std::array<Counter, kCounters> counters_;
  std::array<uint16_t, kCounters> order_;  // counters, the smallest count first
  std::array<Group, kCounters> groups_;
  std::array<uint16_t, kCounters> free_groups_;
  size_t free_group_count_ = 0;
};

}  // namespace ringway::proxy
