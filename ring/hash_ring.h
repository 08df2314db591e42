#ifndef RINGWAY_RING_HASH_RING_H_
#define RINGWAY_RING_HASH_RING_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ring/circle.h"
#include "ring/key_hash.h"
#include "ring/member.h"
#include "ring/ring_check.h"

namespace ringway::ring {

// Who owns a key. A pure function of the members' names and weights and of the options: every proxy with the
// same configuration computes the same ring, whatever the order its shards are listed in and whatever the
// ring was before. (For ketama and modula an address stands in for a missing name, as in twemproxy.)
//
// Three ways from a hash to an owner:
//   ring                  virtual nodes resolved into a table of 2^18 slots with a cap on each share; one
//   load ring, balance_cap off the exact clockwise virtual node ketama, modula        twemproxy's
// The table's size is the same for every number of members on purpose: the shards a slot could belong to
// depend on where the slot begins, so a size that changed with the number of shards would move a quarter of
// all keys when the first shard beyond the limit is added.
//
// Thread: immutable; any thread may read.
// Owns: members, options and the tables. Copies share the tables, so copying costs little more than the
// names. Limits: ring_check.h.
class HashRing {
 public:
  static constexpr uint32_t kNoShard = UINT32_MAX;
  static constexpr uint32_t kSlotBits = 18;

  // Aborts unless CheckRing(members, options) finds nothing wrong.
  HashRing(std::vector<Member> members, RingOptions options);

  // The owner of a key, as an index into members().
  uint32_t Locate(std::string_view key) const { return Owner(Hash(key)); }

  // The key's position, after its hash tag: 64 bits for ring, 32 for ketama and modula.
  uint64_t Hash(std::string_view key) const {
    const std::string_view tagged = tag_.Of(key);
    if (hash32_ == nullptr) return Xxh3(tagged);
    // twemproxy calls no hash function for an empty key.
    return tagged.empty() ? 0 : hash32_(tagged);
  }

  // What of the key decides its place: its hash tag if it has one, else all of it. Keys of one tag stay
  // together on every ring.
  std::string_view TagOf(std::string_view key) const { return tag_.Of(key); }

  // The owner of a position that Hash() could return.
  uint32_t Owner(uint64_t hash) const {
    if (slot_bits_ != 0) return slots_[hash >> (64 - slot_bits_)];
    if (circle_ != nullptr) return circle_->Owner(hash);
    return slots_[hash % slot_count_];
  }

  // The first `count` different owners clockwise from a position that Hash() could return, its own first:
  // of the next slots, or virtual nodes. Fewer if fewer members own anything. Walks up to the whole ring.
  void Successors(uint64_t hash, size_t count, std::vector<uint32_t>* out) const;

  const std::vector<Member>& members() const { return members_; }
  const RingOptions& options() const { return options_; }

  // The member's name; for ketama and modula without a name, what stands in for it. Unique in a ring.
  const std::string& Identifier(uint32_t member) const { return identifiers_[member]; }

  // The fraction (0..1) of all hashes that the member owns, and the fraction its weight asks for.
  double Share(uint32_t member) const { return shares_[member]; }
  double WantedShare(uint32_t member) const { return wanted_shares_[member]; }

  // Virtual nodes for ring, points for ketama, slots for modula.
  uint32_t Points(uint32_t member) const { return points_[member]; }
  uint64_t total_points() const { return total_points_; }

  // Shares relative to the wanted share, over the members of weight above 0: the largest, the smallest and
  // the standard deviation. 1, 1, 0 is perfect.
  struct Balance {
    double max_over_mean;
    double min_over_mean;
    double stddev;
  };
  const Balance& balance() const { return balance_; }

  // A run of positions with one owner; both ends belong to it.
  struct Arc {
    uint64_t first;
    uint64_t last;
    uint32_t owner;
  };
  // All positions in order, neighbours with one owner joined. Empty for modula, which has no arcs.
  std::vector<Arc> Arcs() const;

  // Positions are below 2^hash_bits(): 64 or 32.
  int hash_bits() const { return hash32_ == nullptr ? 64 : 32; }

  // The slot table of the capped ring (top slot_bits() bits of the position) and of modula (position modulo
  // its size); empty otherwise. slot_bits() is 0 but for the capped ring.
  std::span<const uint16_t> slots() const { return {slots_, slot_count_}; }
  uint32_t slot_bits() const { return slot_bits_; }

 private:
  void BuildRing();
  void BuildKetama();
  void BuildModula();
  void SetSlots(std::vector<uint16_t> slots);
  void MeasureShares();

  std::vector<Member> members_;
  RingOptions options_;
  std::vector<std::string> identifiers_;
  HashTag tag_;
  Hash32 hash32_;  // nullptr: XXH3

  // Exactly one of circle_ and slots_ is there. The raw pointers are what look-ups follow; the shared ones
  // own.
  std::shared_ptr<const Circle> circle_owner_;
  std::shared_ptr<const std::vector<uint16_t>> slots_owner_;
  const Circle* circle_ = nullptr;
  const uint16_t* slots_ = nullptr;
  uint32_t slot_count_ = 0;
  uint32_t slot_bits_ = 0;

  std::vector<double> shares_;
  std::vector<double> wanted_shares_;
  std::vector<uint32_t> points_;
  uint64_t total_points_ = 0;
  Balance balance_{};
};

}  // namespace ringway::ring

#endif  // RINGWAY_RING_HASH_RING_H_
