#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/request_view.h"
#include "proxy/hotkey/bucket_fill.h"
#include "proxy/hotkey/bucket_read.h"
#include "proxy/hotkey/hot_set.h"
#include "proxy/hotkey/hot_settling.h"
#include "proxy/hotkey/hot_trail.h"
#include "proxy/hotkey/hot_writes.h"
#include "proxy/hotkey/shard_loads.h"

namespace ringway::proxy {

// A worker's side of hot keys: finds them among the keys of requests, chooses a bucket for each read, has
// buckets filled, and counts writes. docs/hot-keys.md says why that is safe. Thread: one worker. Owns: its
// entries, the collectors of reads. Limits: HotSet::kMaxKeys.
class HotKeys {
 public:
  HotKeys(ShardSender& sender, HotKeyHome& home);

  void Adopt(const std::shared_ptr<const HotSet>& set);
  void Adopt(const Topology& topology);
  void set_fill_settings(FillSettings settings, CopyRegistry* copies);
  // In place of the monotonic clock, in microseconds.
  void set_clock(std::function<int64_t()> clock) { fills_.clock = std::move(clock); }
  void set_ask_fence(HotSettling::AskFence ask_fence) { settling_.set_ask_fence(std::move(ask_fence)); }
  // About ten times a second.
  void Tick(int64_t now_usec);

  // Whether requests are to be looked at: there are hot keys, or reads of such that were.
  bool watching() const { return watching_; }
  bool has_leavers() const { return !leavers_.empty(); }
  // `hash`: of the key, by the ring. Null: the key is not hot.
  HotEntry* Find(uint32_t db, std::string_view key, uint64_t hash);

  // --- reads ---
  // A bucket for one read; nothing: the key itself is to serve. May start a fill.
  std::optional<BucketChoice> Choose(HotEntry& entry, uint8_t resp);
  // The bucket and copy of an earlier choice once more; nothing: not any more.
  std::optional<BucketChoice> ChooseAgain(HotEntry& entry, uint8_t resp, const HotTrail::Step& step);
  // For a read that the key itself has to answer: what is read often gets copies.
  void CountReadOfKey(HotEntry& entry) { ReadableGeneration(entry); }
  // Sends a request on one key, argument `key_index`, to a bucket.
  void Read(Request& request, const BucketChoice& choice, const protocol::RequestView& view,
            size_t key_index);
  // The same for one key of a split command: part `part` of `parent`.
  void ReadPart(Request& parent, uint32_t part, const BucketChoice& choice, std::string_view command);

  // --- writes ---
  HotWrites& writes() { return writes_; }
  // All keys of a database, or of all (nothing).
  void NoteAll(std::optional<uint32_t> db);
  // Ends writes of which it is not known when they will have been carried out.
  HotSettling& settling() { return settling_; }

 private:
  // A key's slot is found by its hash; a quarter full at the most.
  static constexpr size_t kSlots = 4 * HotSet::kMaxKeys;
  static constexpr uint16_t kEmpty = 0xffff;

  static size_t SlotOf(uint64_t hash) {
    static_assert(std::has_single_bit(kSlots));
    return (hash * 0x9e3779b97f4a7c15ULL) >> (64 - std::countr_zero(kSlots));
  }
  void Place(HotEntry& entry) const;
  std::pair<size_t, size_t> TwoBuckets(const HotEntry& entry);
  // The generation in which copies may be read, if any may. Counts the read.
  std::optional<uint64_t> ReadableGeneration(HotEntry& entry);
  std::optional<BucketChoice> Usable(HotEntry& entry, uint32_t bucket, uint64_t generation, uint8_t resp);
  void FillWhenDue(HotEntry& entry, uint64_t generation);
  void UpdateWatch() { watching_ = !entries_.empty() || !leavers_.empty(); }

  ShardSender& sender_;
  HotKeyHome& home_;
  HotSettling settling_;
  HotWrites writes_;
  BucketRead::Pool reads_;
  BucketFill::Context fills_;
  ShardLoads loads_;
  const Topology* topology_ = nullptr;
  bool watching_ = false;
  std::vector<std::unique_ptr<HotEntry>> entries_;
  std::vector<std::unique_ptr<HotEntry>> leavers_;  // not hot any more, with reads under way
  std::array<uint16_t, kSlots> slots_;
  uint64_t random_state_;
};

}  // namespace ringway::proxy
