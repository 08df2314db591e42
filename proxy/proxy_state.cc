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
std::string MakeId() {
  std::random_device device;
  std::string id;
  for (int i = 0; i < 40; ++i) id.push_back("0123456789abcdef"[device() % 16]);
  return id;
}

}  // namespace

ProxyState::ProxyState(config::Config config)
    : max_clients(config.limits.clients),
      run_id_(MakeId()),
      started_usec_(WallClockUsec()),
      config_(std::make_shared<const config::Config>(std::move(config))) {
  set_proxy_id(MakeId());
}

void ProxyState::set_proxy_id(std::string proxy_id) {
  proxy_id_ = std::move(proxy_id);
  connection_name_prefix_ = connection_name_stem() + run_id_ + ":";
}

std::shared_ptr<const config::Config> ProxyState::config() const {
  MutexLock lock(mutex_);
  return config_;
}

void ProxyState::LimitClients(const config::Config& config) {
  const auto shards = static_cast<int64_t>(config.shards.size());
  const int64_t reserved = ReservedDescriptors(config.threads, shards);
  const int64_t wanted = config.limits.clients;
  const int64_t possible = std::max<int64_t>(
      RaiseDescriptorLimit(wanted + reserved + config.limits.own_connections) - reserved, 1);
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

uint32_t ProxyState::TakeShardId() {
  RINGWAY_CHECK(next_shard_id_ < WorkerStats::kMaxShardIds);
  return next_shard_id_++;
}

std::optional<uint32_t> ProxyState::NewShardId() {
  MutexLock lock(mutex_);
  if (next_shard_id_ >= WorkerStats::kMaxShardIds) return std::nullopt;
  return TakeShardId();
}

void ProxyState::GiveBackShardIds(const std::vector<Shard>& shards) {
  std::vector<uint32_t> ids;
  for (const Shard& shard : shards) ids.push_back(shard.id);
  std::sort(ids.rbegin(), ids.rend());
  MutexLock lock(mutex_);
  for (const uint32_t id : ids) {
    if (id + 1 != next_shard_id_) return;
    --next_shard_id_;
  }
}

std::vector<Shard> ProxyState::Identify(std::vector<config::ShardConfig> configs) {
  // Ids go by name, so that proxies of one configuration give the same ones.
  std::sort(configs.begin(), configs.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::vector<Shard> shards;
  MutexLock lock(mutex_);
  for (auto& config : configs) {
    const auto known = shard_ids_.find(config.name);
    const uint32_t id = known == shard_ids_.end() ? TakeShardId() : known->second;
    shards.push_back({id, std::move(config)});
  }
  return shards;
}

void ProxyState::KeepNames(const std::vector<Shard>& shards) {
  MutexLock lock(mutex_);
  shard_ids_.clear();
  for (const Shard& shard : shards) shard_ids_[shard.config.name] = shard.id;
}

void ProxyState::Publish(std::shared_ptr<const Topology> topology) {
  MutexLock lock(mutex_);
  topology_ = std::move(topology);
}

std::shared_ptr<const Topology> ProxyState::Publish(const config::Config& config, uint64_t first_generation) {
  std::vector<Shard> shards = Identify(config.shards);
  KeepNames(shards);
  ring::HashRing ring = RingOf(shards, config.ring);
  const auto before = topology();
  const uint64_t epoch = before == nullptr ? 1 : before->epoch + 1;
  const uint64_t generation = before == nullptr ? first_generation : before->generation;
  Publish(StableTopology(epoch, generation, std::move(ring), std::move(shards)));
  return topology();
}

}  // namespace ringway::proxy
