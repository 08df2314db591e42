#pragma once

#include <cstdint>

namespace ringway::proxy {

// Raises the process's limit of open descriptors to `wanted`, as far as its rights go (to the hard limit, or
// beyond it for root), and answers the limit then in force. It is never lowered.
int64_t RaiseDescriptorLimit(int64_t wanted);

// Descriptors that clients may not take, so that a shard that comes back finds one: for each worker and shard
// its connections, and what the process itself has open.
constexpr int64_t ReservedDescriptors(int64_t workers, int64_t shards) {
  constexpr int64_t kOfTheProcess = 64;
  constexpr int64_t kOfEachShard = 4;
  return kOfTheProcess + workers * (kOfEachShard * shards + 4) + shards;
}

}  // namespace ringway::proxy
