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
  for (auto idle = idle_.rbegin(); idle != idle_.rend(); ++idle) {
    ShardConnection& connection = **idle;
    if (!connection.ready() || !connection.IsFor(shard_id, db, resp)) continue;
    idle_.erase(std::next(idle).base());
    entries_.at(&connection).lent = true;
    connection.set_owner(owner);
    return {*this, connection};
  }
  auto connection = std::make_unique<ShardConnection>(
      environment_, ShardConnection::Address{shard_id, shard->config, db, resp, false, {}, true},
      stats_.by_shard.At(shard_id));
  connection->set_owner(owner);
  ShardConnection* taken = connection.get();
  entries_.emplace(taken, Entry{.connection = std::move(connection)});
  return {*this, *taken};
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
  std::erase_if(idle_, [&](ShardConnection* connection) {
    const bool keep = connection->ready() && now_usec - connection->last_request_usec() <= kIdleUsec;
    if (keep) return false;
    entries_.at(connection).ended = true;
    released_.push_back(connection);
    return true;
  });
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
