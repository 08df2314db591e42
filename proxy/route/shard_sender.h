#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/route/request.h"
#include "proxy/shard/shard_pool.h"

namespace ringway::proxy {

inline constexpr std::string_view kShardHasLeft = "SHARDDOWN the shard has left the ring";
inline constexpr std::string_view kNoOwnConnection =
    "ERR no connection to the shard is free for a client of its own (limits.own_connections)";

// Sends parts of requests to shards of a worker; what collectors use for their further steps.
// Thread: one worker. Owns: nothing.
class ShardSender {
 public:
  ShardSender(ShardPool& pool, RequestTable& requests) : pool_(pool), requests_(requests) {}

  // Sends one more part; a shard that is down or has left answers it with SHARDDOWN. From within a
  // collector's OnPart, when the topology may be another than the one that the request came under: hence the
  // shard's id.
  void SendPart(Request& request, uint32_t part, uint32_t shard_id, uint32_t db, std::string_view frame) {
    SendOn(pool_.PickById(shard_id, db, request.resp), request, part, frame, nullptr);
  }
  // The same on the one connection on which requests that go on in steps keep their order.
  void SendInOrder(Request& request, uint32_t part, uint32_t shard_id, uint32_t db, std::string_view frame,
                   const BlockRef* block) {
    SendOn(pool_.FirstById(shard_id, db, request.resp), request, part, frame, block);
  }

  ShardPool& pool() { return pool_; }
  RequestTable& requests() { return requests_; }

 private:
  void SendOn(ShardConnection* connection, Request& request, uint32_t part, std::string_view frame,
              const BlockRef* block) {
    ++request.parts_pending;
    if (connection == nullptr) {
      requests_.Refuse(&request, part, kShardHasLeft);
    } else if (connection->admission() == ShardConnection::Admission::kDown) {
      requests_.Refuse(&request, part, connection->DownError());
    } else {
      connection->Send(&request, part, frame, block);
    }
  }

  ShardPool& pool_;
  RequestTable& requests_;
};

}  // namespace ringway::proxy
