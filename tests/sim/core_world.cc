#include "tests/sim/core_world.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "protocol/command_writer.h"
#include "protocol/number_text.h"
#include "protocol/request_parser.h"

namespace ringway::proxy {

std::string Command(std::initializer_list<std::string_view> args) {
  std::string out;
  protocol::AppendCommand(out, args);
  return out;
}

std::string Command(const std::vector<std::string>& args) {
  const std::vector<std::string_view> views(args.begin(), args.end());
  std::string out;
  protocol::AppendCommand(out, std::span<const std::string_view>(views));
  return out;
}

std::string Bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

// --- FakeShard ---

std::vector<std::vector<std::string>> FakeShard::TakeRequests(ShardSession& session) {
  OutputQueue& output = session.output();
  std::array<iovec, 8> vectors;
  while (!output.empty()) {
    const size_t count = output.Peek(vectors);
    size_t bytes = 0;
    for (size_t i = 0; i < count; ++i) {
      pending_.append(static_cast<const char*>(vectors[i].iov_base), vectors[i].iov_len);
      bytes += vectors[i].iov_len;
    }
    output.Consume(bytes);
  }
  std::vector<std::vector<std::string>> requests;
  protocol::RequestParser parser;
  size_t position = 0;
  while (position < pending_.size()) {
    const std::string_view rest = std::string_view(pending_).substr(position);
    if (parser.Parse(rest, {}) != protocol::ParseStatus::kComplete) break;
    auto& request = requests.emplace_back();
    for (size_t i = 0; i < parser.request().size(); ++i) request.emplace_back(parser.request()[i]);
    position += parser.consumed();
  }
  pending_.erase(0, position);
  return requests;
}

bool FakeShard::Feed(ShardSession& session, std::string_view bytes, size_t piece) {
  while (!bytes.empty()) {
    const ShardSession::ReadBuffer buffer = session.PrepareRead();
    const size_t count = std::min({bytes.size(), buffer.size, piece});
    std::memcpy(buffer.data, bytes.data(), count);
    if (!session.OnBytesRead(count)) return false;
    bytes.remove_prefix(count);
  }
  return true;
}

// --- FakeLocal ---

RequestHandler::Outcome FakeLocal::Run(ClientSession& session, const protocol::CommandRow& row,
                                       const protocol::RequestView& request) {
  SessionState& state = session.state();
  const std::string_view name = row.name;
  if (name == "client|reply") {
    const std::string_view mode = request[2];
    using Mode = SessionState::ReplyMode;
    if (mode == "ON") {
      state.reply_mode = Mode::kOn;
      session.Reply(row.id, "+OK\r\n");
    } else if (state.reply_mode != Mode::kOff) {
      state.reply_mode = mode == "OFF" ? Mode::kOff : Mode::kSkipNext;
    }
    return RequestHandler::Outcome::kTaken;
  }
  if (name == "echo") {
    session.Reply(row.id, Bulk(request[1]));
  } else if (name == "ping") {
    session.Reply(row.id, "+PONG\r\n");
  } else if (name == "quit") {
    session.Reply(row.id, "+OK\r\n");
    session.CloseAfterReplies();
  } else if (name == "select") {
    state.db = static_cast<uint32_t>(protocol::ParseInt64(request[1]).value_or(0)) % databases;
    session.Reply(row.id, "+OK\r\n");
  } else if (name == "hello") {
    state.resp = request.size() > 1 && request[1] == "3" ? 3 : 2;
    session.Reply(row.id, "+OK\r\n");
  } else {
    session.Reply(row.id, "+LOCAL\r\n");
  }
  return RequestHandler::Outcome::kTaken;
}

// --- CoreWorld ---

CoreWorld::CoreWorld(const Options& options)
    : resolver([](const std::string&, uint16_t, std::string*) { return std::vector<SocketAddress>(); }),
      shard_environment{.loop = loop,
                        .requests = requests,
                        .dirty_shards = dirty_shards,
                        .resolver = resolver,
                        .settings = {},
                        .resume_client = [this](uint64_t id) { woken.push_back(id); },
                        .random = std::minstd_rand(1),
                        .paused_streams = {},
                        .connection_name_prefix = {},
                        .lost = {}},
      pool(shard_environment, stats),
      relay(pool, requests, [](int64_t) {}),
      puller(
          pool, requests, shard_environment, [](int64_t) {},
          [this](const auto& plan, uint32_t pair, uint32_t db, const std::string& key, Relay::Done done) {
            if (relay_elsewhere != nullptr) {
              relay_elsewhere(plan, pair, db, key, std::move(done));
            } else {
              relay.Move(plan, pair, db, key, std::move(done));
            }
          }),
      router(pool, requests, scripts, local, puller),
      environment{blocks, requests, router, dirty_clients, SessionLimits{}, BlockRef(), {}},
      options_(options),
      shards_(options.shards) {
  std::vector<size_t> all(options.shards);
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  router.set_sessions(&environment);
  router.hot_keys().set_clock([this] { return now_usec; });
  Adopt(all);
}

CoreWorld::~CoreWorld() {
  router.Close();
  pool.Close();
}

std::vector<Shard> CoreWorld::MakeShards(const std::vector<size_t>& members) const {
  std::vector<Shard> shards;
  for (const size_t i : members) {
    config::ShardConfig shard;
    shard.name = "s" + std::to_string(i);
    if (std::count(options_.down.begin(), options_.down.end(), i) != 0) {
      shard.path = "/nonexistent/ringway-test.sock";
      shard.address = "unix:" + shard.path;
    } else {
      // A name, not a number: it would have to be looked up.
      shard.host = shard.name + ".invalid";
      shard.port = 6379;
      shard.address = shard.host + ":6379";
    }
    shards.push_back({static_cast<uint32_t>(i), shard});
  }
  return shards;
}

ring::HashRing CoreWorld::MakeRing(const std::vector<size_t>& members) const {
  ring::RingOptions options;
  options.virtual_nodes = 256;
  options.hash_tag = options_.hash_tag;
  return RingOf(MakeShards(members), options);
}

std::shared_ptr<const Topology> CoreWorld::MakeTopology(const std::vector<size_t>& members) const {
  return StableTopology(1, 0, MakeRing(members), MakeShards(members));
}

std::shared_ptr<const MovePlan> CoreWorld::MakePlan(const std::vector<size_t>& before,
                                                    const std::vector<size_t>& after,
                                                    config::Mover mover) const {
  return std::make_shared<const MovePlan>(1, MakeShards(before), MakeRing(before), MakeShards(after),
                                          MakeRing(after), std::vector<uint32_t>(), mover);
}

void CoreWorld::Adopt(std::shared_ptr<const Topology> topology) {
  router.Adopt(std::move(topology));
  pool.Adopt(router.topology());
}

void CoreWorld::Reply(size_t shard, std::string_view bytes, size_t piece) {
  ShardSession& target = session(shard);
  if (!FakeShard::Feed(target, bytes, piece)) target.FailAll("SHARDDOWN the test's shard sent nonsense");
  EndTurn();
}

void CoreWorld::EndTurn() {
  while (true) {
    relay.Pump();
    puller.Pump();
    router.UpdateCare();
    while (!environment.resumable.empty()) {
      std::vector<ClientSession*> resumable;
      resumable.swap(environment.resumable);
      for (ClientSession* client : resumable) client->host().Resume();
    }
    if (dirty_clients.empty()) return;
    dirty_clients.FlushAll();
  }
}

std::string CoreWorld::KeyOn(size_t shard, std::string_view prefix) {
  for (int i = 0;; ++i) {
    std::string key = std::string(prefix) + std::to_string(i);
    if (router.topology().Locate(key) == shard) return key;
  }
}

// --- FakeClient ---

FakeClient::FakeClient(SessionEnvironment& environment, uint64_t id)
    : environment_(environment), session_(environment, *this) {
  session_.state().id = id;
  session_.state().authenticated = true;
}

FakeClient::~FakeClient() { environment_.dirty_clients.Remove(this); }

size_t FakeClient::Send(std::string_view bytes, size_t piece) {
  size_t sent = 0;
  while (sent < bytes.size() && session_.WantsInput() && !closed) {
    const ClientSession::ReadBuffer buffer = session_.PrepareRead();
    const size_t count = std::min({bytes.size() - sent, buffer.size, piece});
    std::memcpy(buffer.data, bytes.data() + sent, count);
    sent += count;
    session_.OnBytesRead(count);
  }
  return sent;
}

void FakeClient::Flush() {
  OutputQueue& output = session_.output();
  size_t room = take_limit;
  while (!output.empty() && room > 0) {
    iovec vector;
    output.Peek({&vector, 1});
    const size_t count = std::min(vector.iov_len, room);
    received.append(static_cast<const char*>(vector.iov_base), count);
    output.Consume(count);
    room -= count;
  }
  session_.OnOutputTaken();
  if (session_.Finished()) closed = true;
}

std::string FakeClient::Take() { return std::exchange(received, {}); }

}  // namespace ringway::proxy
