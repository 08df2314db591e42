#include "proxy/shard/own_connections.h"

#include <algorithm>

namespace ringway::proxy {

OwnConnection& OwnConnection::operator=(OwnConnection&& other) noexcept {
  if (this == &other) return *this;
  End();
  pool_ = std::exchange(other.pool_, nullptr);
  connection_ = std::exchange(other.connection_, nullptr);
  return *this;
}

void OwnConnection::GiveBack() {
  if (connection_ != nullptr) pool_->Release(*std::exchange(connection_, nullptr), true);
}

void OwnConnection::End() {
  if (connection_ != nullptr) pool_->Release(*std::exchange(connection_, nullptr), false);
}

const Shard* OwnConnections::FindShard(uint32_t id) const {
  const auto found =
      std::find_if(shards_.begin(), shards_.end(), [id](const Shard& shard) { return shard.id == id; });
  return found == shards_.end() ? nullptr : &*found;
}

OwnConnection OwnConnections::Take(uint32_t shard_id, uint32_t db, uint8_t resp, ConnectionOwner* owner) {
  const Shard* shard = FindShard(shard_id);
  if (shard == nullptr || !HasRoom()) return {};
  ++lent_;
  wanted_ = true;
  const auto idle = std::find_if(idle_.rbegin(), idle_.rend(), [&](ShardConnection* connection) {
    return connection->ready() && connection->shard_id() == shard_id;
  });
  ShardConnection* taken = nullptr;
  if (idle != idle_.rend()) {
    taken = *idle;
    idle_.erase(std::next(idle).base());
    taken->Switch(db, resp);
  } else {
    taken = &Make(*shard, db, resp);
  }
  entries_.at(taken).lent = true;
  taken->set_owner(owner);
  return {*this, *taken};
}

ShardConnection& OwnConnections::Make(const Shard& shard, uint32_t db, uint8_t resp) {
  auto connection = std::make_unique<ShardConnection>(
      environment_, ShardConnection::Address{shard.id, shard.config, db, resp, false, {}, true},
      stats_.by_shard.At(shard.id));
  ShardConnection& made = *connection;
  entries_.emplace(&made, Entry{.connection = std::move(connection)});
  return made;
}

// So that the next one to be lent need not be waited for.
void OwnConnections::KeepSpares(const std::vector<uint32_t>& down) {
  if (!wanted_) return;
  for (const Shard& shard : shards_) {
    const auto is_spare = [&](ShardConnection* connection) { return connection->shard_id() == shard.id; };
    if (std::any_of(idle_.begin(), idle_.end(), is_spare)) continue;
    if (std::find(down.begin(), down.end(), shard.id) != down.end()) continue;
    ShardConnection& spare = Make(shard, 0, 2);
    idle_.push_back(&spare);
    spare.Connect();
  }
}

void OwnConnections::Release(ShardConnection& connection, bool reusable) {
  Entry& entry = entries_.at(&connection);
  entry.lent = false;
  --lent_;
  connection.set_owner(nullptr);
  connection.set_patient(false);
  if (reusable && connection.ready() && idle_.size() < kMaxIdle) {
    idle_.push_back(&connection);
    return;
  }
  entry.ended = true;
  released_.push_back(&connection);
}

void OwnConnections::EndReleased() {
  while (!released_.empty()) {
    std::vector<ShardConnection*> ending;
    ending.swap(released_);
    // What fails with a connection may let go of another.
    for (ShardConnection* connection : ending) entries_.erase(connection);
  }
}

void OwnConnections::Adopt(const Topology& topology) {
  shards_ = topology.shards;
  std::erase_if(idle_, [this](ShardConnection* connection) {
    if (FindShard(connection->shard_id()) != nullptr) return false;
    entries_.at(connection).ended = true;
    released_.push_back(connection);
    return true;
  });
  std::vector<ShardConnection*> all;
  for (const auto& [connection, entry] : entries_) {
    if (!entry.ended) all.push_back(connection);
  }
  for (ShardConnection* connection : all) {
    const auto entry = entries_.find(connection);
    if (entry == entries_.end() || entry->second.ended) continue;
    const Shard* shard = FindShard(connection->shard_id());
    if (shard == nullptr) {
      connection->Drop("has left the ring");
    } else {
      connection->MoveTo(shard->config);
    }
  }
}

void OwnConnections::Close() {
  shards_.clear();
  idle_.clear();
  std::vector<ShardConnection*> all;
  for (const auto& [connection, entry] : entries_) all.push_back(connection);
  for (ShardConnection* connection : all) {
    if (entries_.contains(connection)) connection->Drop("is let go: the proxy ends");
  }
}

void OwnConnections::Tick(const std::vector<uint32_t>& down) {
  const int64_t now_usec = environment_.loop.now_usec();
  for (size_t i = 0; i < idle_.size();) {
    ShardConnection* connection = idle_[i];
    const bool last = std::count_if(idle_.begin(), idle_.end(), [&](ShardConnection* other) {
                        return other->shard_id() == connection->shard_id();
                      }) == 1;
    const bool used = now_usec - connection->last_request_usec() <= kIdleUsec;
    if (!connection->closed() && (used || last)) {
      ++i;
      continue;
    }
    entries_.at(connection).ended = true;
    released_.push_back(connection);
    idle_.erase(idle_.begin() + static_cast<ptrdiff_t>(i));
  }
  std::vector<ShardConnection*> lent;
  for (const auto& [connection, entry] : entries_) {
    if (entry.lent) lent.push_back(connection);
  }
  for (ShardConnection* connection : lent) {
    const auto entry = entries_.find(connection);
    if (entry == entries_.end() || !entry->second.lent) continue;
    const bool gone = std::find(down.begin(), down.end(), connection->shard_id()) != down.end();
    if (gone && connection->patient()) {
      connection->Drop("is unreachable");
    } else {
      connection->Tick();
    }
  }
  KeepSpares(down);
  EndReleased();
}

void OwnConnections::MarkForDrain(DrainFor whom, uint32_t shard_id, bool to_the_end) {
  for (const auto& [connection, entry] : entries_) {
    if (connection->shard_id() == shard_id) connection->session().MarkForDrain(whom, to_the_end);
  }
}

bool OwnConnections::Drained(DrainFor whom, uint32_t shard_id) const {
  return std::all_of(entries_.begin(), entries_.end(), [&](const auto& entry) {
    ShardConnection& connection = *entry.first;
    return connection.shard_id() != shard_id || connection.patient() || connection.session().drained(whom);
  });
}

}  // namespace ringway::proxy
