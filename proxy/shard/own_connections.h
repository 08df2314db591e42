#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proxy/shard/connection_owner.h"
#include "proxy/shard/shard_connection.h"
#include "proxy/topology.h"
#include "proxy/worker_stats.h"

namespace ringway::proxy {

class OwnConnections;

// A connection to a shard that belongs to one user until it is given back or let go. Movable. Thread: one
// worker.
class OwnConnection {
 public:
  OwnConnection() = default;
  OwnConnection(OwnConnection&& other) noexcept { *this = std::move(other); }
  OwnConnection& operator=(OwnConnection&& other) noexcept;
  // Ends the connection at the end of the turn: the server forgets what it knew of it.
  ~OwnConnection() { End(); }

  explicit operator bool() const { return connection_ != nullptr; }
  ShardConnection* operator->() const { return connection_; }
  ShardConnection& operator*() const { return *connection_; }
  uint32_t shard_id() const { return connection_->shard_id(); }

  // For others to use: the server keeps nothing of what was done on it, once all that was sent has been
  // answered.
  void GiveBack();
  void End();

 private:
  friend class OwnConnections;
  OwnConnection(OwnConnections& pool, ShardConnection& connection) : pool_(&pool), connection_(&connection) {}

  OwnConnections* pool_ = nullptr;
  ShardConnection* connection_ = nullptr;
};

// A worker's connections for clients whose state a server keeps: those that block, watch keys, or track them.
// Lends each to one user at a time. Thread: one worker. Owns: the connections, also those that are lent.
// Limits: set_limit for those that are lent; kMaxIdle that wait to be lent again. From the first time on that
// one was wanted, there is one to each shard that waits.
class OwnConnections {
 public:
  static constexpr size_t kMaxIdle = 128;
  static constexpr int64_t kIdleUsec = 10'000'000;

  OwnConnections(ShardEnvironment& environment, WorkerStats& stats)
      : environment_(environment), stats_(stats) {}

  void set_limit(size_t limit) { limit_ = limit; }
  // One to the shard with this id, for this database and RESP version; none: the shard has left, or the limit
  // is reached (HasRoom tells). `owner` (null: nobody) outlives the OwnConnection. It connects with its first
  // request.
  OwnConnection Take(uint32_t shard_id, uint32_t db, uint8_t resp, ConnectionOwner* owner);
  bool HasRoom() const { return lent_ < limit_; }
  size_t lent() const { return lent_; }

  // As ShardPool does: follows shards that moved house, ends the connections to those that left.
  void Adopt(const Topology& topology);
  void Close();
  // About ten times a second. `down`: shards that do not serve; what waits for them without a time limit is
  // told so.
  void Tick(const std::vector<uint32_t>& down);
  // At the end of a turn: what was let go ends.
  void EndReleased();
  // As ShardPool's. A connection on which a command blocks is left out: who holds it sees to it.
  void MarkForDrain(DrainFor whom, uint32_t shard_id, bool to_the_end);
  bool Drained(DrainFor whom, uint32_t shard_id) const;

 private:
  friend class OwnConnection;
  struct Entry {
    std::unique_ptr<ShardConnection> connection;
    bool lent = false;
    bool ended = false;
  };

  void Release(ShardConnection& connection, bool reusable);
  ShardConnection& Make(const Shard& shard, uint32_t db, uint8_t resp);
  void KeepSpares(const std::vector<uint32_t>& down);
  const Shard* FindShard(uint32_t id) const;

  ShardEnvironment& environment_;
  WorkerStats& stats_;
  size_t limit_ = SIZE_MAX;
  size_t lent_ = 0;
  std::vector<Shard> shards_;
  std::unordered_map<ShardConnection*, Entry> entries_;
  bool wanted_ = false;                     // somebody has wanted one
  std::vector<ShardConnection*> idle_;      // given back, or kept ready; the newest last
  std::vector<ShardConnection*> released_;  // to end at the end of the turn
};

}  // namespace ringway::proxy
