#ifndef RINGWAY_RING_VIRTUAL_NODES_H_
#define RINGWAY_RING_VIRTUAL_NODES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ring/circle.h"
#include "ring/member.h"

namespace ringway::ring {

// How many virtual nodes a weight gets: weight * per_unit rounded to the nearest whole count, at least 1 for
// a weight above 0, none for 0. It depends on this one weight alone: counts that are scaled so that they add
// up to a fixed total move several times the keys they need to whenever a shard comes or goes.
uint32_t VirtualNodeCount(double weight, uint32_t per_unit);

// The positions of every member's virtual nodes on the 64-bit circle, sorted; Point::owner is the index into
// `members`. Node i of a member sits at XXH3 of (XXH3 of the name, i), both as little-endian 64-bit words.
// `members` must come in canonical order (CanonicalOrder); of two points on one position the earlier member's
// comes first. Time and memory grow linearly with the number of nodes (16 bytes each).
std::vector<Point> PlaceVirtualNodes(std::span<const Member> members, uint32_t per_unit);

// The indices of `members` ordered by the hash of the name, then the name: an order that every proxy computes
// alike, however its configuration lists the shards.
std::vector<uint32_t> CanonicalOrder(std::span<const Member> members);

}  // namespace ringway::ring

#endif  // RINGWAY_RING_VIRTUAL_NODES_H_
