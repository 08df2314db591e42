#include "tests/sim/move_sim_worker.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ringway::proxy {

MoveSimShared::MoveSimShared(uint64_t seed)
    : random(seed),
      environment{now_usec, truth,
                  [this](const std::string& host) -> ModelServer* {
                    for (auto& [id, server] : servers) {
                      if (server->host() == host) return server.get();
                    }
                    return nullptr;
                  },
                  [this] {
                    using Luck = ModelServer::Luck;
                    if (calm || !OneIn(12)) return Luck::kGood;
                    return OneIn(3) ? Luck::kUnreachable : OneIn(2) ? Luck::kCutOff : Luck::kHalf;
                  },
                  problem} {}

MoveSimWorker::MoveSimWorker(MoveSimShared& shared, size_t index, size_t clients)
    : shared_(shared),
      index_(index),
      world_({.shards = 1, .down = {}, .hash_tag = "{}"}),
      drain_(world_.pool),
      clients_(clients) {
  world_.relay_elsewhere = [this](const auto& plan, uint32_t pair, uint32_t db, const std::string& key,
                                  Relay::Done done) { RelayKey(plan, pair, db, key, std::move(done)); };
  for (size_t i = 0; i < clients; ++i) Connect(i);
}

MoveSimWorker::~MoveSimWorker() { Close(); }

std::string MoveSimWorker::Close() {
  for (const auto& client : clients_) {
    replies_ += client->replies();
    errors_ += client->errors();
  }
  clients_.clear();
  world_.pool.Close();
  tasks_.clear();
  world_.environment.scratch.Reset();
  if (world_.requests.in_use() != 0) return "requests leak";
  return world_.blocks.bytes_in_use() != 0 ? "blocks leak" : "";
}

// --- messages ---

void MoveSimWorker::Adopt(std::shared_ptr<const Topology> topology, TopologyAckFunction ack) {
  drain_.Begin(world_.router.epoch_token());
  world_.Adopt(topology);
  BuryLinks();
  for (auto& client : clients_) {
    if (client->fake().session().stopped()) client->fake().session().MarkResumable();
  }
  ack_ = std::move(ack);
  ack_({TopologyAck::Kind::kAdopted, static_cast<uint32_t>(index_), topology->epoch, {}});
  AckWhenDrained();
}

void MoveSimWorker::AckWhenDrained() {
  if (ack_ == nullptr) return;
  const Topology& topology = world_.router.topology();
  const std::vector<uint32_t> servers = topology.ServersInMotion();
  if (!drain_.Ended(servers, topology.phase == Topology::Phase::kLeaving)) return;
  TopologyAck drained{TopologyAck::Kind::kDrained, static_cast<uint32_t>(index_), topology.epoch, {}};
  for (const LostConnection& lost : world_.pool.lost().all()) {
    if (std::count(servers.begin(), servers.end(), lost.shard_id) != 0) drained.lost.push_back(lost);
  }
  std::exchange(ack_, nullptr)(drained);
}

void MoveSimWorker::RelayKey(const std::shared_ptr<const MovePlan>& plan, uint32_t pair, uint32_t db,
                             const std::string& key, Relay::Done done) {
  MoveSimWorker* owner = shared_.workers[Relay::WorkerOf(key, shared_.workers.size())];
  if (owner == this) {
    world_.relay.Move(plan, pair, db, key, std::move(done));
    return;
  }
  owner->Post([this, owner, plan, pair, db, key, done = std::move(done)] {
    owner->world_.relay.Move(plan, pair, db, key, [this, done](const Relay::Result& result) {
      Post([done, result] { done(result); });
    });
  });
}

void MoveSimWorker::RunTasks(size_t most) {
  for (; most > 0 && !tasks_.empty(); --most) {
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    task();
  }
}

// --- connections ---

ShardSession& MoveSimWorker::SessionAt(const Place& place) {
  const auto& [id, db, resp] = place;
  return world_.pool.FirstById(id, db, resp)->session();
}

void MoveSimWorker::TakeRequests(const Place& place, Link& link) {
  if (link.number == 0) {
    link.number = NextConnectionNumber();
    link.server_side.db = std::get<1>(place);
  }
  for (auto& request : link.fake.TakeRequests(SessionAt(place))) link.to_server.push_back(std::move(request));
}

void MoveSimWorker::Serve(const Place& place, Link& link, size_t requests) {
  if (!link.to_server.empty()) RunGhosts(place);
  for (; requests > 0 && !link.to_server.empty(); --requests) {
    link.to_proxy += shared_.Server(std::get<0>(place)).Execute(link.server_side, link.to_server.front());
    link.to_server.pop_front();
  }
}

void MoveSimWorker::Give(const Place& place, Link& link, size_t bytes) {
  const std::string given = link.to_proxy.substr(0, bytes);
  link.to_proxy.erase(0, given.size());
  if (!FakeShard::Feed(SessionAt(place), given, 1 + shared_.Below(300))) {
    shared_.problem = "a good reply was refused: " + given;
  }
}

void MoveSimWorker::StepLinks() {
  for (const Shard& shard : world_.router.topology().shards) {
    for (uint32_t db = 0; db < 2; ++db) {
      for (const uint8_t resp : {uint8_t{2}, uint8_t{3}}) {
        if (!shared_.OneIn(3)) continue;
        const Place place{shard.id, db, resp};
        Link& link = links_[place];
        TakeRequests(place, link);
        if (shared_.OneIn(2)) Serve(place, link, shared_.Below(12));
        if (shared_.OneIn(2)) Give(place, link, shared_.Below(400));
        if (!shared_.calm && shared_.OneIn(600)) Lose(place, link);
      }
    }
  }
}

void MoveSimWorker::Lose(const Place& place, Link& link) {
  TakeRequests(place, link);
  ShardSession& session = SessionAt(place);
  if (session.in_flight() > 0) {
    world_.pool.lost().Add(std::get<0>(place), link.number);
    if (!link.to_server.empty()) ghosts_.push_back({place, link.number, link.server_side, link.to_server});
  }
  link = Link();
  session.FailAll("SHARDDOWN the connection is lost");
}

// Of servers that have left.
void MoveSimWorker::BuryLinks() {
  const std::vector<Shard>& shards = world_.router.topology().shards;
  for (auto link = links_.begin(); link != links_.end();) {
    const uint32_t id = std::get<0>(link->first);
    const bool stays =
        std::any_of(shards.begin(), shards.end(), [id](const Shard& shard) { return shard.id == id; });
    if (!stays && !link->second.to_server.empty()) {
      world_.pool.lost().Add(id, link->second.number);
      ghosts_.push_back({link->first, link->second.number, link->second.server_side, link->second.to_server});
    }
    link = stays ? std::next(link) : links_.erase(link);
  }
}

// A server reads what the older connection has left first, or finds it closed.
void MoveSimWorker::RunGhosts(Place place) {
  std::vector<Ghost> ghosts;
  for (size_t i = 0; i < ghosts_.size();) {
    if (ghosts_[i].place != place) {
      ++i;
      continue;
    }
    ghosts.push_back(std::move(ghosts_[i]));
    ghosts_.erase(ghosts_.begin() + static_cast<ptrdiff_t>(i));
  }
  for (Ghost& ghost : ghosts) {
    for (size_t left = shared_.Below(ghost.to_server.size() + 1); left > 0; --left) {
      shared_.Server(std::get<0>(place)).Execute(ghost.server_side, ghost.to_server.front());
      ghost.to_server.pop_front();
    }
  }
}

void MoveSimWorker::DropGhosts(const std::vector<LostConnection>& lost) {
  for (const LostConnection& connection : lost) {
    std::erase_if(ghosts_, [&connection](const Ghost& ghost) {
      return std::get<0>(ghost.place) == connection.shard_id && ghost.number == connection.number;
    });
  }
}

void MoveSimWorker::TimeOut() {
  const int64_t deadline = shared_.now_usec - static_cast<int64_t>(shared_.Below(200'000));
  for (auto& [place, link] : links_) {
    if (shared_.OneIn(2)) SessionAt(place).FailSentBefore(deadline, "SHARDTIMEOUT it did not answer in time");
  }
}

// --- clients ---

void MoveSimWorker::Connect(size_t client) {
  clients_[client] = std::make_unique<MoveSimClient>(world_.environment, shared_.next_client_id++,
                                                     shared_.random, shared_.expiries);
}

void MoveSimWorker::Leave(size_t client) {
  replies_ += clients_[client]->replies();
  errors_ += clients_[client]->errors();
  clients_[client].reset();
  Connect(client);
}

bool MoveSimWorker::waiting() const {
  return !tasks_.empty() || !ghosts_.empty() || world_.requests.in_use() > 0 ||
         std::any_of(clients_.begin(), clients_.end(), [](const auto& client) { return client->waiting(); });
}

// --- steps ---

void MoveSimWorker::Step() {
  world_.now_usec = shared_.now_usec;
  const size_t client = shared_.Below(clients_.size());
  for (uint64_t i = shared_.OneIn(3) ? shared_.Below(8) : 0; i > 0; --i) clients_[client]->AddRequest();
  clients_[client]->SendSome();
  if (shared_.OneIn(2)) RunTasks(1 + shared_.Below(3));
  StepLinks();
  if (shared_.OneIn(300)) Leave(client);
  if (shared_.OneIn(150)) TimeOut();
  if (!ghosts_.empty() && shared_.OneIn(100)) RunGhosts(ghosts_.front().place);
  EndTurn();
}

void MoveSimWorker::StepCalmly() {
  world_.now_usec = shared_.now_usec;
  constexpr size_t kAll = std::numeric_limits<size_t>::max();
  RunTasks(kAll);
  while (!ghosts_.empty()) RunGhosts(ghosts_.front().place);
  for (const Shard& shard : world_.router.topology().shards) {
    for (uint32_t db = 0; db < 2; ++db) {
      for (const uint8_t resp : {uint8_t{2}, uint8_t{3}}) {
        const Place place{shard.id, db, resp};
        Link& link = links_[place];
        TakeRequests(place, link);
        Serve(place, link, kAll);
        Give(place, link, kAll);
      }
    }
  }
  for (auto& client : clients_) client->SendAll();
  EndTurn();
}

void MoveSimWorker::EndTurn() {
  do {
    for (const uint64_t id : std::exchange(world_.woken, {})) {
      for (auto& client : clients_) {
        if (client->id() == id) client->fake().session().MarkResumable();
      }
    }
    world_.EndTurn();
  } while (!world_.woken.empty());
  AckWhenDrained();
  for (auto& client : clients_) {
    const std::string problem = client->Check();
    if (shared_.problem.empty()) shared_.problem = problem;
    if (client->fake().closed && shared_.problem.empty()) shared_.problem = "a client was closed";
  }
}

}  // namespace ringway::proxy
