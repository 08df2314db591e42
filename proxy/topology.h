#pragma once

#include <cstdint>
#include <vector>

#include "config/config.h"
#include "ring/hash_ring.h"

namespace ringway::proxy {

// One Redis server behind the proxy.
struct Shard {
  uint32_t id;  // given out once for each name in the life of the process; statistics go by it
  config::ShardConfig config;
};

// Who owns which key, at one moment. Immutable; the control side makes a new one for each change and posts it
// to the workers, each of which holds its own reference.
struct Topology {
  uint64_t epoch;
  ring::HashRing ring;
  std::vector<Shard> shards;  // in the order of ring.members()

  // The shard of `key`, an index into shards.
  uint32_t Locate(std::string_view key) const { return ring.Locate(key); }
};

}  // namespace ringway::proxy
