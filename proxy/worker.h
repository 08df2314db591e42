#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "proxy/buffer/block.h"
#include "proxy/client/client_connection.h"
#include "proxy/local/local_commands.h"
#include "proxy/move/drain.h"
#include "proxy/move/puller.h"
#include "proxy/move/topology_ack.h"
#include "proxy/net/event_loop.h"
#include "proxy/net/listener.h"
#include "proxy/proxy_state.h"
#include "proxy/route/request_table.h"
#include "proxy/route/router.h"
#include "proxy/shard/shard_pool.h"
#include "proxy/worker_stats.h"

namespace ringway::proxy {

// One event loop with its clients and its connections to the shards. A turn handles all ready sockets, then
// writes to every dirty shard connection and every dirty client once.
// Thread: its own; Post* and stats() from any. Owns: everything that its clients' requests touch.
class Worker final : private ClientConnection::Owner {
 public:
  Worker(ProxyState& state, uint32_t index);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Before Start.
  void Listen(std::shared_ptr<UniqueFd> fd);
  void Start();
  void Join();

  // --- any thread ---
  void Post(std::function<void()> task) { loop_.Post(std::move(task)); }
  // `ack` is told how far this worker has got with it; a later topology ends an earlier one's.
  void PostTopology(std::shared_ptr<const Topology> topology, TopologyAckFunction ack = nullptr);
  void PostLearnedCommands(std::shared_ptr<const protocol::LearnedCommands> learned);
  void PostConfig(std::shared_ptr<const config::Config> config);
  void PostHotSet(std::shared_ptr<const HotSet> set);
  // These can do nothing any more.
  void PostFenced(std::vector<LostConnection> fenced);
  // Moves keys of which this is the worker (Relay::WorkerOf); `done` is called on this thread, for each key.
  void PostRelay(std::shared_ptr<const MovePlan> plan, uint32_t pair, uint32_t db,
                 std::vector<std::string> keys, Relay::Done done);
  // CLIENT PAUSE and UNPAUSE.
  void PostPause(const Pause& pause);
  // Stops accepting, answers what was asked, then ends; after `timeout_usec` in any case.
  void PostDrain(int64_t timeout_usec);
  const WorkerStats& stats() const { return stats_; }
  void ResetStats() { stats_.Reset(); }
  uint32_t index() const { return index_; }

  // --- the worker's thread ---
  using Clients = std::unordered_map<uint64_t, std::unique_ptr<ClientConnection>>;
  const Clients& clients() const { return clients_; }
  ClientConnection* FindClient(uint64_t id);
  Router& router() { return router_; }
  RequestTable& requests() { return requests_; }
  ShardPool& pool() { return pool_; }
  ProxyState& state() { return state_; }
  const config::Config& config() const { return *config_; }
  EventLoop& loop() { return loop_; }

 private:
  static void OnTick(evutil_socket_t fd, short what, void* self);
  void OnAccept(UniqueFd fd);
  void OnClientClosed(ClientConnection& connection) override;
  void AfterTurn();
  void Tick();
  void CloseIdleClients();
  // Those that CLIENT PAUSE keeps waiting, as Redis counts them.
  size_t PausedClients() const;
  void DeleteClosedClients();
  void ApplyConfig();
  void ResumeStopped();
  void EndIfDrained();
  void Adopt(std::shared_ptr<const Topology> topology, TopologyAckFunction ack);
  void AckWhenDrained();
  void RelayKey(const std::shared_ptr<const MovePlan>& plan, uint32_t pair, uint32_t db,
                const std::string& key, Relay::Done done);
  static void OnPullWake(evutil_socket_t fd, short what, void* self);

  ProxyState& state_;
  const uint32_t index_;
  EventLoop loop_;
  WorkerStats stats_;
  BlockPool blocks_;
  RequestTable requests_;
  FlushQueue dirty_shards_;
  FlushQueue dirty_clients_;
  ShardEnvironment shard_environment_;
  ShardPool pool_;
  Relay relay_;
  Puller puller_;
  LocalCommands local_;
  Router router_;
  Drain drain_;
  SessionEnvironment session_environment_;
  std::shared_ptr<const config::Config> config_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  Clients clients_;
  std::vector<uint64_t> closed_clients_;
  Event tick_event_;
  Event pull_event_;
  // Of the topology that is not yet drained.
  TopologyAckFunction awaiting_ack_;
  std::optional<int64_t> drain_until_usec_;
  int64_t next_idle_check_usec_ = 0;
  int64_t next_key_report_usec_ = 0;
  std::thread thread_;
};

}  // namespace ringway::proxy
