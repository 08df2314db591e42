#include "proxy/hotkey/heavy_hitters.h"

#include <algorithm>
#include <random>
#include <string>
#include <unordered_map>

#include <gtest/gtest.h>

#include "tests/support/zipf.h"

namespace ringway::proxy {
namespace {

constexpr size_t kAll = HeavyHitters::kCounters;

const KeyCount* FindKey(const KeyReport& report, const std::string& key, uint32_t db = 0) {
  for (const KeyCount& found : report.keys) {
    if (found.key == key && found.db == db) return &found;
  }
  return nullptr;
}

KeyCount CountOf(const HeavyHitters& hitters, const std::string& key, uint32_t db = 0) {
  const KeyReport report = hitters.Report(0, kAll);
  const KeyCount* found = FindKey(report, key, db);
  EXPECT_NE(found, nullptr) << key;
  return found != nullptr ? *found : KeyCount();
}

void AddTimes(HeavyHitters& hitters, const std::string& key, int times, bool read = true) {
  for (int i = 0; i < times; ++i) hitters.Add(0, key, read);
}

TEST(HeavyHitters, FewKeysAreCountedExactly) {
  HeavyHitters hitters;
  for (int i = 0; i < static_cast<int>(kAll); ++i) AddTimes(hitters, "k" + std::to_string(i), 1 + i % 7);
  const KeyReport report = hitters.Report(1, kAll);
  ASSERT_EQ(report.keys.size(), kAll);
  for (const KeyCount& key : report.keys) {
    EXPECT_EQ(key.count, 1u + std::stoul(key.key.substr(1)) % 7) << key.key;
    EXPECT_EQ(key.error, 0u) << key.key;
    EXPECT_EQ(key.reads, key.count) << key.key;
  }
}

TEST(HeavyHitters, WritesAreNotTakenForReads) {
  HeavyHitters hitters;
  AddTimes(hitters, "k", 5, true);
  AddTimes(hitters, "k", 3, false);
  EXPECT_EQ(CountOf(hitters, "k").count, 8u);
  EXPECT_EQ(CountOf(hitters, "k").reads, 5u);
}

TEST(HeavyHitters, OneNameInTwoDatabasesIsTwoKeys) {
  HeavyHitters hitters;
  hitters.Add(0, "k", true);
  hitters.Add(1, "k", true);
  hitters.Add(1, "k", true);
  EXPECT_EQ(CountOf(hitters, "k", 0).count, 1u);
  EXPECT_EQ(CountOf(hitters, "k", 1).count, 2u);
}

TEST(HeavyHitters, KeyThatTakesOverACounterDoesNotOwnItsCount) {
  HeavyHitters hitters;
  for (size_t i = 0; i < kAll; ++i) AddTimes(hitters, "old" + std::to_string(i), 3);
  hitters.Add(0, "new", false);
  const KeyCount key = CountOf(hitters, "new");
  EXPECT_EQ(key.count, 4u);
  EXPECT_EQ(key.error, 3u);
  EXPECT_EQ(key.reads, 0u);
  EXPECT_EQ(hitters.Report(0, kAll).keys.size(), kAll);
}

TEST(HeavyHitters, LongKeyCountsForTheTotalOnly) {
  HeavyHitters hitters;
  hitters.Add(0, std::string(HeavyHitters::kMaxKeyBytes, 'a'), true);
  hitters.Add(0, std::string(HeavyHitters::kMaxKeyBytes + 1, 'b'), true);
  const KeyReport report = hitters.Report(0, kAll);
  EXPECT_EQ(report.sampled, 2u);
  ASSERT_EQ(report.keys.size(), 1u);
  EXPECT_EQ(report.keys[0].key.front(), 'a');
}

TEST(HeavyHitters, ReportHoldsTheMostFrequentAndNoneBelowTheLeast) {
  HeavyHitters hitters;
  for (int times : {4, 9, 1, 7, 2}) AddTimes(hitters, "k" + std::to_string(times), times);
  const auto names = [&](uint64_t least, size_t most) {
    std::string text;
    for (const KeyCount& key : hitters.Report(least, most).keys) text += key.key;
    return text;
  };
  EXPECT_EQ(names(0, kAll), "k9k7k4k2k1");
  EXPECT_EQ(names(2, kAll), "k9k7k4k2");
  EXPECT_EQ(names(3, kAll), "k9k7k4");
  EXPECT_EQ(names(0, 2), "k9k7");
  EXPECT_EQ(names(0, 0), "");
}

TEST(HeavyHitters, HalvingNeverPromisesMoreThanWasSeen) {
  HeavyHitters hitters;
  for (size_t i = 0; i < kAll; ++i) AddTimes(hitters, "old" + std::to_string(i), 1);
  AddTimes(hitters, "k", 4);  // count 5, error 1: surely 4
  AddTimes(hitters, "old7", 2);
  hitters.Halve();
  EXPECT_EQ(CountOf(hitters, "k").count, 2u);
  EXPECT_EQ(CountOf(hitters, "k").error, 0u);
  EXPECT_EQ(CountOf(hitters, "k").reads, 2u);
  hitters.Add(0, "k", false);
  hitters.Halve();  // of 3 and 2 reads
  EXPECT_EQ(CountOf(hitters, "k").count, 1u);
  EXPECT_EQ(CountOf(hitters, "k").reads, 1u);
  hitters.Halve();
  hitters.Halve();
  const KeyReport report = hitters.Report(0, kAll);
  EXPECT_EQ(report.sampled, (((kAll + 6) / 2 + 1) / 2) / 4);
  for (const KeyCount& key : report.keys) EXPECT_EQ(key.count, 0u) << key.key;
}

TEST(HeavyHitters, WhatIsHalvedToNothingMakesRoom) {
  HeavyHitters hitters;
  for (size_t i = 0; i < kAll; ++i) AddTimes(hitters, "old" + std::to_string(i), 1);
  hitters.Halve();
  for (size_t i = 0; i < kAll; ++i) AddTimes(hitters, "new" + std::to_string(i), 1);
  for (size_t i = 0; i < kAll; ++i) EXPECT_EQ(CountOf(hitters, "new" + std::to_string(i)).error, 0u) << i;
}

// Holds a stream against exact counts, halved as often.
void CheckStream(uint32_t seed, double exponent, size_t keys, bool halve) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", exponent " + std::to_string(exponent) + ", keys " +
               std::to_string(keys));
  std::mt19937 random(seed);
  const test::Zipf zipf(keys, exponent);
  HeavyHitters hitters;
  struct Exact {
    double count = 0;
    double reads = 0;
  };
  std::unordered_map<std::string, Exact> exact;
  for (int i = 1; i <= 60'000; ++i) {
    const std::string key = "key:" + std::to_string(zipf(random));
    const bool read = random() % 3 != 0;
    hitters.Add(0, key, read);
    ++exact[key].count;
    exact[key].reads += read ? 1 : 0;
    if (halve && i % 10'000 == 0 && i < 60'000) {
      hitters.Halve();
      for (auto& [name, counts] : exact) counts = {counts.count / 2, counts.reads / 2};
    }
  }
  const KeyReport report = hitters.Report(0, kAll);
  const double rounding = halve ? 1 : 0;
  uint64_t sum = 0;
  uint64_t smallest = UINT64_MAX;
  for (const KeyCount& key : report.keys) {
    ASSERT_LE(key.error, key.count) << key.key;
    ASSERT_LE(static_cast<double>(key.count - key.error), exact[key.key].count) << key.key;
    ASSERT_GE(static_cast<double>(key.count) + rounding, exact[key.key].count) << key.key;
    ASSERT_LE(key.reads, key.count - key.error) << key.key;
    ASSERT_LE(static_cast<double>(key.reads), exact[key.key].reads) << key.key;
    sum += key.count;
    smallest = std::min(smallest, key.count);
  }
  // Each request has raised one counter by one.
  if (!halve) {
    EXPECT_EQ(sum, report.sampled);
  }
  EXPECT_LE(smallest, report.sampled / kAll);
  const double enough = static_cast<double>(report.sampled) / kAll + 2 * rounding;
  for (const auto& [name, counts] : exact) {
    if (counts.count <= enough) continue;
    EXPECT_NE(FindKey(report, name), nullptr) << name << " " << counts.count;
  }
}

TEST(HeavyHitters, NoFrequentKeyIsMissedAndNoneIsOverrated) {
  for (uint32_t seed = 1; seed <= 3; ++seed) {
    for (const double exponent : {0.0, 0.9, 1.2, 1.4}) {
      for (const size_t keys : {kAll, 100'000UL}) {
        CheckStream(seed, exponent, keys, false);
        CheckStream(seed, exponent, keys, true);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(HeavyHitters, RareKeysAreNotTakenForHotOnes) {
  // Of keys that all come about as rarely, each counter holds some hundreds of other keys' requests.
  std::mt19937 random(7);
  HeavyHitters hitters;
  for (int i = 0; i < 200'000; ++i) {
    hitters.Add(0, i % 100 == 0 ? "hot" : "key:" + std::to_string(random() % 50'000), true);
  }
  const uint64_t limit = 370;
  const KeyReport all = hitters.Report(0, kAll);
  EXPECT_GT(std::count_if(all.keys.begin(), all.keys.end(), [&](auto& key) { return key.count >= limit; }),
            100);
  const KeyReport sure = hitters.Report(limit, kAll);
  ASSERT_EQ(sure.keys.size(), 1u);
  EXPECT_EQ(sure.keys[0].key, "hot");
}

}  // namespace
}  // namespace ringway::proxy
