#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/control/info_values.h"
#include "proxy/control/shard_client.h"

namespace ringway::proxy {

// Walks over a server's databases to tell the copies of hot keys from keys. Thread: the loop's. Owns:
// nothing. Limits: kMaxCalls.
class CopySweep {
 public:
  // Each about a millisecond of the server's time.
  static constexpr int kMaxCalls = 1'000;

  struct Options {
    bool remove = false;      // the copies
    uint64_t max_others = 0;  // it stops when it has seen more keys than that
  };
  struct Result {
    uint64_t removed = 0;
    uint64_t others = 0;    // keys that are no copies
    bool complete = false;  // all of the server was looked at
  };
  // Once, not from within Start; may destroy the sweep, and not the client.
  using Done = std::function<void(const Result&)>;

  // `client` outlives this object, and nothing else is under way on it.
  CopySweep(ShardClient& client, std::vector<KeyspaceLine> keyspace, const Options& options, Done done)
      : client_(client), keyspace_(std::move(keyspace)), options_(options), done_(std::move(done)) {}

  void Start();

 private:
  void NextDatabase();
  void Scan(const std::string& cursor);
  void OnKeys(const ShardClient::Answer& answer);
  void Unlink(const std::vector<std::string_view>& copies, const std::string& cursor);
  void GoOn(const std::string& cursor);
  void End(bool complete);

  ShardClient& client_;
  const std::vector<KeyspaceLine> keyspace_;
  const Options options_;
  const Done done_;
  size_t next_database_ = 0;  // index into keyspace_
  int calls_ = 0;
  Result result_;
};

}  // namespace ringway::proxy
