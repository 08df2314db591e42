#ifndef RINGWAY_RING_RING_DIFF_H_
#define RINGWAY_RING_RING_DIFF_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ring/hash_ring.h"

namespace ringway::ring {

// Keys that pass from one shard to another when a ring is replaced.
struct Move {
  uint32_t from;  // index into the old ring's members
  uint32_t to;    // index into the new ring's members
  double share;   // fraction (0..1) of all hashes
};

// What changes when the ring `from` is replaced by the ring `to`: which hashes get another owner, and between
// whom. Members are the same shard when they have the same name, whatever their indices and addresses.
// Because shares are capped, a few per cent of what moves may pass between shards that both stay, so any pair
// can occur.
//
// Thread: immutable; any thread may read.
// Owns: copies of both rings (which share their tables with the originals).
// Limits: both rings must hash keys alike (CheckComparable).
class RingDiff {
 public:
  // Positions (both ends included) that pass from one shard to another.
  struct MovingArc {
    uint64_t first;
    uint64_t last;
    uint32_t from;
    uint32_t to;
  };

  // Why two rings cannot be compared, in one sentence, or nullopt: keys of one hash in the old ring must have
  // one hash in the new ring.
  static std::optional<std::string> CheckComparable(const HashRing& from, const HashRing& to);

  // Aborts unless CheckComparable(from, to) is nullopt.
  RingDiff(HashRing from, HashRing to);

  // Whether a key with this hash (HashRing::Hash of either ring) changes hands. Two loads for capped rings.
  bool Moves(uint64_t hash) const { return new_index_[from_.Owner(hash)] != to_.Owner(hash); }

  // Its owner before, as an index into from().members(), and after, as an index into to().members().
  uint32_t From(uint64_t hash) const { return from_.Owner(hash); }
  uint32_t To(uint64_t hash) const { return to_.Owner(hash); }

  // The new index of an old member; HashRing::kNoShard when it is gone.
  uint32_t NewIndex(uint32_t old_member) const { return new_index_[old_member]; }

  // One entry for each pair of shards that something passes between, ordered by (from, to).
  const std::vector<Move>& pairs() const { return pairs_; }

  // The positions that change hands, in order. Empty for modula, where they are scattered.
  const std::vector<MovingArc>& arcs() const { return arcs_; }

  // The fraction of all hashes that change hands, and the least that any design would have to move to go from
  // the old wanted shares to the new ones. Both exact up to rounding, if the hash spreads keys evenly.
  double moving_share() const { return moving_share_; }
  double least_possible_share() const { return least_possible_share_; }

  const HashRing& from() const { return from_; }
  const HashRing& to() const { return to_; }

 private:
  void MatchMembers();
  void CompareArcs();
  void CompareSlots();

  HashRing from_;
  HashRing to_;
  std::vector<uint32_t> new_index_;
  std::vector<Move> pairs_;
  std::vector<MovingArc> arcs_;
  double moving_share_ = 0;
  double least_possible_share_ = 0;
};

}  // namespace ringway::ring

#endif  // RINGWAY_RING_RING_DIFF_H_
