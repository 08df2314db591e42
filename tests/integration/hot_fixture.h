// What tests of hot keys start from: a cluster, and the checker's clients.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/hot_checker.h"
#include "tests/integration/move_cluster.h"

namespace ringway::test {

// How long a test goes on that can go on for any time: RINGWAY_HOT_SECONDS, or `usual`.
seconds HotSeconds(int64_t usual);

class HotKeyTest : public ::testing::Test {
 protected:
  static constexpr int64_t kStalenessMs = 500;
  // No limit; a test with another number of buckets says so.
  static constexpr size_t kNobody = SIZE_MAX;
  // The checker's keys are spread whatever their rate.
  static constexpr char kByPattern[] =
      "hot_keys: {detect: false, patterns: [\"hot:*\"], max_staleness: 500ms, buckets: 4}\n";
  // They are found.
  static constexpr char kByRate[] =
      "hot_keys: {detect: true, min_rate: 50, threshold: 0.05, max_staleness: 500ms}\n";

  void SetUp() override {
    if (DirectMode()) GTEST_SKIP() << "needs the proxy";
  }
  void TearDown() override;

  // Four shards, one server more, three workers; `config` is added to the file.
  void StartCluster(const std::string& config, const std::vector<std::string>& environment = {});
  // `keyless`: no key of the checker is on this shard, which so has nothing but copies.
  void StartChecker(HotCheckerOptions options = {}, size_t keyless = kNobody);
  // All of both.
  void Start(const std::string& config) {
    StartCluster(config);
    if (!HasFatalFailure()) StartChecker();
  }

  // A field of INFO hotkeys; -1 when it cannot be had.
  int64_t Figure(const std::string& field);
  // That copies are made, read and given up meanwhile.
  void ExpectSpread(int64_t least = 300);
  void ExpectNotSpread();
  // That the checker, after `time`, has found nothing.
  void Watch(milliseconds time);
  void ExpectNoFault();
  // Sets one option; true when it was taken.
  bool Set(const std::string& option, const std::string& value);
  // The shard that owns the key.
  size_t OwnerOf(const std::string& key);
  // Gives up on what was on the shard, whose server lost it.
  void ExcuseKeysOf(size_t shard);
  void EndExcuses();
  void Allow(bool lost_answers);

  std::unique_ptr<MoveCluster> cluster_;
  std::unique_ptr<HotChecker> checker_;
  std::mt19937_64 random_ = TestRandom(98);
};

}  // namespace ringway::test
