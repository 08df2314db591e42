#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "proxy/move/move_figures.h"
#include "ring/ring_diff.h"

namespace ringway::proxy {

// One Redis server behind the proxy.
struct Shard {
  // Given out once for each server in the life of the process; statistics go by it. A shard that moves house
  // with its keys (a reload that gives it another address) keeps its id; one that is replaced does not.
  uint32_t id;
  config::ShardConfig config;
};

// What a change of the ring moves: the shards and the rings before and after it. Immutable; made once for
// each change and shared by the topologies of its phases. An ABORT makes a new one with the two sides
// exchanged.
class MovePlan {
 public:
  // Keys of one server that go to another one.
  struct Pair {
    uint32_t from;  // index into from()
    uint32_t to;    // index into to()
    double share;   // fraction (0..1) of all hashes
  };

  // `from` and `to` in the order of the rings' members. `given_up`: ids of shards in `from` whose keys are
  // not fetched (REMOVE FORCE). Aborts unless RingDiff::CheckComparable(from_ring, to_ring) finds nothing.
  MovePlan(uint64_t id, std::vector<Shard> from, ring::HashRing from_ring, std::vector<Shard> to,
           ring::HashRing to_ring, const std::vector<uint32_t>& given_up, config::Mover mover);

  uint64_t id() const { return id_; }
  const std::vector<Shard>& from() const { return from_; }
  const std::vector<Shard>& to() const { return to_; }
  const ring::RingDiff& diff() const { return diff_; }
  config::Mover mover() const { return mover_; }

  // The owner of a key with this hash before and after, as indices into from() and to().
  uint32_t FromIndex(uint64_t hash) const { return diff_.From(hash); }
  uint32_t ToIndex(uint64_t hash) const { return diff_.To(hash); }
  // Whether the key is to be fetched from another server. (By server and not by name: a replaced shard keeps
  // its name.) What a shard that is given up held is not.
  bool Moves(uint64_t hash) const {
    const uint32_t from = FromIndex(hash);
    return from_[from].id != to_[ToIndex(hash)].id && !given_up_[from];
  }
  bool IsGivenUp(uint32_t from_index) const { return given_up_[from_index]; }

  // The pairs of servers between which keys move, ordered by (from, to), without those given up.
  const std::vector<Pair>& pairs() const { return pairs_; }
  // Index into pairs(); only for two servers between which keys move.
  uint32_t PairOf(uint32_t from_index, uint32_t to_index) const {
    return pair_of_[from_index * to_.size() + to_index];
  }
  // Whether the pair's keys go through the proxy. MIGRATE holds up both servers until it is done, so servers
  // that send keys to one another, over however many steps, would wait for each other until they time out: of
  // such a circle some pairs are relayed.
  bool Relays(uint32_t pair) const { return relayed_[pair]; }
  bool RelaysAny() const { return relays_any_; }
  // The sum of the pairs' shares.
  double moving_share() const { return moving_share_; }

  // The servers that keys move to, by id, each once.
  std::vector<uint32_t> TargetIds() const;
  // Shards of from() that are none of to().
  std::vector<Shard> Leaving() const;
  // Shards of to() that were none of from().
  std::vector<Shard> Joining() const;

  // Written by workers and the mover while the move goes on, by index of the pair.
  MoveFigures& figures() const { return *figures_; }

 private:
  void FindPairs();
  void FindRelayed();

  const uint64_t id_;
  const std::vector<Shard> from_;
  const std::vector<Shard> to_;
  const ring::RingDiff diff_;
  const config::Mover mover_;
  std::vector<bool> given_up_;  // by index into from_
  std::vector<Pair> pairs_;
  std::vector<uint32_t> pair_of_;
  std::vector<bool> relayed_;  // by index into pairs_
  bool relays_any_ = false;
  double moving_share_ = 0;
  std::unique_ptr<MoveFigures> figures_;
};

}  // namespace ringway::proxy
