#include "proxy/proxy_state.h"

#include <algorithm>
#include <random>
#include <utility>

#include "proxy/check.h"
#include "proxy/log.h"
#include "proxy/net/clock.h"
#include "proxy/net/descriptors.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

// 40 hex digits, as Redis's run_id.
std::string MakeRunId() {
  std::random_device device;
  std::string id;
  for (int i = 0; i < 40; ++i) id.push_back("0123456789abcdef"[device() % 16]);
  return id;
}

}  // namespace

ProxyState::ProxyState(config::Config config)
    : max_clients(config.limits.clients),
      run_id_(MakeRunId()),
      started_usec_(WallClockUsec()),
      config_(std::make_shared<const config::Config>(std::move(config))) {}

std::shared_ptr<const config::Config> ProxyState::config() const {
  MutexLock lock(mutex_);
  return config_;
}

void ProxyState::LimitClients(const config::Config& config) {
  const auto shards = static_cast<int64_t>(config.shards.size());
  const int64_t reserved = ReservedDescriptors(config.threads, shards);
  const int64_t wanted = config.limits.clients;
  const int64_t possible = std::max<int64_t>(RaiseDescriptorLimit(wanted + reserved) - reserved, 1);
  if (possible < wanted) {
    LogWarn("limits.clients is " + std::to_string(wanted) +
            ", but the limit of open files (ulimit -n) leaves " + std::to_string(possible) +
            " beside the shards' connections: no more are let in");
  }
  max_clients.store(std::min(wanted, possible), std::memory_order_relaxed);
}

std::shared_ptr<const config::Config> ProxyState::ChangeConfig(
    const std::function<void(config::Config*)>& change) {
  MutexLock change_lock(change_mutex_);
  config::Config copy = *config();
  change(&copy);
  const auto changed = std::make_shared<const config::Config>(std::move(copy));
  LimitClients(*changed);
  SetLogLevel(changed->log.level);
  {
    MutexLock lock(mutex_);
    config_ = changed;
  }
  for (Worker* worker : workers) worker->PostConfig(changed);
  return changed;
}

std::shared_ptr<const Topology> ProxyState::topology() const {
  MutexLock lock(mutex_);
  return topology_;
}

uint32_t ProxyState::IdOfShard(const std::string& name) {
  const auto found = std::find(shard_names_.begin(), shard_names_.end(), name);
  if (found != shard_names_.end()) return static_cast<uint32_t>(found - shard_names_.begin());
  RINGWAY_CHECK(shard_names_.size() < WorkerStats::kMaxShardIds);
  shard_names_.push_back(name);
  return static_cast<uint32_t>(shard_names_.size() - 1);
}

std::shared_ptr<const Topology> ProxyState::Publish(const config::Config& config) {
  // Ids go by name, so that proxies of one configuration give the same ones.
  std::vector<config::ShardConfig> configs = config.shards;
  std::sort(configs.begin(), configs.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::vector<Shard> shards;
  {
    MutexLock lock(mutex_);
    for (const auto& shard : configs) shards.push_back({IdOfShard(shard.name), shard});
  }
  ring::HashRing ring = RingOf(shards, config.ring);
  MutexLock lock(mutex_);
  const uint64_t epoch = topology_ == nullptr ? 1 : topology_->epoch + 1;
  const uint64_t generation = topology_ == nullptr ? 0 : topology_->generation;
  topology_ = StableTopology(epoch, generation, std::move(ring), std::move(shards));
  return topology_;
}

}  // namespace ringway::proxy
