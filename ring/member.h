#ifndef RINGWAY_RING_MEMBER_H_
#define RINGWAY_RING_MEMBER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "ring/distribution.h"

namespace ringway::ring {

// A shard as the ring sees it. The name decides its place, so a shard can move house without moving keys.
struct Member {
  std::string name;
  // host:port, or the path of a unix socket. Only ketama and modula look at it, and only when name is empty.
  std::string address;
  // Relative; 0 owns nothing. Whole numbers for ketama and modula.
  double weight = 1;
};

struct RingOptions {
  Distribution distribution = Distribution::kRing;
  HashFunction hash = HashFunction::kXxh3;
  // Per unit of weight; ring only.
  uint32_t virtual_nodes = 4096;
  // No shard owns more than this fraction above the share its weight asks for; nullopt: a plain ring. Ring
  // only.
  std::optional<double> balance_cap = 0.01;
  // Two characters, or empty for none.
  std::string hash_tag = "{}";
};

}  // namespace ringway::ring

#endif  // RINGWAY_RING_MEMBER_H_
