// Servers that come and go in a ring: where tests of moves start.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/integration/move_checker.h"
#include "tests/support/redis_server.h"
#include "tests/support/resp_client.h"
#include "tests/support/ringway_process.h"

namespace ringway::test {

struct MoveClusterOptions {
  int shards = 3;
  int spares = 2;  // servers outside the ring
  int threads = 2;
  // Added to each redis-server's command line.
  std::vector<std::string> redis_arguments;
  // What all servers ask for; none when empty.
  std::string password;
  // Lines of the configuration beyond listen, threads, state_file and shards.
  std::string config;
  std::vector<std::string> environment;
};

// Redis servers of which the first are the ring's, and a proxy with a state file on a port that outlives it.
// Servers are called s1, s2, ... by their index; a server that replaces another takes over its name in the
// ring. Thread: one at a time, but for address(). Owns: the processes. Limits: none.
class MoveCluster {
 public:
  explicit MoveCluster(MoveClusterOptions options = {});

  // Where clients connect; stays when the proxy is started again.
  std::string address() const { return "127.0.0.1:" + std::to_string(port_.port()); }
  RingwayProcess& proxy() { return *proxy_; }
  // Logs of all proxies so far.
  std::string Logs() const;
  void KillProxy();
  // Starts it with the same configuration, state file and port. Throws SetUpFailure when it does not serve.
  void StartProxy();
  // The configuration file with these servers under their names.
  void WriteConfig(const std::vector<size_t>& shards) const;
  const std::string& config_path() const { return config_path_; }

  RedisServer& server(size_t index) { return *servers_[index]; }
  size_t size() const { return servers_.size(); }
  std::string Name(size_t index) const { return "s" + std::to_string(index + 1); }
  // A connection to the server around the proxy.
  RespClient Direct(size_t index) const;
  // The change that adds the server, and its like.
  Command Add(size_t index, const std::string& weight = "") const;
  Command Remove(const std::string& name) const { return {"REMOVE", name}; }

  // RING with these words on a connection of its own. A proxy that is away gives a Reply of type 0.
  Reply Ring(const Command& words, milliseconds timeout = kPatience);
  Reply Do(const Command& command, milliseconds timeout = kPatience);
  // A field of INFO migration; empty when it cannot be had.
  std::string Migration(const std::string& field);
  double MigrationNumber(const std::string& field);
  // The sum of what the pairs of the move say for `field` that go to the shard `to`.
  int64_t MovedTo(const std::string& to, const std::string& field);
  // What INFO migration says.
  std::string MigrationText();
  // RING WAIT, again and again where the proxy is away or starts.
  bool WaitSettled(milliseconds timeout);

  // What RING LIST says: names of shards, with the index of their server.
  std::map<std::string, size_t> Members();
  // The shards each key may be on: where RING LOCATE sees it, and where it moves from and to.
  std::vector<std::vector<std::string>> PlacesOf(const std::vector<std::string>& keys);

  // Looks at every server directly while nobody writes and nothing moves: what is not as RING LOCATE says, or
  // is there twice, or is on a server outside the ring. Empty when all is well.
  std::vector<std::string> Misplaced();
  // Keys of a server over all databases.
  int64_t KeysOn(size_t index);

 private:
  struct Found {
    std::string key;  // "3/key" in database 3
    size_t server;
  };
  std::vector<Found> AllKeys();

  const MoveClusterOptions options_;
  TempDir directory_;
  ReservedPort port_;
  std::string config_path_;
  std::vector<std::unique_ptr<RedisServer>> servers_;
  std::unique_ptr<RingwayProcess> proxy_;
  std::string old_logs_;
  RespClient control_;
};

}  // namespace ringway::test
