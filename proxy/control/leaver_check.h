#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "proxy/control/copy_sweep.h"
#include "proxy/control/shard_client.h"

namespace ringway::proxy {

// Asks servers that leave how many keys they still hold: none, unless something beside the proxy has written
// there. Removes the copies of hot keys that a move has left behind. Thread: the loop's. Owns: its
// connections. Limits: the timeout for each answer, all servers at once; those of CopySweep.
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
  // Other keys than copies are told one by one up to so many; then the server's own number does.
  static constexpr uint64_t kMaxOthers = 10'000;

  void OnAnswer(size_t index, const ShardClient::Answer& answer);
  void OnSwept(size_t index, const CopySweep::Result& result);
  void End();

  std::vector<std::unique_ptr<ShardClient>> clients_;
  std::vector<std::unique_ptr<CopySweep>> sweeps_;
  std::vector<Finding> findings_;
  size_t pending_;
  Done done_;
};

}  // namespace ringway::proxy
