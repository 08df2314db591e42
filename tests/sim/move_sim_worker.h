#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "proxy/move/drain.h"
#include "proxy/move/topology_ack.h"
#include "tests/sim/core_world.h"
#include "tests/sim/model_server.h"
#include "tests/sim/move_sim_client.h"

namespace ringway::proxy {

class MoveSimWorker;

// What the parts of a simulated proxy and its servers share. Thread: one. Owns: the servers.
struct MoveSimShared {
  explicit MoveSimShared(uint64_t seed);

  uint64_t Below(uint64_t limit) { return random() % limit; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  ModelServer& Server(uint32_t id) { return *servers.at(id); }
  static std::string HostOf(uint32_t id) { return "server" + std::to_string(id) + ".invalid"; }

  MoveSimClient::Random random;
  int64_t now_usec = 1'000'000'000;
  ModelStore truth;
  std::string problem;
  bool calm = false;      // nothing bad happens any more
  bool expiries = false;  // keys of several clients may expire
  ModelServer::Environment environment;
  std::map<uint32_t, std::unique_ptr<ModelServer>> servers;  // by id; those that have left too
  std::vector<MoveSimWorker*> workers;
  uint64_t next_client_id = 1;
};

// One worker of a simulated proxy: its clients, and the connections between it and the model servers. What
// both sides send waits, and arrives in pieces at random moments; of each connection in its order.
// A connection that is lost leaves behind what its server has not read: a ghost, which the server carries out
// later, or never; but before anything that comes on the next connection in its place.
// Thread: one. Owns: all of that.
class MoveSimWorker {
 public:
  MoveSimWorker(MoveSimShared& shared, size_t index, size_t clients);
  ~MoveSimWorker();
  MoveSimWorker(const MoveSimWorker&) = delete;
  MoveSimWorker& operator=(const MoveSimWorker&) = delete;

  // What other threads want of it, carried out in that order, later.
  void Post(std::function<void()> task) { tasks_.push_back(std::move(task)); }
  void Adopt(std::shared_ptr<const Topology> topology, TopologyAckFunction ack);

  void Step();
  // Everything that waits arrives; whether anything did.
  void StepCalmly();
  bool waiting() const;
  // Clients and connections go. What leaks, or empty.
  std::string Close();

  // The servers have closed the connections with these numbers, and carry out nothing of theirs any more.
  void DropGhosts(const std::vector<LostConnection>& lost);
  CoreWorld& world() { return world_; }
  size_t replies() const { return replies_; }
  size_t errors() const { return errors_; }

 private:
  // Server, database, RESP version.
  using Place = std::tuple<uint32_t, uint32_t, uint8_t>;
  struct Link {
    uint64_t number = 0;
    FakeShard fake;
    ModelServer::Connection server_side;
    std::deque<ModelStore::Args> to_server;
    std::string to_proxy;
  };
  struct Ghost {
    Place place;
    uint64_t number;
    ModelServer::Connection server_side;
    std::deque<ModelStore::Args> to_server;
  };

  void RunTasks(size_t most);
  void RelayKey(const std::shared_ptr<const MovePlan>& plan, uint32_t pair, uint32_t db,
                const std::string& key, Relay::Done done);
  ShardSession& SessionAt(const Place& place);
  void TakeRequests(const Place& place, Link& link);
  void Serve(const Place& place, Link& link, size_t requests);
  void Give(const Place& place, Link& link, size_t bytes);
  void StepLinks();
  void Lose(const Place& place, Link& link);
  void BuryLinks();
  void RunGhosts(Place place);
  void TimeOut();
  void EndTurn();
  void AckWhenDrained();
  void Leave(size_t client);
  void Connect(size_t client);

  MoveSimShared& shared_;
  const size_t index_;
  CoreWorld world_;
  Drain drain_;
  TopologyAckFunction ack_;
  std::deque<std::function<void()>> tasks_;
  std::map<Place, Link> links_;
  std::vector<Ghost> ghosts_;
  std::vector<std::unique_ptr<MoveSimClient>> clients_;
  size_t replies_ = 0;
  size_t errors_ = 0;
};

}  // namespace ringway::proxy
