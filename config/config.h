// Everything a person can configure, as plain data with its defaults. Meanings, ranges and which of them can
// change while the proxy runs stand in config_fields.cc, one row for each.
#ifndef RINGWAY_CONFIG_CONFIG_H_
#define RINGWAY_CONFIG_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ring/distribution.h"
#include "ring/member.h"

namespace ringway::config {

// Where the proxy listens: "127.0.0.1:6380", "[::1]:6380" or "unix:/run/ringway/ringway.sock".
struct ListenAddress {
  enum class Kind { kTcp, kUnix };

  Kind kind = Kind::kTcp;
  std::string host;   // kTcp: a name, an IPv4 or an IPv6 address without brackets
  uint16_t port = 0;  // kTcp: 0 binds a free port
  std::string path;   // kUnix

  // The form that is read back as the same address.
  std::string ToString() const;
  bool operator==(const ListenAddress&) const = default;
};

// One Redis server behind the proxy.
struct ShardConfig {
  std::string name;     // decides the shard's place on the ring, so it outlives its address
  std::string address;  // "host:port", "[v6]:port" or "unix:/path", as it is shown to people
  std::string host;     // without brackets; empty for a unix socket
  uint16_t port = 0;    // 1 to 65535; 0 for a unix socket
  std::string path;     // of a unix socket; empty for TCP
  double weight = 1;    // 0: owns nothing, but is still known and asked for DBSIZE and its like
  std::string user;     // already shard_auth's where the shard names none of its own
  std::string password;

  bool is_unix() const { return !path.empty(); }
  bool operator==(const ShardConfig&) const = default;
};

// AUTH for the shards that have no user or password of their own. Without a user, AUTH takes the password
// alone.
struct ShardAuth {
  std::string user;
  std::string password;
};

struct Timeouts {
  int64_t connect_ms = 1000;
  int64_t request_ms = 2000;   // 0: wait for ever
  int64_t idle_client_ms = 0;  // 0: never closed for being idle
  int64_t drain_ms = 10000;    // from SIGTERM until clients are cut off
};

struct Limits {
  int64_t clients = 10000;
  int64_t request_bytes = int64_t{512} << 20;  // one argument of a request, as Redis's proto-max-bulk-len
  int64_t client_output_bytes = int64_t{256} << 20;
  int64_t pipeline = 10000;  // requests of one client that are unanswered
  int64_t in_flight_per_shard = 65536;
  int64_t own_connections = 20000;
};

struct HotKeys {
  bool detect = true;
  int64_t buckets = 0;      // 0: chosen from the key's share
  double threshold = 0.05;  // of one shard's fair share
  int64_t min_rate = 2000;  // requests a second
  int64_t max_staleness_ms = 1000;
  std::vector<std::string> patterns;  // globs of keys that are always spread
  std::vector<std::string> never;     // globs of keys that never are
  int64_t max_bytes = 1024 * 1024;    // larger keys are not spread; as MEMORY USAGE counts
};

enum class Mover { kMigrate, kRelay };

struct Migration {
  Mover mover = Mover::kMigrate;
  int64_t keys_per_second = 0;    // 0: as fast as max_source_busy lets it
  double max_source_busy = 0.25;  // share of a source's time
  bool purge_target = false;
};

struct Slowlog {
  int64_t log_slower_than_usec = 10000;  // -1: nothing is logged; 0: everything
  int64_t max_len = 128;
};

enum class LogLevel { kTrace, kDebug, kInfo, kWarn, kError };

struct Log {
  LogLevel level = LogLevel::kInfo;
  std::string file;  // empty: standard error
};

// Which commands of several keys may run on one shard.
enum class MultiKey {
  kHashTag,    // keys share a hash tag (or are one key), so they stay together when shards are added
  kSameShard,  // keys live on one shard today, tag or none
};

struct Config {
  std::vector<ListenAddress> listen = {{ListenAddress::Kind::kTcp, "127.0.0.1", 6380, ""}};
  int64_t threads = 0;                // worker event loops; 0: the processors it may use
  std::optional<ListenAddress> http;  // metrics, health, dashboard
  std::string state_file;             // empty: a move under way does not survive a restart
  int64_t databases = 16;
  std::string requirepass;  // empty: clients need no password
  int64_t dev_shards = 0;   // redis-servers that the proxy starts and owns; 0: none

  ring::RingOptions ring;
  MultiKey multi_key = MultiKey::kHashTag;
  std::vector<ShardConfig> shards;  // empty only when dev_shards is set
  ShardAuth shard_auth;

  Timeouts timeouts;
  Limits limits;
  HotKeys hot_keys;
  Migration migration;
  Slowlog slowlog;
  Log log;
};

}  // namespace ringway::config

#endif  // RINGWAY_CONFIG_CONFIG_H_
