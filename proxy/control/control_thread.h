#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <unordered_map>

#include "proxy/control/hot_key_keeper.h"
#include "proxy/control/learned_union.h"
#include "proxy/control/migrator.h"
#include "proxy/control/shard_monitor.h"
#include "proxy/control/shard_monitor_connection.h"
#include "proxy/net/event_loop.h"
#include "proxy/proxy_state.h"

namespace ringway::proxy {

// Watches every shard on a loop of its own, apart from the path of requests: says in the log when one goes
// and when it is back, keeps the board, and teaches the workers commands that a shard knows and the table
// does not. Changes of the shards are carried out here too.
// Thread: its own; Start and Stop from the main thread. Owns: a connection to each shard, the migrator.
class ControlThread final : public ShardMonitor::Host, private Migrator::Host {
 public:
  // Gives `state`, which outlives this object, its first topology. See Migrator.
  ControlThread(ProxyState& state, std::unique_ptr<StateFile> state_file, Beginning beginning,
                config::Config file);
  ~ControlThread() override;
  ControlThread(const ControlThread&) = delete;
  ControlThread& operator=(const ControlThread&) = delete;

  // When the workers run.
  void Start();
  // Ends the thread; further calls do nothing.
  void Stop();
  Migrator& migrator() { return migrator_; }

 private:
  struct Watch {
    std::unique_ptr<ShardMonitorConnection> link;
    std::unique_ptr<ShardMonitor> monitor;
  };

  static void OnTick(evutil_socket_t fd, short what, void* self);
  void OnTopology(const Topology& topology) override;
  void AddWatch(const Shard& shard);
  void PostLearned();

  void OnDown(const ShardMonitor& monitor, ShardMonitor::Trouble trouble) override;
  void OnBack(const ShardMonitor& monitor) override;
  void OnSight(const ShardMonitor& monitor) override;
  void OnCommands(const ShardMonitor& monitor, std::string_view reply) override;

  ProxyState& state_;
  EventLoop loop_;
  std::random_device seeds_;
  std::unordered_map<uint32_t, Watch> watches_;  // by shard id
  LearnedUnion learned_;
  HotKeyKeeper hot_keys_;
  Migrator migrator_;
  Event tick_event_;
  std::thread thread_;
};

}  // namespace ringway::proxy
