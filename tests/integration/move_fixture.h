// What tests of moves start from: a cluster, the checker's clients, and somebody who changes the ring.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/move_checker.h"
#include "tests/integration/move_cluster.h"
#include "tests/integration/move_survey.h"

namespace ringway::test {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// How long random changes go on in a test: RINGWAY_MOVE_SECONDS, or `usual`.
seconds MoveSeconds(int64_t usual);

class MoveTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (DirectMode()) GTEST_SKIP() << "needs the proxy";
  }
  void TearDown() override;

  // Starts the cluster and, with `survey`, the one who looks over whole databases.
  void Start(MoveClusterOptions options, bool survey = true);
  void StartWithChecker(MoveClusterOptions options, MoveCheckerOptions checker, bool survey);

  // RING APPLY; the change has begun when it returns true.
  bool Apply(const Command& changes);
  // Waits until the move has settled, stops the clients for a moment, and looks at every server.
  void ExpectSettled(milliseconds timeout = seconds(30));
  // While clients are stopped: every key where it belongs, and nothing on servers outside the ring.
  void ExpectInPlace();
  // No complaint so far; after one, the test ends.
  void ExpectNoFault();
  // Marks what `shard` may hold now, or soon, as what may be lost; until EndExcuses, which gives clients new
  // keys for them.
  void ExcuseKeysOf(const std::string& shard);
  void EndExcuses();

  // Changes by chance that fit the ring as it is; `count` of them in one.
  Command RandomChanges(size_t count);
  std::vector<size_t> Spares();

  std::unique_ptr<MoveCluster> cluster_;
  std::unique_ptr<MoveChecker> checker_;
  std::unique_ptr<MoveSurvey> survey_;
  std::mt19937_64 random_ = TestRandom(99);
  int made_names_ = 0;
  int moves_ = 0;
};

}  // namespace ringway::test
