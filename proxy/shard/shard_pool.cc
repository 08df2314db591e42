#include "proxy/shard/shard_pool.h"

#include <utility>

namespace ringway::proxy {

void ShardPool::Adopt(const Topology& topology) {
  std::vector<std::unique_ptr<Slot>> previous;
  previous.swap(slots_);
  for (const Shard& shard : topology.shards) {
    std::unique_ptr<Slot> slot;
    for (auto& old : previous) {
      if (old != nullptr && old->shard.id == shard.id) slot = std::move(old);
    }
    if (slot == nullptr) {
      slot = std::make_unique<Slot>(Slot{shard, {}});
      slot->lanes.push_back(Lane{next_lane_id_++, 0, 2, {}});
      AddConnection(*slot, slot->lanes.front(), true).Connect();
    } else if (!(slot->shard.config == shard.config)) {
      slot->shard = shard;
      for (Lane& lane : slot->lanes) {
        for (auto& connection : lane.connections) connection->MoveTo(shard.config);
      }
    }
    slots_.push_back(std::move(slot));
  }
  own_.Adopt(topology);
}

// Requests that fail with their connection may want to send a further part: they find no shard any more.
void ShardPool::Close() {
  std::vector<std::unique_ptr<Slot>> closing;
  closing.swap(slots_);
  own_.Close();
}

ShardConnection* ShardPool::PickById(uint32_t shard_id, uint32_t db, uint8_t resp) {
  for (auto& slot : slots_) {
    if (slot->shard.id == shard_id) return &PickSlowly(*slot, db, resp);
  }
  return nullptr;
}

ShardConnection* ShardPool::FirstById(uint32_t shard_id, uint32_t db, uint8_t resp) {
  for (auto& slot : slots_) {
    if (slot->shard.id != shard_id) continue;
    Lane& lane = LaneOf(*slot, db, resp);
    return lane.connections.empty() ? &AddConnection(*slot, lane, false) : lane.connections.front().get();
  }
  return nullptr;
}

void ShardPool::MarkForDrain(DrainFor whom, uint32_t shard_id, bool to_the_end) {
  for (auto& slot : slots_) {
    if (slot->shard.id != shard_id) continue;
    for (Lane& lane : slot->lanes) {
      for (auto& connection : lane.connections) connection->session().MarkForDrain(whom, to_the_end);
    }
  }
  own_.MarkForDrain(whom, shard_id, to_the_end);
}

bool ShardPool::Drained(DrainFor whom, uint32_t shard_id) const {
  for (const auto& slot : slots_) {
    if (slot->shard.id != shard_id) continue;
    for (const Lane& lane : slot->lanes) {
      for (const auto& connection : lane.connections) {
        if (!connection->session().drained(whom)) return false;
      }
    }
  }
  return own_.Drained(whom, shard_id);
}

ShardPool::Lane& ShardPool::LaneOf(Slot& slot, uint32_t db, uint8_t resp) {
  for (Lane& lane : slot.lanes) {
    if (lane.db == db && lane.resp == resp) return lane;
  }
  slot.lanes.push_back(Lane{next_lane_id_++, db, resp, {}});
  return slot.lanes.back();
}

ShardConnection& ShardPool::PickSlowly(Slot& slot, uint32_t db, uint8_t resp) {
  Lane& lane = LaneOf(slot, db, resp);
  for (auto& connection : lane.connections) {
    if (!connection->session().occupied()) return *connection;
  }
  if (lane.connections.size() < kMaxLaneConnections) return AddConnection(slot, lane, false);
  ShardConnection& last = *lane.connections.back();
  last.UpdateReading();
  return last;
}

ShardConnection& ShardPool::AddConnection(Slot& slot, Lane& lane, bool keep_open) {
  const ShardDetour place{lane.id, lane.connections.empty() ? 0 : next_detour_++};
  lane.connections.push_back(std::make_unique<ShardConnection>(
      environment_,
      ShardConnection::Address{slot.shard.id, slot.shard.config, lane.db, lane.resp, keep_open, place},
      stats_.by_shard.At(slot.shard.id)));
  return *lane.connections.back();
}

void ShardPool::Tick() {
  for (auto& slot : slots_) {
    // By index: what a timeout answers may send a further part, and that may add a lane or a connection.
    for (size_t lane = 0; lane < slot->lanes.size(); ++lane) {
      for (size_t i = 0; i < slot->lanes[lane].connections.size(); ++i)
        slot->lanes[lane].connections[i]->Tick();
    }
    CloseIdle(*slot, environment_.loop.now_usec());
  }
  std::vector<uint32_t> down;
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    if (IsDown(i)) down.push_back(slots_[i]->shard.id);
  }
  own_.Tick(down);
}

void ShardPool::CloseIdle(Slot& slot, int64_t now_usec) {
  for (Lane& lane : slot.lanes) {
    std::erase_if(lane.connections, [&](const std::unique_ptr<ShardConnection>& connection) {
      const bool is_main = &lane == &slot.lanes.front() && connection == lane.connections.front();
      return !is_main && connection->idle() && now_usec - connection->last_request_usec() > kIdleUsec;
    });
    if (!lane.connections.empty()) lane.connections.front()->BecomeFirst();
  }
  std::erase_if(slot.lanes, [](const Lane& lane) { return lane.connections.empty(); });
}

void ShardPool::ResumeStreams() {
  // A copy: a stream that goes on leaves the list.
  const std::vector<ShardConnection*> paused = environment_.paused_streams;
  for (ShardConnection* connection : paused) connection->UpdateReading();
}

}  // namespace ringway::proxy
