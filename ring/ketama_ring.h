#ifndef RINGWAY_RING_KETAMA_RING_H_
#define RINGWAY_RING_KETAMA_RING_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ring/circle.h"
#include "ring/member.h"

// twemproxy's placement of servers, to the last rounded float: whoever puts Ringway in twemproxy's place
// finds every key where it was.
namespace ringway::ring {

// What twemproxy hashes for a server: its name; without one host:port as written, host alone for port 11211
// (memcached's), and a unix socket's path followed by a colon.
std::string TwemproxyIdentifier(const Member& member);

// The indices of `members` as twemproxy numbers its servers: by length of the identifier, then its bytes.
std::vector<uint32_t> TwemproxyOrder(std::span<const Member> members);

// How many points a server of this weight gets. 160 for equal weights, save that rounding in single precision
// makes it 156 for 105 of the first 1,024 server counts.
uint32_t KetamaPointCount(uint32_t weight, uint32_t total_weight, uint32_t live_servers);

// The points of the ketama circle (32 bits wide), sorted; Point::owner is the index into `members`. A member
// of weight 0 is to the others as if twemproxy had ejected it. Weights are whole numbers, not all 0.
std::vector<Point> PlaceKetamaPoints(std::span<const Member> members);

// One slot for each unit of weight, in twemproxy's order; a key belongs to slot `hash % slots`.
std::vector<uint16_t> ModulaSlots(std::span<const Member> members);

}  // namespace ringway::ring

#endif  // RINGWAY_RING_KETAMA_RING_H_
