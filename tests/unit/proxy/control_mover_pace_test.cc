#include <gtest/gtest.h>

#include "proxy/control/mover_pace.h"

namespace ringway::proxy {
namespace {

constexpr int64_t kSecond = 1'000'000;

TEST(KeyAllowance, KeysComeFasterThanTheirRate) {
  for (const int64_t rate : {1, 7, 100, 20'000}) {
    KeyAllowance allowance;
    allowance.SetRate(rate);
    int64_t now = 5 * kSecond;
    size_t granted = allowance.Take(now, 256).keys;  // what was saved up
    EXPECT_LE(granted, std::max<size_t>(static_cast<size_t>(rate) / 10, 1));
    granted = 0;
    const int64_t end = now + 20 * kSecond;
    while (now < end) {
      const KeyAllowance::Grant grant = allowance.Take(now, 256);
      granted += grant.keys;
      ASSERT_GE(grant.wait_usec, 0);
      now += grant.keys == 0 ? grant.wait_usec : 10;
    }
    EXPECT_NEAR(static_cast<double>(granted), 20.0 * static_cast<double>(rate), 0.03 * 20 * rate + 256)
        << rate;
  }
}

TEST(KeyAllowance, IdleTimeIsSavedUpWithoutEnd) {
  KeyAllowance allowance;
  allowance.SetRate(1'000);
  EXPECT_LE(allowance.Take(3'600 * kSecond, 5'000).keys, 100U);
}

TEST(KeyAllowance, CallsForOneKeyEachAreMade) {
  KeyAllowance allowance;
  allowance.SetRate(10'000);
  allowance.Take(kSecond, 5'000);
  const KeyAllowance::Grant grant = allowance.Take(kSecond + 100, 256);
  EXPECT_EQ(grant.keys, 0U);
  EXPECT_GT(grant.wait_usec, 10'000);
  EXPECT_GE(allowance.Take(kSecond + 100 + grant.wait_usec, 256).keys, 199U);
}

TEST(KeyAllowance, LoneKeyWaitsForABatch) {
  KeyAllowance allowance;
  allowance.SetRate(10'000);
  allowance.Take(kSecond, 5'000);
  EXPECT_EQ(allowance.Take(kSecond + 100, 1).keys, 1U);
}

TEST(KeyAllowance, NoRateIsALimit) {
  KeyAllowance allowance;
  EXPECT_EQ(allowance.Take(0, 1'000'000).keys, 1'000'000U);
  allowance.SetRate(10);
  EXPECT_EQ(allowance.Take(0, 100).keys, 0U);
  allowance.SetRate(0);
  EXPECT_EQ(allowance.Take(0, 100).keys, 100U);
}

TEST(KeyAllowance, KeysGivenBackAreLost) {
  KeyAllowance allowance;
  allowance.SetRate(1'000);
  ASSERT_EQ(allowance.Take(kSecond, 100).keys, 100U);
  allowance.GiveBack(60);
  EXPECT_EQ(allowance.Take(kSecond, 100).keys, 60U);
}

TEST(SourcePace, SourceHasNoTimeForOthers) {
  SourcePace pace;
  pace.SetMaxBusy(0.25);
  pace.OnCall(1'000, 3'000);
  EXPECT_EQ(pace.next_call_usec(), 9'000);
  pace.SetMaxBusy(0.5);
  pace.OnCall(10'000, 11'000);
  EXPECT_EQ(pace.next_call_usec(), 12'000);
}

TEST(SourcePace, NoLimitWaits) {
  SourcePace pace;
  for (const double none : {0.0, 1.0, 1.5}) {
    pace.SetMaxBusy(none);
    pace.OnCall(1'000, 3'000);
    EXPECT_EQ(pace.next_call_usec(), 3'000) << none;
  }
}

TEST(SourcePace, BatchesDoNotFollowTheTimeTheyTake) {
  SourcePace pace;
  // 10 microseconds a key: 100 keys make a millisecond.
  for (int i = 0; i < 20; ++i) {
    const double units = pace.batch_units();
    pace.OnBatch(0, static_cast<int64_t>(units * 10), units);
  }
  EXPECT_NEAR(pace.batch_units(), 100, 10);
  // The target becomes ten times slower.
  for (int i = 0; i < 5; ++i) {
    const double units = pace.batch_units();
    pace.OnBatch(0, static_cast<int64_t>(units * 100), units);
  }
  EXPECT_NEAR(pace.batch_units(), 10, 1);
  pace.OnBatch(0, 10 * kSecond, pace.batch_units());
  for (int i = 0; i < 10; ++i) pace.OnBatch(0, 10 * kSecond, pace.batch_units());
  EXPECT_GE(pace.batch_units(), 1) << "one key must always fit";
}

TEST(SourcePace, BatchesGrowWithoutEnd) {
  SourcePace pace;
  for (int i = 0; i < 100; ++i) pace.OnBatch(0, 0, pace.batch_units());
  EXPECT_LE(pace.batch_units(), 1'000);
}

TEST(SourcePace, LastSmallBatchOfAScanMakesAllSmall) {
  SourcePace pace;
  for (int i = 0; i < 20; ++i) pace.OnBatch(0, 1'000, pace.batch_units());
  const double before = pace.batch_units();
  pace.OnBatch(0, 400, 2);
  EXPECT_EQ(pace.batch_units(), before);
}

TEST(SourcePace, ScanGrowsOrShrinksWithoutEnd) {
  SourcePace pace;
  for (int i = 0; i < 100; ++i) pace.OnScan(0, 1, pace.scan_count());
  EXPECT_EQ(pace.scan_count(), SourcePace::kMaxScanCount);
  for (int i = 0; i < 100; ++i) pace.OnScan(0, kSecond, pace.scan_count());
  EXPECT_EQ(pace.scan_count(), SourcePace::kMinScanCount);
}

TEST(SourcePace, LargeValueCountsAsASmallOne) {
  EXPECT_NEAR(SourcePace::Units(100), 1, 0.1);
  EXPECT_GT(SourcePace::Units(SourcePace::kMaxBatchBytes), 100);
}

}  // namespace
}  // namespace ringway::proxy
