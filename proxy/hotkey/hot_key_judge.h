#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "proxy/hotkey/key_report.h"
#include "proxy/hotkey/key_sampler.h"

namespace ringway::proxy {

// Which keys are hot, and over how many buckets each is to be spread: decides on the workers' reports. Pure.
// What it reckons with is what has surely been counted (count - error), so no key is hot by mistake. A key
// that `patterns` name is hot once it has been seen, and stays so as long as it matches, unless hotter ones
// need its place.
// Thread: one. Owns: what it knows of the hot keys. Limits: HotSet::kMaxKeys; with more the hottest ones.
class HotKeyJudge {
 public:
  // How often workers report.
  static constexpr int64_t kReportUsec = 500'000;
  // A key that has been below half of what makes it hot for so many rounds in a row cools.
  static constexpr int kRoundsToCool = 4;
  // One request in so many is sampled.
  static constexpr uint64_t kSampling = KeySampler::kSampling;
  // A hot key makes room for another only if that one is more than so many times as hot.
  static constexpr double kHotterToReplace = 1.25;
  // Keys that are told of, hot ones apart.
  static constexpr size_t kMaxTracked = 256;
  // Keys that are held against patterns in one round, the most frequent ones.
  static constexpr size_t kMaxConsidered = 1024;

  struct Verdict {
    uint32_t db;
    std::string key;
    uint32_t buckets;  // the key itself included, at least 2; 1: tracked only
    double rate;       // requests a second
    double reads;      // of these, the ones that a bucket could answer
    double share;      // 0..1 of all requests on keys
  };

  // One round, on the last report of each worker. `shards`: members of the ring that own keys. The most
  // frequent keys first, hot or not.
  std::vector<Verdict> Decide(const std::vector<KeyReport>& reports, uint32_t shards,
                              const config::HotKeys& options);

 private:
  using Name = std::pair<uint32_t, std::string>;  // database and key
  struct Hot {
    uint32_t buckets = 0;
    int cool_rounds = 0;    // in a row, so far
    int narrow_rounds = 0;  // the same, for which far fewer buckets would have done
  };
  // Sampled requests, of all workers.
  struct Count {
    uint64_t sure = 0;
    uint64_t reads = 0;  // of these
  };
  // A key in this round.
  struct Candidate {
    const Name* name = nullptr;
    Count count;
    double rate = 0;
    double read_rate = 0;
    double share = 0;
    bool was_hot = false;
    bool hot = false;
    bool by_pattern = false;
  };
  struct Round {
    uint32_t shards;
    const config::HotKeys& options;
  };

  std::vector<Candidate> Merge(const std::vector<KeyReport>& reports);
  // `considered`: against patterns, too.
  void Judge(const Round& round, bool considered, Candidate* candidate);
  void KeepTheHottest(std::vector<Candidate>* candidates);
  void ChooseBuckets(const Round& round, const Candidate& candidate);

  std::map<Name, Hot> hot_;
  // Of the round: what candidates' names point to.
  std::map<Name, Count> counts_;
};

}  // namespace ringway::proxy
