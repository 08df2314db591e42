#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "proxy/shard/own_connections.h"
#include "proxy/shard/shard_connection.h"
#include "proxy/topology.h"
#include "proxy/worker_stats.h"

namespace ringway::proxy {

// A worker's connections: one for each shard, database and RESP version, and a further one while a large
// reply occupies it.
// Thread: one worker. Owns: the connections.
class ShardPool {
 public:
  // Connections of one shard, database and version: one, and those kept busy by large replies.
  static constexpr size_t kMaxLaneConnections = 8;
  // A connection beyond the first, or for another database or version, is closed after this long without use.
  static constexpr int64_t kIdleUsec = 60'000'000;

  ShardPool(ShardEnvironment& environment, WorkerStats& stats)
      : environment_(environment), stats_(stats), own_(environment, stats) {}

  // Connects to new shards, follows those that moved house, drops those that left.
  void Adopt(const Topology& topology);

  // Drops all connections, before what they call back goes.
  void Close();

  // Where a request to the shard with this index in the topology goes.
  ShardConnection& Pick(uint32_t shard, uint32_t db, uint8_t resp) {
    Slot& slot = *slots_[shard];
    if (db == 0 && resp == 2) [[likely]] {
      ShardConnection& first = *slot.lanes.front().connections.front();
      if (!first.session().occupied()) [[likely]]
        return first;
    }
    return PickSlowly(slot, db, resp);
  }

  // The same by the shard's id, for those who go on with a request that an older topology has routed; null if
  // the shard has left.
  ShardConnection* PickById(uint32_t shard_id, uint32_t db, uint8_t resp);

  // The first connection of its lane, whatever it is busy with: those who go on in several steps keep their
  // order on it. Null if the shard has left.
  ShardConnection* FirstById(uint32_t shard_id, uint32_t db, uint8_t resp);

  // Drained: the shard has answered all that was under way to it at its last MarkForDrain (`to_the_end`: see
  // ShardSession).
  void MarkForDrain(DrainFor whom, uint32_t shard_id, bool to_the_end);
  bool Drained(DrainFor whom, uint32_t shard_id) const;

  // For clients whose state a server keeps.
  OwnConnections& own() { return own_; }

  EventLoop& loop() { return environment_.loop; }
  size_t shards() const { return slots_.size(); }
  // Whether requests to the shard are refused just now.
  bool IsDown(uint32_t shard) const { return MainConnection(shard).failing(); }
  // The first one, for database 0 and RESP2, which is there as long as the shard is.
  ShardConnection& MainConnection(uint32_t shard) const {
    return *slots_[shard]->lanes.front().connections.front();
  }

  // Connections that went while a server owed them replies; to be cleared for a server that has been fenced.
  LostConnections& lost() { return environment_.lost; }

  // About ten times a second.
  void Tick();
  // At the end of a turn: streams whose client has taken what it had go on.
  void ResumeStreams();

 private:
  struct Lane {
    uint32_t id;  // of ShardDetour
    uint32_t db;
    uint8_t resp;
    std::vector<std::unique_ptr<ShardConnection>> connections;
  };
  struct Slot {
    Shard shard;
    std::vector<Lane> lanes;  // the first is for database 0 and RESP2
  };

  Lane& LaneOf(Slot& slot, uint32_t db, uint8_t resp);
  ShardConnection& PickSlowly(Slot& slot, uint32_t db, uint8_t resp);
  ShardConnection& AddConnection(Slot& slot, Lane& lane, bool keep_open);
  void CloseIdle(Slot& slot, int64_t now_usec);

  ShardEnvironment& environment_;
  WorkerStats& stats_;
  OwnConnections own_;
  std::vector<std::unique_ptr<Slot>> slots_;  // in the topology's order
  uint32_t next_lane_id_ = 1;
  uint32_t next_detour_ = 1;
};

}  // namespace ringway::proxy
