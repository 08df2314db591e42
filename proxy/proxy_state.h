#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "proxy/control/shard_board.h"
#include "proxy/info/rate_sampler.h"
#include "proxy/net/resolver.h"
#include "proxy/route/script_cache.h"
#include "proxy/thread_annotations.h"
#include "proxy/topology.h"

namespace ringway::proxy {

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
  // Builds the ring of `shards` and makes it the current one; ids of known names stay.
  std::shared_ptr<const Topology> Publish(const config::Config& config);

  uint64_t NextClientId() { return next_client_id_.fetch_add(1, std::memory_order_relaxed); }

  // Lets in as many clients as `config` says and the descriptors allow, and says so if these are fewer.
  void LimitClients(const config::Config& config);

  const std::string& run_id() const { return run_id_; }
  int64_t started_usec() const { return started_usec_; }  // of the wall clock

  // Fixed before the workers start.
  std::vector<Worker*> workers;
  std::vector<std::string> listening;  // "127.0.0.1:6380"
  std::string config_path;

  std::atomic<int64_t> connected_clients{0};
  std::atomic<int64_t> max_clients{0};
  ScriptCache scripts;
  InfoRates rates;   // written by the first worker
  ShardBoard board;  // written by the control thread
  Resolver resolver;

 private:
  uint32_t IdOfShard(const std::string& name) REQUIRES(mutex_);

  const std::string run_id_;
  const int64_t started_usec_;
  std::atomic<uint64_t> next_client_id_{1};

  Mutex change_mutex_;  // held during a change of the configuration; taken before mutex_
  mutable Mutex mutex_;
  std::shared_ptr<const config::Config> config_ GUARDED_BY(mutex_);
  std::shared_ptr<const Topology> topology_ GUARDED_BY(mutex_);
  std::vector<std::string> shard_names_ GUARDED_BY(mutex_);  // by id
};

}  // namespace ringway::proxy
