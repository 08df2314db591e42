// Hot keys are spread, and no client reads an older value than it must. RINGWAY_HOT_SECONDS sets how long,
// RINGWAY_SEED replays.
#include <chrono>
#include <iostream>

#include "tests/integration/hot_fixture.h"

namespace ringway::test {
namespace {

using Clock = std::chrono::steady_clock;
using HotKey = HotKeyTest;

TEST_F(HotKey, AFaultIsFoundWhereNothingIsSpread) {
  Start("hot_keys: {detect: false}\n");
  Watch(seconds(1));
  EXPECT_GT(checker_->reads(), 5000);
  EXPECT_EQ(Figure("hotkey_bucket_reads"), 0);
}

TEST_F(HotKey, OldValuesAreReadOfKeysThatPatternsName) {
  Start(kByPattern);
  ASSERT_NO_FATAL_FAILURE(ExpectSpread());
  Watch(HotSeconds(5));
}

TEST_F(HotKey, OldValuesAreReadOfKeysThatAreFound) {
  Start(kByRate);
  ASSERT_NO_FATAL_FAILURE(ExpectSpread());
  Watch(HotSeconds(5));
}

TEST_F(HotKey, OldValuesAreReadWhereHalfOfAllCommandsAreWrites) {
  StartCluster(kByPattern);
  HotCheckerOptions options;
  options.half_writes = true;
  options.burst = 20;
  StartChecker(options);
  ASSERT_NO_FATAL_FAILURE(ExpectSpread(20));
  Watch(HotSeconds(5));
  const auto reads = static_cast<double>(checker_->reads());
  const auto writes = static_cast<double>(checker_->writes());
  EXPECT_GT(writes / (reads + writes), 0.48);
}

TEST_F(HotKey, OldValuesAreReadOfKeysThatAreRarelyWritten) {
  StartCluster(kByPattern);
  HotCheckerOptions options;
  options.burst = 1;
  options.pause_usec = 1'500'000;
  StartChecker(options);
  Watch(HotSeconds(5));
  // Copies grow old and are made anew while nobody writes.
  EXPECT_GT(Figure("hotkey_bucket_reads"), checker_->reads() / 4);
  EXPECT_GT(Figure("hotkey_fills"), 30);
}

TEST_F(HotKey, OldValuesAreReadWhileKeysBecomeHotAndCool) {
  Start(kByPattern);
  const auto end = Clock::now() + HotSeconds(5);
  for (int round = 0; Clock::now() < end || round < 3; ++round) {
    ASSERT_NO_FATAL_FAILURE(ExpectSpread(50));
    ASSERT_TRUE(Set("hot_keys.patterns", round % 2 == 0 ? "" : "none:*"));
    ASSERT_NO_FATAL_FAILURE(ExpectNotSpread());
    ASSERT_TRUE(Set("hot_keys.patterns", "hot:*"));
  }
}

TEST_F(HotKey, OldValuesAreReadWhileOptionsChange) {
  Start(kByPattern);
  static const std::pair<const char*, const char*> kChanges[] = {{"hot_keys.buckets", "2"},
                                                                 {"hot_keys.buckets", "3"},
                                                                 {"hot_keys.buckets", "auto"},
                                                                 {"hot_keys.never", "hot:{1*"},
                                                                 {"hot_keys.never", ""},
                                                                 {"hot_keys.detect", "yes"},
                                                                 {"hot_keys.detect", "no"},
                                                                 {"hot_keys.max_staleness", "50ms"},
                                                                 {"hot_keys.max_staleness", "500ms"},
                                                                 {"hot_keys.patterns", "hot:{*"},
                                                                 {"hot_keys.patterns", "hot:{2*"},
                                                                 {"hot_keys.patterns", "hot:*"},
                                                                 {"hot_keys.max_bytes", "1kb"},
                                                                 {"hot_keys.max_bytes", "1mb"},
                                                                 {"hot_keys.min_rate", "50"}};
  const auto end = Clock::now() + HotSeconds(5);
  while (Clock::now() < end) {
    const auto& [option, value] = kChanges[random_() % std::size(kChanges)];
    ASSERT_TRUE(Set(option, value));
    ASSERT_NO_FATAL_FAILURE(Watch(milliseconds(random_() % 150)));
  }
  for (const auto& [option, value] : kChanges) ASSERT_TRUE(Set(option, value));
  ASSERT_NO_FATAL_FAILURE(ExpectSpread(50));
}

TEST_F(HotKey, OldValuesAreReadAfterAKeyHasCooledByItself) {
  StartCluster(kByRate);
  StartChecker();
  ASSERT_NO_FATAL_FAILURE(ExpectSpread(50));
  // All else goes on, so that the share of each key is small.
  ASSERT_TRUE(Set("hot_keys.min_rate", "1000000"));
  ASSERT_NO_FATAL_FAILURE(ExpectNotSpread());
  ASSERT_TRUE(Set("hot_keys.min_rate", "50"));
  ASSERT_NO_FATAL_FAILURE(ExpectSpread(50));
}

TEST_F(HotKey, OldValuesAreReadWhileTheRingChanges) {
  Start(std::string(kByPattern) + "migration: {keys_per_second: 200}\n");
  const auto end = Clock::now() + HotSeconds(5);
  for (int round = 0; Clock::now() < end || round < 3; ++round) {
    Command words = {"APPLY"};
    const Command change = round % 4 == 0   ? cluster_->Add(4)
                           : round % 4 == 2 ? cluster_->Remove("s5")
                                            : Command{"WEIGHT", "s1", round % 4 == 1 ? "2" : "1"};
    words.insert(words.end(), change.begin(), change.end());
    const Reply reply = cluster_->Ring(words);
    ASSERT_TRUE(reply.IsString()) << ToText(reply) << " " << reply.text;
    ASSERT_TRUE(cluster_->WaitSettled(seconds(30))) << cluster_->MigrationText();
    ASSERT_NO_FATAL_FAILURE(ExpectSpread(50));
  }
}

// The checker itself: a proxy whose writes leave copies in use must be found out.
class FaultyHotKey : public HotKeyTest {
 protected:
  bool FaultIsFound(const std::string& fault) {
    StartCluster(kByPattern, {"RINGWAY_TEST_FAULT=" + fault});
    StartChecker();
    const auto found = [this] { return !checker_->Complaints().empty(); };
    Eventually([&] { return found() || Figure("hotkey_bucket_reads") > kReads; }, seconds(20));
    EXPECT_TRUE(found() || Figure("hotkey_bucket_reads") > kReads) << "nothing is spread";
    if (found()) std::cout << checker_->Complaints().front().substr(0, 600) << std::endl;
    return found();
  }

 private:
  static constexpr int64_t kReads = 2000;
};

TEST_F(FaultyHotKey, CopiesThatOutliveWritesPassForCorrect) { EXPECT_TRUE(FaultIsFound("skip-generation")); }

TEST_F(FaultyHotKey, CorrectCopiesAreTakenForAFault) { EXPECT_FALSE(FaultIsFound("")); }

}  // namespace
}  // namespace ringway::test
