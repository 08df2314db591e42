#pragma once

#include <cstdint>

namespace ringway::proxy {

// Which of a worker's connections to one shard, database and RESP version (a lane): 0 for the lane's first
// one, others serve while a large reply occupies it. Two connections have no order between them, so a client
// whose requests are under way on one must not send to another.
struct ShardDetour {
  // Stands for several places, in a client's record of where its requests are.
  static constexpr uint32_t kSeveral = 0xffff'ffff;

  uint32_t lane = 0;
  uint32_t number = 0;

  bool operator==(const ShardDetour&) const = default;
};

}  // namespace ringway::proxy
