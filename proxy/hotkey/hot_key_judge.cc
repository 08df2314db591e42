#include "proxy/hotkey/hot_key_judge.h"

#include <algorithm>
#include <cmath>

#include "protocol/glob.h"
#include "proxy/hotkey/heavy_hitters.h"
#include "proxy/hotkey/hot_set.h"

namespace ringway::proxy {
namespace {

// Reports are taken just before counts are halved, so at a steady rate a counter holds what came in the last
// period, half of what came in the one before, and so on: in all, as much as comes in two periods. Until that
// has been reached a rate is underestimated, which is the careful side.
constexpr double kWindowSeconds = 2e-6 * static_cast<double>(HotKeyJudge::kReportUsec);
constexpr double kRateOfOne = static_cast<double>(HotKeyJudge::kSampling) / kWindowSeconds;

bool MatchesAny(const std::vector<std::string>& patterns, const std::string& key) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&key](const std::string& pattern) { return protocol::GlobMatch(pattern, key); });
}

// Enough that each takes no more than `threshold` of its shard.
uint32_t BucketsFor(double share, uint32_t shards, double threshold) {
  const double wish = std::ceil(share * shards / threshold);
  return static_cast<uint32_t>(std::clamp<double>(wish, 2, shards));
}

}  // namespace

std::vector<HotKeyJudge::Verdict> HotKeyJudge::Decide(const std::vector<KeyReport>& reports, uint32_t shards,
                                                      const config::HotKeys& options) {
  const Round round{shards, options};
  std::vector<Candidate> candidates = Merge(reports);
  for (size_t i = 0; i < candidates.size(); ++i) Judge(round, i < kMaxConsidered, &candidates[i]);
  KeepTheHottest(&candidates);
  std::vector<Verdict> verdicts;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& key = candidates[i];
    if (!key.hot) {
      hot_.erase(*key.name);
      if (i >= kMaxTracked || key.count.sure == 0) continue;
    } else {
      ChooseBuckets(round, key);
    }
    const uint32_t buckets = key.hot ? hot_[*key.name].buckets : 1;
    verdicts.push_back({key.name->first, key.name->second, buckets, key.rate, key.read_rate, key.share});
  }
  return verdicts;
}

std::vector<HotKeyJudge::Candidate> HotKeyJudge::Merge(const std::vector<KeyReport>& reports) {
  counts_.clear();
  // A hot key of which no worker tells is judged as well.
  for (const auto& [name, hot] : hot_) counts_.try_emplace(name);
  uint64_t total = 0;
  for (const KeyReport& report : reports) {
    total += report.sampled;
    for (const KeyCount& key : report.keys) {
      Count& count = counts_[{key.db, key.key}];
      count.sure += key.count - key.error;
      count.reads += std::min(key.reads, key.count - key.error);
    }
  }
  std::vector<Candidate> candidates;
  for (const auto& [name, count] : counts_) {
    const auto sure = static_cast<double>(count.sure);
    candidates.push_back({.name = &name,
                          .count = count,
                          .rate = sure * kRateOfOne,
                          .read_rate = static_cast<double>(count.reads) * kRateOfOne,
                          .share = total == 0 ? 0 : sure / static_cast<double>(total)});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.count.sure > b.count.sure; });
  return candidates;
}

void HotKeyJudge::Judge(const Round& round, bool considered, Candidate* candidate) {
  const config::HotKeys& options = round.options;
  const Name& name = *candidate->name;
  const Count& count = candidate->count;
  const double share_limit = options.threshold / round.shards;
  const auto rate_limit = static_cast<double>(options.min_rate);
  const auto known = hot_.find(name);
  candidate->was_hot = known != hot_.end();
  bool stands_out = false;
  if (candidate->was_hot) {
    // A third of its requests are reads: below that, writes send too many of them to the key itself.
    const bool below_half = 2 * candidate->share < share_limit || 2 * candidate->read_rate < rate_limit ||
                            3 * count.reads < count.sure;
    int& rounds = known->second.cool_rounds;
    rounds = below_half ? rounds + 1 : 0;
    stands_out = rounds < kRoundsToCool;
  } else {
    stands_out =
        candidate->share > share_limit && candidate->read_rate >= rate_limit && 2 * count.reads >= count.sure;
  }
  candidate->by_pattern = (considered || candidate->was_hot) && MatchesAny(options.patterns, name.second);
  candidate->hot = (candidate->by_pattern || (options.detect && stands_out)) && round.shards >= 2 &&
                   name.second.size() <= HeavyHitters::kMaxKeyBytes &&
                   !MatchesAny(options.never, name.second);
}

void HotKeyJudge::KeepTheHottest(std::vector<Candidate>* candidates) {
  std::vector<Candidate*> hot;
  for (Candidate& candidate : *candidates) {
    if (candidate.hot) hot.push_back(&candidate);
  }
  if (hot.size() <= HotSet::kMaxKeys) return;
  const auto heat = [](const Candidate& candidate) {
    return static_cast<double>(candidate.count.sure) * (candidate.was_hot ? kHotterToReplace : 1);
  };
  std::stable_sort(hot.begin(), hot.end(), [&heat](const Candidate* a, const Candidate* b) {
    const double difference = heat(*a) - heat(*b);
    return difference > 0 || (difference == 0 && a->was_hot && !b->was_hot);
  });
  for (size_t i = HotSet::kMaxKeys; i < hot.size(); ++i) hot[i]->hot = false;
}

void HotKeyJudge::ChooseBuckets(const Round& round, const Candidate& candidate) {
  const config::HotKeys& options = round.options;
  Hot& hot = hot_[*candidate.name];
  // What people have ordered is taken at once.
  if (options.buckets != 0 || candidate.by_pattern) {
    const int64_t wish = options.buckets != 0 ? options.buckets : round.shards;
    hot.buckets = static_cast<uint32_t>(std::min<int64_t>(wish, round.shards));
    hot.narrow_rounds = 0;
    return;
  }
  const uint32_t wish = BucketsFor(candidate.share, round.shards, options.threshold);
  hot.buckets = std::min(hot.buckets, round.shards);
  hot.narrow_rounds = 2 * wish <= hot.buckets ? hot.narrow_rounds + 1 : 0;
  if (wish > hot.buckets || hot.narrow_rounds >= kRoundsToCool) {
    hot.buckets = wish;
    hot.narrow_rounds = 0;
  }
}

}  // namespace ringway::proxy
