#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ringway::proxy {

// What all workers know together of a hot key: how many writes of it are under way, and its generation, which
// each write that ends raises. A copy may be read only while no write is under way, and in the generation in
// which it was made: docs/hot-keys.md says why that is enough.
// Thread: any. Owns: nothing else. Limits: 2^24 writes under way; generations are counted modulo 2^40.
class HotKey {
 public:
  // Of one moment.
  class State {
   public:
    explicit State(uint64_t word) : word_(word) {}
    bool written() const { return (word_ & kWritesMask) != 0; }
    uint64_t generation() const { return word_ >> kWritesBits; }

   private:
    uint64_t word_;
  };

  // Begins with one write under way for each of `workers`, which each of them ends (EndWrite) when nothing
  // that it had sent before it knew of the key can still be carried out.
  HotKey(uint32_t db, std::string key, uint64_t workers) : db_(db), key_(std::move(key)), word_(workers) {}

  uint32_t db() const { return db_; }
  const std::string& key() const { return key_; }

  State state() const { return State(word_.load(std::memory_order_acquire)); }
  // Before a write is sent.
  void BeginWrite() { word_.fetch_add(1); }
  // It has been carried out or never will be; its client does not know yet.
  void EndWrite() { word_.fetch_add(kGeneration - 1); }
  // No copy is read any more: a write that never ends. Before workers are told that the key is not hot.
  void Retire() { BeginWrite(); }

 private:
  static constexpr int kWritesBits = 24;
  static constexpr uint64_t kGeneration = uint64_t{1} << kWritesBits;
  static constexpr uint64_t kWritesMask = kGeneration - 1;

  const uint32_t db_;
  const std::string key_;
  std::atomic<uint64_t> word_;
};

// The copy that a bucket has. Atomics that are read as one (Boehm, "Can seqlocks get along with
// programming language memory models?", 2012).
// Thread: Set, and what else changes it, from whoever fills the key; Get from any.
class BucketCopy {
 public:
  struct Copy {
    uint64_t id;  // in its name; above 0
    uint64_t generation;
    int64_t until_usec;    // of the monotonic clock: not to be read from then on
    bool expires = false;  // that is when the key expires
  };

  // Nothing: there is none, or it changes just now.
  std::optional<Copy> Get() const {
    const uint64_t id = id_.load(std::memory_order_acquire);
    const Copy copy{id, generation_.load(std::memory_order_acquire),
                    until_usec_.load(std::memory_order_acquire), expires_.load(std::memory_order_acquire)};
    if (id == 0 || id_.load(std::memory_order_relaxed) != id) return std::nullopt;
    return copy;
  }
  void Set(const Copy& copy) {
    id_.store(0, std::memory_order_relaxed);
    generation_.store(copy.generation, std::memory_order_release);
    until_usec_.store(copy.until_usec, std::memory_order_release);
    expires_.store(copy.expires, std::memory_order_release);
    id_.store(copy.id, std::memory_order_release);
  }
  // From any thread: this copy is not there any more.
  void Forget(uint64_t id) { id_.compare_exchange_strong(id, 0); }

 private:
  std::atomic<uint64_t> id_{0};
  std::atomic<uint64_t> generation_{0};
  std::atomic<int64_t> until_usec_{0};
  std::atomic<bool> expires_{false};
};

// The number of a copy: none of this process is given out twice. Thread: any.
uint64_t NextCopyId();

// Where the buckets of a hot key are, under one ring. What workers know of them together.
// Thread: any; `filling` is the lock of what only a filler may change. Owns: the copies' descriptions.
struct HotPlacement {
  struct Bucket {
    explicit Bucket(uint32_t shard) : shard_id(shard) {}
    const uint32_t shard_id;
    BucketCopy copy;
    std::atomic<bool> storing{false};  // its shard has not answered the last copy yet: it gets no further one
    // Of fills before the last, whose copies are to be removed.
    uint64_t last_id = 0;
    uint64_t older_id = 0;
  };

  HotPlacement(std::shared_ptr<HotKey> hot_key, uint64_t ring_hash, const std::vector<uint32_t>& shard_ids)
      : key(std::move(hot_key)), hash(ring_hash) {
    for (const uint32_t id : shard_ids) buckets.push_back(std::make_unique<Bucket>(id));
  }

  // Over how many buckets reads are spread, the key itself included: those that have a copy.
  uint32_t Spread() const {
    uint32_t spread = 1;
    for (const auto& bucket : buckets) spread += bucket->copy.Get().has_value() ? 1 : 0;
    return spread;
  }

  // The next read may have a fill begin.
  void ForgetCopies() {
    for (const auto& bucket : buckets) {
      if (const auto copy = bucket->copy.Get()) bucket->copy.Forget(copy->id);
    }
    refill_usec.store(0, std::memory_order_relaxed);
  }

  const std::shared_ptr<HotKey> key;
  const uint64_t hash;  // ring::HashRing::Hash of the key
  // Bucket 1 and up; bucket 0 is the key itself.
  std::vector<std::unique_ptr<Bucket>> buckets;
  std::atomic<bool> filling{false};
  std::atomic<int64_t> bytes{0};  // of the value, about; once it has been filled
  // When the next fill is due: in the generation of the last one, and in a later one.
  std::atomic<uint64_t> filled_generation{UINT64_MAX};
  std::atomic<int64_t> refill_usec{0};
  std::atomic<int64_t> soonest_fill_usec{0};
  std::atomic<uint64_t> bucket_reads{0};  // figures of all workers, added to a few times a second
};

}  // namespace ringway::proxy
