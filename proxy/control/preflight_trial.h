#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "proxy/control/preflight_server.h"

namespace ringway::proxy {

// Moves a probe key from one source to its targets, one after the other, as the move will, and finds out what
// would stand in the way. The key expires soon, should it be left anywhere.
// Thread: the loop's. Owns: nothing.
class PreflightTrial {
 public:
  struct Result {
    std::vector<std::string> problems;
    std::vector<std::string> warnings;
  };
  // Once, and not from within Start.
  using Done = std::function<void(const Result&)>;

  struct Target {
    PreflightServer* server;
    bool relayed;  // MovePlan::Relays
  };

  // The servers outlive this object; no two trials share a `probe`. `targets`: at least one.
  PreflightTrial(PreflightServer& source, std::vector<Target> targets, std::string probe,
                 int64_t timeout_usec, Done done);

  void Start() { SetProbe(); }

 private:
  void SetProbe();
  void Migrate();
  void OnMigrated(const ShardClient::Answer& answer);
  void LookForProbe();
  // Through the proxy.
  void Dump();
  void Restore(std::string_view payload);
  // The present target is done with.
  void Problem(std::string problem);
  void NextTarget();
  std::string OfRefusal(std::string_view error) const;
  PreflightServer& target() const { return *targets_[at_].server; }

  PreflightServer& source_;
  const std::vector<Target> targets_;
  const std::string probe_;  // the key, and its value
  const int64_t timeout_usec_;
  const Done done_;
  size_t at_ = 0;
  Result result_;
};

}  // namespace ringway::proxy
