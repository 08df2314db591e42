#include "proxy/hotkey/heavy_hitters.h"

#include <algorithm>
#include <utility>

#include "ring/key_hash.h"

namespace ringway::proxy {

// Numbers of databases are small: spread over all bits, so that one key's hashes differ everywhere.
uint64_t HeavyHitters::HashOf(uint32_t db, std::string_view key) {
  return ring::Xxh3(key) ^ (uint64_t{db} * 0x9e3779b97f4a7c15);
}

HeavyHitters::HeavyHitters() {
  table_.fill(kNone);
  for (uint16_t id = 0; id < kCounters; ++id) {
    order_[id] = id;
    counters_[id].position = id;
  }
  groups_[0] = {.count = 0, .last = kCounters - 1};
  for (uint16_t group = kCounters - 1; group > 0; --group) free_groups_[free_group_count_++] = group;
}

size_t HeavyHitters::Find(uint64_t hash, uint32_t db, std::string_view key) const {
  size_t place = hash % kTableSize;
  for (; table_[place] != kNone; place = (place + 1) % kTableSize) {
    const uint16_t id = table_[place];
    if (hashes_[id] == hash && counters_[id].db == db && counters_[id].key == key) break;
  }
  return place;
}

void HeavyHitters::Add(uint64_t hash, uint32_t db, std::string_view key, bool read) {
  ++sampled_;
  if (key.size() > kMaxKeyBytes) return;
  size_t place = Find(hash, db, key);
  if (table_[place] == kNone) {
    const uint16_t smallest = order_[0];
    Counter& counter = counters_[smallest];
    if (counter.used) {
      Forget(smallest);
      place = Find(hash, db, key);
    }
    counter.error = CountOf(counter);
    counter.reads = 0;
    counter.db = db;
    counter.used = true;
    counter.key.assign(key);
    hashes_[smallest] = hash;
    table_[place] = smallest;
  }
  const uint16_t id = table_[place];
  if (read) ++counters_[id].reads;
  Raise(id);
}

// Closes the gap, so that no search ends at it too early (Knuth, TAOCP 3, 6.4, algorithm R).
void HeavyHitters::Forget(uint16_t id) {
  size_t gap = hashes_[id] % kTableSize;
  while (table_[gap] != id) gap = (gap + 1) % kTableSize;
  for (size_t place = (gap + 1) % kTableSize; table_[place] != kNone; place = (place + 1) % kTableSize) {
    const size_t home = hashes_[table_[place]] % kTableSize;
    const size_t from_home = (place - home) % kTableSize;
    const size_t from_gap = (place - gap) % kTableSize;
    if (from_home < from_gap) continue;
    table_[gap] = table_[place];
    gap = place;
  }
  table_[gap] = kNone;
}

void HeavyHitters::Raise(uint16_t id) {
  Counter& counter = counters_[id];
  const uint16_t old_group = counter.group;
  Group& group = groups_[old_group];
  const uint16_t last = group.last;
  Counter& other = counters_[order_[last]];
  std::swap(order_[counter.position], order_[last]);
  other.position = counter.position;
  counter.position = last;

  const uint64_t count = group.count + 1;
  const bool alone = last == 0 || counters_[order_[last - 1]].group != old_group;
  const bool joins = last + 1 < static_cast<int>(kCounters) && CountOf(counters_[order_[last + 1]]) == count;
  if (alone && !joins) {
    group.count = count;
    return;
  }
  if (alone) {
    free_groups_[free_group_count_++] = old_group;
  } else {
    --group.last;
  }
  if (joins) {
    counter.group = counters_[order_[last + 1]].group;
  } else {
    counter.group = free_groups_[--free_group_count_];
    groups_[counter.group] = {.count = count, .last = last};
  }
}

KeyReport HeavyHitters::Report(uint64_t least, size_t most) const {
  std::vector<const Counter*> found;
  for (const Counter& counter : counters_) {
    if (counter.used && SureCountOf(counter) >= least) found.push_back(&counter);
  }
  most = std::min(most, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<ptrdiff_t>(most), found.end(),
                    [this](const Counter* a, const Counter* b) { return SureCountOf(*a) > SureCountOf(*b); });
  KeyReport report{.sampled = sampled_, .keys = {}};
  report.keys.reserve(most);
  for (size_t i = 0; i < most; ++i) {
    const Counter& counter = *found[i];
    report.keys.push_back({counter.db, counter.key, CountOf(counter), counter.error, counter.reads});
  }
  return report;
}

void HeavyHitters::Halve() {
  sampled_ /= 2;
  for (Counter& counter : counters_) {
    counter.error = CountOf(counter) / 2 - SureCountOf(counter) / 2;
    counter.reads /= 2;
  }
  RegroupHalved();
}

// The order stays: of two counts the half of the larger is not the smaller one. Groups may fall together.
void HeavyHitters::RegroupHalved() {
  std::array<uint64_t, kCounters> counts;
  for (size_t i = 0; i < kCounters; ++i) counts[i] = CountOf(counters_[order_[i]]) / 2;
  free_group_count_ = 0;
  uint16_t group = 0;
  for (uint16_t i = 0; i < kCounters; ++i) {
    if (i > 0 && counts[i] != counts[i - 1]) ++group;
    counters_[order_[i]].group = group;
    groups_[group] = {.count = counts[i], .last = i};
  }
  for (uint16_t unused = kCounters - 1; unused > group; --unused) free_groups_[free_group_count_++] = unused;
}

}  // namespace ringway::proxy
