#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/control/shard_client.h"

namespace ringway::proxy {

// Makes sure that nothing which connections of this proxy sent and lost can still be carried out: a server
// that was frozen reads it whenever it goes on. A fresh connection to the server sees, by CLIENT LIST, which
// of them the server still has, and ends these. (Those lost were named before they carried anything, so all
// that a server has not read yet stand in its list by name.) Thread: the loop's. Owns: its connections.
// Limits: `timeout_usec` for each command, kMaxLooks.
class Fence {
 public:
  enum class Outcome : uint8_t {
    kClean,       // nothing of the lost ones is left
    kGone,        // no server is there: whatever it had been sent has gone with it
    kNotAllowed,  // it answers, and keeps CLIENT from the proxy's user
    kUnanswered,  // it may still have them
  };
  struct Verdict {
    uint32_t shard_id;
    Outcome outcome;
    uint64_t killed = 0;  // connections ended
    std::string problem;  // but for kClean: a whole sentence
  };
  // A verdict for each server, in their order. May destroy the fence.
  using Done = std::function<void(const std::vector<Verdict>&)>;

  explicit Fence(ControlLinks& links);
  // Calls nobody back.
  ~Fence();
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;

  // Ends connections named `ringway:<proxy id>:` by another run of this proxy, and those of this run that
  // stand in `lost` or in links.lost. Once.
  void Start(const std::vector<Shard>& servers, const std::vector<LostConnection>& lost, int64_t timeout_usec,
             Done done);

 private:
  class Server;
  void OnServerDone();

  ControlLinks& links_;
  std::vector<std::unique_ptr<Server>> servers_;
  size_t pending_ = 0;
  Done done_;
};

}  // namespace ringway::proxy
