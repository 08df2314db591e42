#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "proxy/move/topology_ack.h"

namespace ringway::proxy {

// The last part of a connection's name: none of this process is given out twice. Thread: any.
uint64_t NextConnectionNumber();

// The connections of one thread that went while a server owed them replies. Thread: one. Limits: kMaxKept,
// the newest: as many are lost only in the course of an hour of a server that comes and goes, and when it
// came it has carried out what the oldest had sent.
class LostConnections {
 public:
  static constexpr size_t kMaxKept = 1024;

  void Add(uint32_t shard_id, uint64_t number);
  // Their servers have been fenced, or are no more. (Each by its number: an older connection may have been
  // lost later.)
  void Forget(const std::vector<LostConnection>& fenced);
  const std::vector<LostConnection>& all() const { return all_; }  // oldest first

 private:
  std::vector<LostConnection> all_;
};

}  // namespace ringway::proxy
