#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "proxy/control/shard_client.h"

namespace ringway::proxy {

// Asks servers that leave how many keys they still hold: none, unless something beside the proxy has written
// there. Thread: the loop's. Owns: its connections. Limits: the timeout, for all servers at once.
class LeaverCheck {
 public:
  struct Finding {
    Shard shard;
    std::optional<uint64_t> keys;  // in all databases; nothing if it did not tell
  };
  using Done = std::function<void(const std::vector<Finding>&)>;

  // `servers`: at least one. `done` may come at once, and not when this object goes first, which it must not
  // in `done`.
  LeaverCheck(ControlLinks& links, const std::vector<Shard>& servers, int64_t timeout_usec, Done done);

 private:
  void OnAnswer(size_t index, const ShardClient::Answer& answer);

  std::vector<std::unique_ptr<ShardClient>> clients_;
  std::vector<Finding> findings_;
  size_t pending_;
  Done done_;
};

}  // namespace ringway::proxy
