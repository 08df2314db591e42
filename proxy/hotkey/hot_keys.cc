#include "proxy/hotkey/hot_keys.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "protocol/command_writer.h"
#include "proxy/hotkey/bucket_name.h"
#include "proxy/net/clock.h"
#include "proxy/xorshift.h"

namespace ringway::proxy {
namespace {

// A fill costs about as many commands as there are buckets, so at least so many reads for each bucket have to
// have come without a write between them.
constexpr uint64_t kReadsForEachBucket = 2;

}  // namespace

HotKeys::HotKeys(ShardSender& sender, HotKeyHome& home)
    : sender_(sender),
      home_(home),
      settling_(sender.pool(), home),
      writes_(settling_, home, sender.requests().stats()),
      reads_(sender, home),
      fills_{sender, home, FillSettings{}, nullptr, &MonotonicUsec},
      loads_(sender.requests().stats()),
      random_state_(static_cast<uint64_t>(sender.requests().now_usec()) | 1) {
  slots_.fill(kEmpty);
}

void HotKeys::set_fill_settings(FillSettings settings, CopyRegistry* copies) {
  const bool sooner = settings.max_staleness_ms < fills_.settings.max_staleness_ms;
  fills_.settings = std::move(settings);
  fills_.copies = copies;
  if (!sooner) return;
  // What was to be read for longer is given up; a fill under way keeps to the new limit.
  for (const auto& entry : entries_) entry->placement->ForgetCopies();
}

// --- which keys are hot ---

void HotKeys::Adopt(const std::shared_ptr<const HotSet>& set) {
  std::unordered_map<const HotPlacement*, std::unique_ptr<HotEntry>> before;
  std::vector<const HotKey*> known;
  for (auto& entry : entries_) {
    known.push_back(entry->placement->key.get());
    const HotPlacement* placement = entry->placement.get();
    before.emplace(placement, std::move(entry));
  }
  entries_.clear();
  slots_.fill(kEmpty);
  for (const auto& placement : set->keys) {
    std::unique_ptr<HotEntry>& kept = before[placement.get()];
    if (kept == nullptr) {
      kept = std::make_unique<HotEntry>();
      kept->placement = placement;
      Place(*kept);
      if (std::find(known.begin(), known.end(), placement->key.get()) == known.end()) {
        settling_.Add(placement->key, home_.ServersOf(placement->key->key()));
      }
    }
    size_t slot = SlotOf(placement->hash);
    while (slots_[slot] != kEmpty) slot = (slot + 1) % kSlots;
    slots_[slot] = static_cast<uint16_t>(entries_.size());
    entries_.push_back(std::move(kept));
  }
  for (auto& [placement, entry] : before) {
    if (entry == nullptr) continue;
    entry->left = true;
    if (entry->in_flight > 0) leavers_.push_back(std::move(entry));
  }
  UpdateWatch();
}

void HotKeys::Adopt(const Topology& topology) {
  topology_ = &topology;
  loads_.Adopt(topology);
  for (auto& entry : entries_) Place(*entry);
}

void HotKeys::Place(HotEntry& entry) const {
  const auto index_of = [this](uint32_t id) {
    for (uint32_t i = 0; i < topology_->shards.size(); ++i) {
      if (topology_->shards[i].id == id) return i;
    }
    return HotEntry::kNoShard;
  };
  entry.home = topology_->ring.Owner(entry.placement->hash);
  entry.buckets.resize(entry.placement->buckets.size());
  for (size_t i = 0; i < entry.buckets.size(); ++i) {
    entry.buckets[i].shard = index_of(entry.placement->buckets[i]->shard_id);
  }
}

HotEntry* HotKeys::Find(uint32_t db, std::string_view key, uint64_t hash) {
  for (size_t slot = SlotOf(hash); slots_[slot] != kEmpty; slot = (slot + 1) % kSlots) {
    HotEntry& entry = *entries_[slots_[slot]];
    if (entry.placement->hash == hash && entry.key().db() == db && entry.key().key() == key) return &entry;
  }
  return nullptr;
}

void HotKeys::Tick(int64_t now_usec) {
  loads_.Tick();
  settling_.Tick(now_usec);
  for (auto& entry : entries_) {
    if (entry->bucket_reads == 0) continue;
    entry->placement->bucket_reads.fetch_add(std::exchange(entry->bucket_reads, 0),
                                             std::memory_order_relaxed);
  }
  std::erase_if(leavers_, [](const auto& entry) { return entry->in_flight == 0; });
  UpdateWatch();
}

// --- reads ---

std::optional<BucketChoice> HotKeys::Choose(HotEntry& entry, uint8_t resp) {
  const auto generation = ReadableGeneration(entry);
  if (!generation.has_value()) return std::nullopt;
  const auto [first, second] = TwoBuckets(entry);
  for (const size_t bucket : {first, second}) {
    if (bucket == 0) return std::nullopt;
    if (auto choice = Usable(entry, static_cast<uint32_t>(bucket - 1), *generation, resp)) {
      choice->escorted = entry.escorts > 0;
      if (choice->escorted) --entry.escorts;
      return choice;
    }
  }
  return std::nullopt;
}

std::optional<BucketChoice> HotKeys::ChooseAgain(HotEntry& entry, uint8_t resp, const HotTrail::Step& step) {
  const auto generation = ReadableGeneration(entry);
  // Buckets may have been placed anew.
  if (!generation.has_value() || step.bucket >= entry.buckets.size()) return std::nullopt;
  auto choice = Usable(entry, step.bucket, *generation, resp);
  // Nor is there an order between two connections.
  if (!choice.has_value() || choice->copy != step.copy || !(choice->connection->place() == step.place)) {
    return std::nullopt;
  }
  choice->escorted = step.escorted;
  return choice;
}

std::optional<uint64_t> HotKeys::ReadableGeneration(HotEntry& entry) {
  const HotKey::State state = entry.key().state();
  if (state.written()) return std::nullopt;
  if (state.generation() != entry.generation) {
    entry.generation = state.generation();
    entry.reads = 0;
  }
  ++entry.reads;
  FillWhenDue(entry, state.generation());
  return state.generation();
}

// Two by chance, the one with less to do first: Mitzenmacher, "The power of two choices in randomized load
// balancing", 2001.
std::pair<size_t, size_t> HotKeys::TwoBuckets(const HotEntry& entry) {
  const size_t count = entry.buckets.size() + 1;
  const uint64_t random = NextRandom(random_state_);
  const size_t first = (random & UINT32_MAX) % count;
  const size_t second = (first + 1 + (random >> 32) % (count - 1)) % count;
  const auto shard_of = [&entry](size_t bucket) {
    return bucket == 0 ? entry.home : entry.buckets[bucket - 1].shard;
  };
  const uint32_t one = shard_of(first);
  const uint32_t other = shard_of(second);
  const bool swap =
      one == HotEntry::kNoShard || (other != HotEntry::kNoShard && loads_.IsLighter(other, one));
  return swap ? std::pair(second, first) : std::pair(first, second);
}

std::optional<BucketChoice> HotKeys::Usable(HotEntry& entry, uint32_t bucket, uint64_t generation,
                                            uint8_t resp) {
  HotEntry::Bucket& mine = entry.buckets[bucket];
  if (mine.shard == HotEntry::kNoShard) return std::nullopt;
  const auto copy = entry.placement->buckets[bucket]->copy.Get();
  if (!copy.has_value() || copy->generation != generation) return std::nullopt;
  // A turn's time is behind by what the turn has taken, which is too much for a key that expires.
  const int64_t now_usec = copy->expires ? fills_.clock() : sender_.requests().now_usec();
  if (now_usec >= copy->until_usec) return std::nullopt;
  ShardConnection& connection = sender_.pool().Pick(mine.shard, entry.key().db(), resp);
  if (connection.admission() != ShardConnection::Admission::kOpen) return std::nullopt;
  if (mine.named != copy->id) {
    mine.named = copy->id;
    mine.name_argument.clear();
    protocol::AppendArg(mine.name_argument, entry.key().key() + BucketSuffix(fills_.settings.run, copy->id));
  }
  return BucketChoice{&entry, bucket, copy->id, false, &connection};
}

void HotKeys::FillWhenDue(HotEntry& entry, uint64_t generation) {
  HotPlacement& placement = *entry.placement;
  if (placement.filling.load(std::memory_order_relaxed)) return;
  const int64_t now_usec = sender_.requests().now_usec();
  if (now_usec < placement.soonest_fill_usec.load(std::memory_order_relaxed)) return;
  if (placement.filled_generation.load(std::memory_order_relaxed) == generation) {
    if (now_usec < placement.refill_usec.load(std::memory_order_relaxed)) return;
  } else if (entry.reads < kReadsForEachBucket * (entry.buckets.size() + 1)) {
    return;
  }
  if (!home_.IsKeyThere(entry.key().db(), entry.key().key(), placement.hash)) return;
  if (placement.filling.exchange(true, std::memory_order_acquire)) return;
  BucketFill::Start(fills_, entry.placement);
}

void HotKeys::Read(Request& request, const BucketChoice& choice, const protocol::RequestView& view,
                   size_t key_index) {
  const std::string_view frame = view.frame();
  const std::string_view key = view.Encoded(key_index, 1);
  const auto begin = static_cast<size_t>(key.data() - frame.data());
  reads_.Start(request, choice, {frame.substr(0, begin), key, frame.substr(begin + key.size())});
}

void HotKeys::ReadPart(Request& parent, uint32_t part, const BucketChoice& choice, std::string_view command) {
  std::string before;
  protocol::AppendHeader(before, 2);
  protocol::AppendArg(before, command);
  std::string key;
  protocol::AppendArg(key, choice.entry->key().key());
  reads_.StartPart(parent, part, choice, {before, key, {}});
}

// --- writes ---

void HotKeys::NoteAll(std::optional<uint32_t> db) {
  for (const auto& entry : entries_) {
    if (!db.has_value() || entry->key().db() == *db) writes_.Note(entry->placement->key);
  }
}

}  // namespace ringway::proxy
