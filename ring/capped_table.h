#ifndef RINGWAY_RING_CAPPED_TABLE_H_
#define RINGWAY_RING_CAPPED_TABLE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ring/circle.h"

namespace ringway::ring {

// Resolves virtual nodes into 2^slot_bits slots so that no member owns more than its cap. Result: for each
// slot the owner as in Point::owner.
//
// The method is consistent hashing with bounded loads (Mirrokni, Thorup, Zadimoghaddam 2016) with slots as
// the load: visited in a fixed pseudo-random order that knows nothing of the members, each slot goes to the
// first virtual node clockwise of its start whose member is still below
//     ceil((1 + balance_cap) * slots * weight / total weight).
// It is a pure function of its inputs, so every proxy computes the same table.
//
// `points` sorted by position; `weights` indexed by Point::owner, with a point for each weight above 0.
// Every slot finds an owner: the caps add up to at least the number of slots, so before the last slot is
// dealt some member with points is below its cap, and the walk goes once round the circle. Time: slots +
// points steps, whatever the weights: a node of a member that is full is stepped over once and then skipped
// (path compression).
std::vector<uint16_t> ResolveCapped(std::span<const Point> points, std::span<const double> weights,
                                    double balance_cap, int slot_bits);

}  // namespace ringway::ring

#endif  // RINGWAY_RING_CAPPED_TABLE_H_
