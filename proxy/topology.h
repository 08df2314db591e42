#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "proxy/move/move_plan.h"
#include "ring/hash_ring.h"

namespace ringway::proxy {

// Who owns which key, at one moment. Immutable; the control side makes a new one for each change and posts it
// to the workers, each of which holds its own reference.
//
//   phase      ring       shards                        keys that move
//   kStable    the ring   its members                   none
//   kHolding   before     its members, then joining     wait
//   kMoving    after      its members, then leaving     are pulled before their first command
//   kLeaving   after      its members, then leaving     have moved; who leaves only ends what is under way
struct Topology {
  enum class Phase : uint8_t { kStable, kHolding, kMoving, kLeaving };

  uint64_t epoch;
  // Raised when keys begin to move, turn back, and have moved: between two equal values no key changes place.
  uint64_t generation = 0;
  Phase phase = Phase::kStable;
  ring::HashRing ring;
  std::vector<Shard> shards;             // the first ones in the order of ring.members()
  std::shared_ptr<const MovePlan> move;  // kHolding, kMoving; else null

  // The shard of `key`, an index into shards. While keys move, the key may still be elsewhere.
  uint32_t Locate(std::string_view key) const { return ring.Locate(key); }

  // Shards beyond the ring's members own nothing (yet, or any more).
  bool IsMember(uint32_t shard) const { return shard < ring.members().size(); }
  double Share(uint32_t shard) const { return IsMember(shard) ? ring.Share(shard) : 0; }
  double WantedShare(uint32_t shard) const { return IsMember(shard) ? ring.WantedShare(shard) : 0; }
  uint32_t Points(uint32_t shard) const { return IsMember(shard) ? ring.Points(shard) : 0; }

  // All keys live together, whatever their tags.
  bool OneMember() const { return ring.members().size() == 1; }

  bool moving() const { return phase == Phase::kMoving; }
  bool holding() const { return phase == Phase::kHolding; }
  // kHolding and kMoving, of a hash that moves: the server that had the key, and the one that is to have it.
  const Shard& Source(uint64_t hash) const { return move->from()[move->FromIndex(hash)]; }
  const Shard& Target(uint64_t hash) const { return move->to()[move->ToIndex(hash)]; }

  // Ids of the servers that keys move between; of those that leave when all have moved; else none.
  std::vector<uint32_t> ServersInMotion() const;
};

// What a process begins with as its generation: more than any that an earlier process can have had before the
// move with the next id, and the same as long as nothing moves.
constexpr uint64_t FirstGeneration(uint64_t next_move_id) {
  // Three times it is raised at the most: there, back, and over.
  return next_move_id * 4;
}

// The ring of `shards`, which are sorted as its members are.
ring::HashRing RingOf(const std::vector<Shard>& shards, const ring::RingOptions& options);

// `leaving`: servers that own nothing any more, and are kept while they have something to end.
std::shared_ptr<const Topology> StableTopology(uint64_t epoch, uint64_t generation, ring::HashRing ring,
                                               std::vector<Shard> shards, std::vector<Shard> leaving = {});
std::shared_ptr<const Topology> HoldingTopology(uint64_t epoch, uint64_t generation,
                                                std::shared_ptr<const MovePlan> plan);
std::shared_ptr<const Topology> MovingTopology(uint64_t epoch, uint64_t generation,
                                               std::shared_ptr<const MovePlan> plan);

}  // namespace ringway::proxy
