#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/client/client_session.h"
#include "proxy/net/event_loop.h"
#include "proxy/route/router.h"
#include "proxy/shard/shard_pool.h"
#include "proxy/worker_stats.h"

namespace ringway::proxy {

// `bytes` as a client or a shard would send them: GET key -> *2...
std::string Command(std::initializer_list<std::string_view> args);
std::string Command(const std::vector<std::string>& args);
std::string Bulk(std::string_view text);

// Takes requests out of a shard session's output and gives it replies, in pieces of any size.
// Thread: one. Owns: requests that are not yet whole.
class FakeShard {
 public:
  // Requests that the proxy has written since the last call, each as its arguments.
  std::vector<std::vector<std::string>> TakeRequests(ShardSession& session);
  // Gives `bytes` to the session in reads of at most `piece`; false if it called them no reply.
  static bool Feed(ShardSession& session, std::string_view bytes,
                   size_t piece = std::numeric_limits<size_t>::max());

 private:
  std::string pending_;
};

// Answers what a test needs of the commands that the proxy answers itself: PING, ECHO, QUIT, SELECT, HELLO,
// CLIENT REPLY. Others get "+LOCAL".
class FakeLocal final : public LocalHandler {
 public:
  RequestHandler::Outcome Run(ClientSession& session, const protocol::CommandRow& row,
                              const protocol::RequestView& request) override;
  const protocol::CommandRow* FindOwn(const protocol::RequestView&) const override { return nullptr; }

  uint32_t databases = 16;
};

// Everything of a worker but its sockets: router, sessions, shard sessions over a real ring. Its shards'
// names are never resolved, so their connections stay open to requests and write nothing; the test plays the
// shards through their sessions. Time stands still unless the test moves it. Thread: one (and the resolver's,
// which does nothing). Owns: all of it.
class CoreWorld {
 public:
  struct Options {
    size_t shards = 3;
    // Shards whose unix socket does not exist: refused on the spot.
    std::vector<size_t> down;
    std::string hash_tag = "{}";
  };
  CoreWorld() : CoreWorld(Options{}) {}
  explicit CoreWorld(const Options& options);
  ~CoreWorld();
  CoreWorld(const CoreWorld&) = delete;
  CoreWorld& operator=(const CoreWorld&) = delete;

  ShardSession& session(size_t shard, uint32_t db = 0, uint8_t resp = 2) {
    return pool.Pick(static_cast<uint32_t>(shard), db, resp).session();
  }
  std::vector<std::vector<std::string>> TakeRequests(size_t shard, uint32_t db = 0, uint8_t resp = 2) {
    return shards_[shard].TakeRequests(session(shard, db, resp));
  }
  // Feeds, then ends the turn.
  void Reply(size_t shard, std::string_view bytes, size_t piece = std::numeric_limits<size_t>::max());
  // What a worker does between turns: stopped sessions go on, clients take their output.
  void EndTurn();
  // A key on the shard with this index.
  std::string KeyOn(size_t shard, std::string_view prefix = "k");
  // The topology of the first `shards` of the world's, ids kept.
  std::shared_ptr<const Topology> MakeTopology(const std::vector<size_t>& members) const;
  // A move between two such topologies.
  std::shared_ptr<const MovePlan> MakePlan(const std::vector<size_t>& before,
                                           const std::vector<size_t>& after,
                                           config::Mover mover = config::Mover::kMigrate) const;
  void Adopt(const std::vector<size_t>& members) { Adopt(MakeTopology(members)); }
  void Adopt(std::initializer_list<size_t> members) { Adopt(std::vector<size_t>(members)); }
  void Adopt(std::shared_ptr<const Topology> topology);

  int64_t now_usec = 1'000'000'000;
  EventLoop loop;
  WorkerStats stats;
  BlockPool blocks;
  RequestTable requests{blocks, stats, now_usec};
  FlushQueue dirty_shards;
  FlushQueue dirty_clients;
  Resolver resolver;
  ShardEnvironment shard_environment;
  ShardPool pool;
  ScriptCache scripts;
  FakeLocal local;
  Relay relay;
  Puller puller;
  Router router;
  SessionEnvironment environment;
  std::vector<uint64_t> woken;    // ids that waited for room
  RelayFunction relay_elsewhere;  // in place of `relay`, if set

 private:
  std::vector<Shard> MakeShards(const std::vector<size_t>& members) const;
  ring::HashRing MakeRing(const std::vector<size_t>& members) const;

  const Options options_;
  std::vector<FakeShard> shards_;
};

// A client of a CoreWorld or of any other handler.
// Thread: one. Owns: its session.
class FakeClient final : public ClientHost {
 public:
  FakeClient(SessionEnvironment& environment, uint64_t id);
  ~FakeClient() override;

  // Gives `bytes` to the session in reads of at most `piece` as far as it wants them; answers how many it
  // took.
  size_t Send(std::string_view bytes, size_t piece = std::numeric_limits<size_t>::max());
  // Takes up to take_limit bytes of output.
  void Flush() override;
  void CloseSoon() override { closed = true; }
  void Resume() override { session_.Resume(); }
  // What has arrived, which is forgotten.
  std::string Take();

  ClientSession& session() { return session_; }

  std::string received;
  size_t take_limit = std::numeric_limits<size_t>::max();
  bool closed = false;

 private:
  SessionEnvironment& environment_;
  ClientSession session_;
};

}  // namespace ringway::proxy
