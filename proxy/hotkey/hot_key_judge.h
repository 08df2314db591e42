#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "proxy/hotkey/key_report.h"

namespace ringway::proxy {

// Which keys are hot, and over how many buckets each is to be spread: decides on the workers' reports. Pure.
// Thread: one. Owns: what it knows of the hot keys. Limits: HotSet::kMaxKeys; with more the hottest ones.
class HotKeyJudge {
 public:
  // How often workers report; a key's rate is reckoned from it.
  static constexpr int64_t kReportUsec = 500'000;
  // A key that has been below half of what makes it hot for so many rounds cools.
  static constexpr int kRoundsToCool = 4;
  // One request in so many is sampled.
  static constexpr uint64_t kSampling = 16;

  struct Verdict {
    uint32_t db;
    std::string key;
    uint32_t buckets;  // the key itself included, at least 2; 1: tracked only
    double rate;       // requests a second
    double share;      // 0..1 of all requests on keys
  };

  // One round, on the last report of each worker. `shards`: members of the ring. The most frequent keys
  // first, hot or not.
  std::vector<Verdict> Decide(const std::vector<KeyReport>& reports, uint32_t shards,
                              const config::HotKeys& options);
};

}  // namespace ringway::proxy
