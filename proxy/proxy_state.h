#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "proxy/control/migration_board.h"
#include "proxy/control/shard_board.h"
#include "proxy/hotkey/copy_registry.h"
#include "proxy/hotkey/hot_key_board.h"
#include "proxy/info/rate_sampler.h"
#include "proxy/net/resolver.h"
#include "proxy/route/script_cache.h"
#include "proxy/thread_annotations.h"
#include "proxy/topology.h"
#include "proxy/worker_stats.h"

namespace ringway::proxy {

class EventLoop;
class HotKeyKeeper;
class Migrator;
class Worker;

// What all threads of the process share: little, and nothing of it is touched on the path of an ordinary
// request. Thread: any. Owns: the configuration in force, the current topology.
class ProxyState {
 public:
  explicit ProxyState(config::Config config);

  std::shared_ptr<const config::Config> config() const;
  // Changes a copy of the configuration, makes it the one in force and posts it to the workers. Changes of
  // several threads come one after the other, in one order for all workers.
  std::shared_ptr<const config::Config> ChangeConfig(const std::function<void(config::Config*)>& change);

  std::shared_ptr<const Topology> topology() const;
  // Makes it the current one; whoever follows it is told by the caller. Topologies come from one thread: the
  // main thread at the start, the control thread from then on.
  void Publish(std::shared_ptr<const Topology> topology);
  // The same for the plain ring of the configured shards, with the next epoch. `first_generation`: of the
  // process's first topology.
  std::shared_ptr<const Topology> Publish(const config::Config& config, uint64_t first_generation = 0);

  // In the order of the ring's members, each with its id: that of the shard which has its name now, or a new
  // one. A new one is forgotten again unless KeepNames makes it the name's.
  std::vector<Shard> Identify(std::vector<config::ShardConfig> configs);
  // For a server that takes over another one's name. Nothing when all ids have been given out.
  std::optional<uint32_t> NewShardId();
  // Of shards that never came to be, if none has been given out since.
  void GiveBackShardIds(const std::vector<Shard>& shards);
  // From now on the names of these shards mean these ids, and no other name means any.
  void KeepNames(const std::vector<Shard>& shards);

  uint64_t NextClientId() { return next_client_id_.fetch_add(1, std::memory_order_relaxed); }

  // Lets in as many clients as `config` says and the descriptors allow, and says so if these are fewer.
  void LimitClients(const config::Config& config);

  const std::string& proxy_id() const { return proxy_id_; }
  const std::string& run_id() const { return run_id_; }
  // How connections to shards call themselves, before their number: with it a later run, or this one, finds
  // connections that are no longer its own on a server.
  const std::string& connection_name_prefix() const { return connection_name_prefix_; }
  // "ringway:<proxy id>:", the part that all runs of this proxy have in common.
  std::string connection_name_stem() const { return "ringway:" + proxy_id_ + ":"; }
  // 40 hexadecimal digits that outlive the process. Before the workers are made; a random one until then.
  void set_proxy_id(std::string proxy_id);
  int64_t started_usec() const { return started_usec_; }  // of the wall clock

  // Fixed before the workers start.
  std::vector<Worker*> workers;
  std::vector<std::string> listening;  // "127.0.0.1:6380"
  std::string config_path;

  std::atomic<int64_t> connected_clients{0};
  std::atomic<int64_t> max_clients{0};
  ScriptCache scripts;
  InfoRates rates;  // written by the first worker
  // Of requests, by the shard's id; written by the first worker.
  LazyArray<RateSampler, WorkerStats::kMaxShardIds> shard_rates;
  ShardBoard board;              // written by the control thread
  MigrationBoard migration;      // written by the control thread
  CopyRegistry copies;           // of hot keys
  HotKeyBoard hot_keys;          // written by the control thread
  Migrator* migrator = nullptr;  // of the control thread; ends after the workers
  HotKeyKeeper* hot_key_keeper = nullptr;  // the same
  // Of the control thread: for work that no client is to wait behind.
  EventLoop* control_loop = nullptr;
  Resolver resolver;

 private:
  uint32_t TakeShardId() REQUIRES(mutex_);

  const std::string run_id_;
  std::string proxy_id_;
  std::string connection_name_prefix_;
  const int64_t started_usec_;
  std::atomic<uint64_t> next_client_id_{1};

  Mutex change_mutex_;  // held during a change of the configuration; taken before mutex_
  mutable Mutex mutex_;
  std::shared_ptr<const config::Config> config_ GUARDED_BY(mutex_);
  std::shared_ptr<const Topology> topology_ GUARDED_BY(mutex_);
  std::map<std::string, uint32_t> shard_ids_ GUARDED_BY(mutex_);  // by name
  uint32_t next_shard_id_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ringway::proxy
