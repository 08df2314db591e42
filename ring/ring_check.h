#ifndef RINGWAY_RING_RING_CHECK_H_
#define RINGWAY_RING_RING_CHECK_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ring/member.h"

namespace ringway::ring {

// Owners are stored in 16 bits, and a shard should have a fair number of the 2^18 slots: 64 at this count.
inline constexpr uint32_t kMaxMembers = 4096;
inline constexpr uint32_t kMaxVirtualNodes = 65536;
inline constexpr double kMaxWeight = 1e6;
// All virtual nodes of a ring, or the total weight for ketama and modula: 16 bytes each while a ring is
// built.
inline constexpr uint64_t kMaxPoints = uint64_t{1} << 24;
inline constexpr double kMaxBalanceCap = 1;

// What makes a ring of these members impossible, in one sentence for the user, or nullopt. HashRing's
// constructor demands nullopt.
std::optional<std::string> CheckRing(std::span<const Member> members, const RingOptions& options);

// A sentence of warning about a hash that serves its distribution badly, or nullopt. Such pairs must remain
// possible, for users whose keys have been placed that way.
std::optional<std::string> RingWarning(const RingOptions& options);

}  // namespace ringway::ring

#endif  // RINGWAY_RING_RING_CHECK_H_
