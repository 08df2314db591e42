#include "tests/support/cluster.h"

#include <utility>

namespace ringway::test {

Cluster::Cluster(ClusterOptions options) : options_(std::move(options)) {
  const int count = DirectMode() ? 1 : options_.shards;
  for (int i = 0; i < count; ++i) {
    servers_.push_back(std::make_unique<RedisServer>(RedisServer::Later(), options_.redis_arguments));
  }
  for (auto& server : servers_) server->WaitReady();
  if (DirectMode()) return;

  config_path_ = directory_.File("ringway.yaml");
  WriteFile(config_path_, ConfigText());
  std::vector<std::string> arguments = {"--config", config_path_};
  arguments.insert(arguments.end(), options_.ringway_arguments.begin(), options_.ringway_arguments.end());
  proxy_ = std::make_unique<RingwayProcess>(std::move(arguments), options_.environment);
  if (!proxy_->WaitReady()) throw SetUpFailure("ringway did not start:\n" + proxy_->log());
}

std::string Cluster::ConfigText() const {
  std::string text =
      "listen: [\"127.0.0.1:0\"]\nthreads: " + std::to_string(options_.threads) + "\nshards:\n";
  for (size_t i = 0; i < servers_.size(); ++i) {
    text += "  - {name: " + ShardName(i) + ", address: \"" + servers_[i]->address() + "\"" +
            options_.shard_config + "}\n";
  }
  return text + options_.config;
}

std::string Cluster::address() const {
  return DirectMode() ? servers_.front()->address() : proxy_->address();
}

size_t Cluster::OwnerOf(const std::string& key) {
  if (DirectMode()) return 0;
  if (!control_.socket().open()) control_ = Connect();
  const Reply answer = control_.Do({"RING", "LOCATE", key});
  const Reply* shard = answer.elements.size() == 1 ? answer.elements[0].Find("shard") : nullptr;
  for (size_t i = 0; shard != nullptr && i < servers_.size(); ++i) {
    if (shard->text == ShardName(i)) return i;
  }
  throw SetUpFailure("RING LOCATE " + key + " answered " + ToText(answer));
}

std::string Cluster::KeyOn(size_t shard, const std::string& prefix) {
  return KeysOn(shard, 1, prefix).front();
}

std::vector<std::string> Cluster::KeysOn(size_t shard, size_t count, const std::string& prefix) {
  std::vector<std::string> keys;
  for (size_t i = 0; keys.size() < count; ++i) {
    const std::string key = prefix + std::to_string(i);
    if (DirectMode() || OwnerOf(key) == shard) keys.push_back(key);
  }
  return keys;
}

std::vector<size_t> Cluster::HoldersOf(const std::string& key) {
  std::vector<size_t> holders;
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (servers_[i]->Do({"EXISTS", key}).integer == 1) holders.push_back(i);
  }
  return holders;
}

}  // namespace ringway::test
