#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "config/config.h"

namespace ringway::proxy {

// Redis servers that the proxy starts for a try-out (--dev-shards) and takes with it: they keep nothing on
// disk, and end when the proxy does, however it ends. Thread: the one that starts them, which must live as
// long as they do (they are killed with it). Owns: the processes and their folder.
class DevShards {
 public:
  DevShards() = default;
  ~DevShards();
  DevShards(const DevShards&) = delete;
  DevShards& operator=(const DevShards&) = delete;

  // Starts `count` servers on free ports of 127.0.0.1 and waits until they answer. Gives what went wrong, or
  // "".
  std::string Start(int64_t count);
  // dev1, dev2, ... for the ring.
  const std::vector<config::ShardConfig>& shards() const { return shards_; }

 private:
  std::string StartOne(int64_t number);

  std::string folder_;
  std::vector<pid_t> processes_;
  std::vector<config::ShardConfig> shards_;
};

}  // namespace ringway::proxy
