#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace ringway::proxy {

// A connection that went while the server owed it replies: the server may still carry out what it has not
// read yet.
struct LostConnection {
  uint32_t shard_id;
  uint64_t number;  // the last part of the connection's name (ProxyState::connection_name_prefix)

  bool operator==(const LostConnection&) const = default;
};

// What a worker answers to a topology.
struct TopologyAck {
  enum class Kind : uint8_t {
    kAdopted,  // requests that come from now on follow it
    kDrained,  // and no request that followed an older one can still reach a server that the move concerns,
               // but through `lost`
  };
  Kind kind;
  uint32_t worker;
  uint64_t epoch;
  std::vector<LostConnection> lost;  // kDrained: all since the process started, servers of the move only
};

// Called on the worker's thread, once for each kind; kDrained also comes for a topology without a move.
using TopologyAckFunction = std::function<void(const TopologyAck&)>;

}  // namespace ringway::proxy
