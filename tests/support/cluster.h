// Several real shards with the proxy before them: what most integration tests start from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/redis_server.h"
#include "tests/support/resp_client.h"
#include "tests/support/ringway_process.h"

namespace ringway::test {

struct ClusterOptions {
  int shards = 3;
  int threads = 2;
  // Added to each redis-server's command line.
  std::vector<std::string> redis_arguments;
  // Lines added to the configuration file, e.g. "timeouts: {connect: 200ms, request: 300ms}\n".
  std::string config;
  // Added to each shard's entry in the file, e.g. ", password: secret".
  std::string shard_config;
  // Added to ringway's command line.
  std::vector<std::string> ringway_arguments;
  std::vector<std::string> environment;
};

// Redis servers named s1, s2, ... and a ringway over them; in direct mode (see test_environment.h) one
// redis-server in the place of all.
// Thread: one at a time. Owns: the processes. Limits: none.
class Cluster {
 public:
  // Starts all and returns when they serve. Throws SetUpFailure with the proxy's log when they do not.
  explicit Cluster(ClusterOptions options = {});

  // Where clients connect: the proxy, or the one server in direct mode.
  std::string address() const;
  RespClient Connect() const { return RespClient(address()); }

  size_t size() const { return servers_.size(); }
  // Shard number 0, 1, ... whose name is s1, s2, ...; in direct mode always the one server.
  RedisServer& shard(size_t index) { return *servers_[DirectMode() ? 0 : index]; }
  static std::string ShardName(size_t index) { return "s" + std::to_string(index + 1); }
  // Not in direct mode.
  RingwayProcess& proxy() { return *proxy_; }
  // The file the proxy was started with; rewrite it and send SIGHUP.
  const std::string& config_path() const { return config_path_; }
  // What the file holds for these options.
  std::string ConfigText() const;

  // The shard that owns `key`, by RING LOCATE; throws SetUpFailure when that fails. Keys that start with
  // `prefix` and live on the shard: the first of prefix0, prefix1, ... that does. Owner decides by what the
  // proxy says, so tests of RING LOCATE itself look at the shards.
  size_t OwnerOf(const std::string& key);
  std::string KeyOn(size_t shard, const std::string& prefix = "key:");
  // `count` such keys.
  std::vector<std::string> KeysOn(size_t shard, size_t count, const std::string& prefix = "key:");
  // The shards that hold `key` in database 0, found by asking each of them.
  std::vector<size_t> HoldersOf(const std::string& key);

 private:
  ClusterOptions options_;
  TempDir directory_;
  std::string config_path_;
  std::vector<std::unique_ptr<RedisServer>> servers_;
  std::unique_ptr<RingwayProcess> proxy_;
  RespClient control_;
};

}  // namespace ringway::test
