#include "tests/sim/worker_sim.h"

#include <algorithm>

#include "protocol/reply_scanner.h"

namespace ringway::proxy {
namespace {

// What a shard answers to a key: the key itself, and for keys that begin with L a large value made of it.
std::string ValueOf(const std::string& key) {
  if (key.front() != 'L') return Bulk(key);
  std::string value;
  while (value.size() < 150'000) value += key;
  return Bulk(value);
}

}  // namespace

WorkerSim::WorkerSim(const Options& options)
    : options_(options),
      random_(options.seed),
      world_({.shards = options.shards, .down = {}, .hash_tag = "{}"}),
      clients_(options.clients),
      shards_(options.shards) {
  world_.environment.limits.pipeline = 20;
  world_.shard_environment.settings.in_flight = 40;
  for (SimClient& client : clients_) Connect(client);
}

std::string WorkerSim::Run() {
  for (int i = 0; i < options_.steps && problem_.empty(); ++i) Step();
  if (problem_.empty()) Drain();
  for (SimClient& client : clients_) client.client.reset();
  world_.pool.Close();
  world_.environment.scratch.Reset();
  if (problem_.empty() && world_.blocks.bytes_in_use() != 0) problem_ = "blocks leak";
  if (problem_.empty() && world_.requests.in_use() != 0) problem_ = "requests leak";
  return problem_;
}

void WorkerSim::Step() {
  world_.now_usec += static_cast<int64_t>(Random(1000));
  SimClient& client = clients_[Random(clients_.size())];
  const size_t shard = Random(shards_.size());
  switch (Random(12)) {
    case 0:
    case 1:
    case 2: {
      for (uint64_t i = Random(6); i > 0; --i) AddRequest(client);
      SendSome(client);
      break;
    }
    case 3:
    case 4:
      SendSome(client);
      break;
    case 5:
    case 6:
    case 7:
      Serve(shard);
      break;
    case 8:
    case 9:
      GiveSome(shard, 1 + Random(OneIn(3) ? 100'000 : 200));
      break;
    case 10:
      client.client->take_limit = OneIn(3) ? 0 : Random(100'000);
      if (OneIn(4)) shards_[shard].stopped = !shards_[shard].stopped;
      break;
    default:
      if (OneIn(8)) Leave(client);
      if (OneIn(20)) Die(shard);
      if (OneIn(10)) TimeOut();
  }
  EndTurn();
}

void WorkerSim::Connect(SimClient& client) {
  client.client = std::make_unique<FakeClient>(world_.environment, next_client_id_++);
  client.unsent.clear();
  client.expected.clear();
}

void WorkerSim::Leave(SimClient& client) {
  client.client.reset();
  ++clients_left_;
  Connect(client);
}

void WorkerSim::AddRequest(SimClient& client) {
  const std::string tag = std::to_string(next_tag_++);
  switch (Random(8)) {
    case 0:
      client.unsent += Command({"PING"});
      client.expected.push_back({"+PONG\r\n", false});
      break;
    case 1:
      client.unsent += Command({"ECHO", tag});
      client.expected.push_back({Bulk(tag), false});
      break;
    case 2: {
      std::vector<std::string> request = {"MGET"};
      const size_t keys = 1 + Random(6);
      std::string reply = "*" + std::to_string(keys) + "\r\n";
      for (size_t i = 0; i < keys; ++i) {
        request.push_back((OneIn(20) ? "L" : "m") + tag + "." + std::to_string(Random(4)));
        reply += ValueOf(request.back());
      }
      client.unsent += Command(request);
      client.expected.push_back({reply, true});
      break;
    }
    case 3:
      // A part from every shard: each counts one.
      client.unsent += Command({"DBSIZE"});
      client.expected.push_back({":" + std::to_string(options_.shards) + "\r\n", true});
      break;
    default: {
      const std::string key = (OneIn(15) ? "L" : "k") + tag;
      client.unsent += Command({"GET", key});
      client.expected.push_back({ValueOf(key), true});
    }
  }
}

void WorkerSim::SendSome(SimClient& client) {
  const size_t wanted = OneIn(3) ? client.unsent.size() : Random(client.unsent.size() + 1);
  const size_t piece = 1 + Random(OneIn(2) ? 10 : 10'000);
  client.unsent.erase(0, client.client->Send(std::string_view(client.unsent).substr(0, wanted), piece));
}

std::string WorkerSim::AnswerOf(const std::vector<std::string>& request) {
  if (request[0] == "DBSIZE") return ":1\r\n";
  if (request[0] == "GET") return ValueOf(request[1]);
  std::string reply = "*" + std::to_string(request.size() - 1) + "\r\n";
  for (size_t i = 1; i < request.size(); ++i) reply += ValueOf(request[i]);
  return reply;
}

void WorkerSim::Serve(size_t index) {
  SimShard& shard = shards_[index];
  if (shard.stopped) return;
  // The first connection is played at random, the further one is answered at once.
  ShardSession& first = world_.pool.MainConnection(static_cast<uint32_t>(index)).session();
  for (const auto& request : shard.fake.TakeRequests(first)) {
    if (options_.drops_a_reply && index == 0 && !dropped_ && request[0] == "GET") {
      dropped_ = true;
      continue;
    }
    shard.outgoing += AnswerOf(request);
  }
  if (shard.further == nullptr) return;
  FakeShard other;
  for (const auto& request : other.TakeRequests(*shard.further)) {
    if (!FakeShard::Feed(*shard.further, AnswerOf(request), 1 + Random(50'000))) {
      problem_ = "a good reply was refused";
    }
  }
}

void WorkerSim::GiveSome(size_t index, size_t most) {
  SimShard& shard = shards_[index];
  const size_t count = std::min(most, shard.outgoing.size());
  ShardSession& session = world_.pool.MainConnection(static_cast<uint32_t>(index)).session();
  const size_t piece = 1 + Random(OneIn(2) ? 20 : 100'000);
  if (!FakeShard::Feed(session, std::string_view(shard.outgoing).substr(0, count), piece)) {
    problem_ = "a good reply was refused";
  }
  shard.outgoing.erase(0, count);
  if (session.occupied()) shard.further = &world_.session(index);
}

// The connection breaks, perhaps in the middle of a reply, and is there again at once.
void WorkerSim::Die(size_t index) {
  ++shards_died_;
  may_close_ = true;
  shards_[index].fake = FakeShard();
  shards_[index].outgoing.clear();
  world_.pool.MainConnection(static_cast<uint32_t>(index)).session().FailAll("SHARDDOWN s is unreachable");
}

void WorkerSim::TimeOut() {
  const int64_t deadline = world_.now_usec - static_cast<int64_t>(Random(50'000));
  for (size_t i = 0; i < shards_.size(); ++i) {
    world_.pool.MainConnection(static_cast<uint32_t>(i)).session().FailSentBefore(deadline, "SHARDTIMEOUT s");
  }
}

void WorkerSim::EndTurn() {
  // Clients that wait for room at a shard are woken as a connection does it: when half of it is free.
  for (SimClient& client : clients_) {
    if (client.client->session().stopped() && OneIn(4)) client.client->session().MarkResumable();
    if (!client.client->session().output().empty()) world_.dirty_clients.Add(client.client.get());
  }
  world_.EndTurn();
  for (SimClient& client : clients_) {
    Check(client);
    if (!client.client->closed) continue;
    if (!may_close_ && problem_.empty()) problem_ = "a client was closed without a reason";
    Leave(client);
  }
  may_close_ = false;
}

void WorkerSim::Check(SimClient& client) {
  std::string& received = client.client->received;
  protocol::ReplyScanner scanner;
  size_t begin = 0;
  while (begin < received.size() && problem_.empty()) {
    const auto result = scanner.Scan(std::string_view(received).substr(begin));
    if (result.status == protocol::ParseStatus::kNeedMore) break;
    const std::string reply = received.substr(begin, result.consumed);
    begin += result.consumed;
    if (result.status == protocol::ParseStatus::kError || client.expected.empty()) {
      problem_ = "a client received what it did not ask for: " + reply.substr(0, 100);
      return;
    }
    const Expected expected = std::move(client.expected.front());
    client.expected.pop_front();
    const bool failed = expected.may_fail && reply.starts_with("-SHARD");
    if (!failed && reply != expected.reply) {
      problem_ = "wanted " + expected.reply.substr(0, 100) + " and got " + reply.substr(0, 100);
    }
    ++replies_checked_;
    errors_seen_ += failed ? 1 : 0;
  }
  received.erase(0, begin);
}

// Everybody behaves until all is answered.
void WorkerSim::Drain() {
  for (int round = 0; round < 10'000 && problem_.empty(); ++round) {
    bool waiting = false;
    for (SimClient& client : clients_) {
      client.client->take_limit = std::numeric_limits<size_t>::max();
      client.unsent.erase(0, client.client->Send(client.unsent));
      waiting = waiting || !client.expected.empty();
    }
    if (!waiting) return;
    for (size_t i = 0; i < shards_.size(); ++i) {
      shards_[i].stopped = false;
      Serve(i);
      GiveSome(i, shards_[i].outgoing.size());
    }
    EndTurn();
  }
  if (problem_.empty()) problem_ = "a reply was lost";
}

}  // namespace ringway::proxy
