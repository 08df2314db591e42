#include "proxy/move/counting_gate.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace ringway::proxy {
namespace {

constexpr int64_t kStart = 1'000'000;

TEST(CountingGate, ABatchBeginsWhileKeysAreCounted) {
  CountingGate gate;
  ASSERT_TRUE(gate.BeginBatch(kStart));
  const auto period = gate.Close(kStart);
  ASSERT_TRUE(period.has_value());
  EXPECT_FALSE(gate.Quiet()) << "a batch is still under way";
  EXPECT_FALSE(gate.BeginBatch(kStart + 1));
  gate.EndBatch();
  EXPECT_TRUE(gate.Quiet()) << "a batch that was refused counts as one under way";
  gate.Leave(*period, kStart + 2);
  EXPECT_TRUE(gate.BeginBatch(kStart + 2));
}

TEST(CountingGate, ACountThatIsForgottenStopsTheMove) {
  CountingGate gate;
  const auto period = gate.Close(kStart);
  EXPECT_FALSE(gate.BeginBatch(kStart + CountingGate::kClosedUsec - 1));
  EXPECT_TRUE(gate.IsClosed(*period, kStart + CountingGate::kClosedUsec - 1));
  EXPECT_FALSE(gate.IsClosed(*period, kStart + CountingGate::kClosedUsec));
  EXPECT_TRUE(gate.BeginBatch(kStart + CountingGate::kClosedUsec));
}

TEST(CountingGate, TheFirstCountToEndOpensTheGateForTheOthers) {
  CountingGate gate;
  const auto first = gate.Close(kStart);
  const auto second = gate.Close(kStart + CountingGate::kJoinUsec);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(*first, *second);
  EXPECT_FALSE(gate.Close(kStart + CountingGate::kJoinUsec + 1).has_value()) << "too late to join";
  gate.Leave(*first, kStart + 30'000);
  EXPECT_FALSE(gate.BeginBatch(kStart + 30'000));
  gate.Leave(*second, kStart + 30'000);
  EXPECT_TRUE(gate.BeginBatch(kStart + 30'000));
}

TEST(CountingGate, CountsInARowLeaveTheMoveNoTime) {
  CountingGate gate;
  int64_t closed_usec = 0;
  int64_t now = kStart;
  for (; now < kStart + 10'000'000; now += 1000) {
    const auto period = gate.Close(now);
    if (!period.has_value()) continue;
    now += 10'000;
    closed_usec += 10'000;
    gate.Leave(*period, now);
  }
  EXPECT_LE(closed_usec, (now - kStart) / CountingGate::kOpenPerClosed);
  EXPECT_GE(closed_usec, (now - kStart) / 8) << "counts hardly come to their turn";
}

TEST(CountingGate, ACountThatLeavesLateOpensTheNextOnesGate) {
  CountingGate gate;
  const auto first = gate.Close(kStart);
  const int64_t later = kStart + CountingGate::kClosedUsec * (1 + CountingGate::kOpenPerClosed);
  EXPECT_FALSE(gate.Close(later - 1).has_value()) << "the gate must stay open for its time";
  const auto second = gate.Close(later);
  ASSERT_TRUE(second.has_value());
  gate.Leave(*first, later + 1);
  EXPECT_FALSE(gate.BeginBatch(later + 1));
  EXPECT_TRUE(gate.IsClosed(*second, later + 1));
}

// Threads that move and one that counts: what the gate says while closed and quiet must be true.
TEST(CountingGate, SomebodyMovesWhileTheGateIsClosedAndQuiet) {
  CountingGate gate;
  std::atomic<bool> stop{false};
  std::atomic<int> moving{0};
  std::atomic<int64_t> now{kStart};
  std::vector<std::thread> movers;
  for (int i = 0; i < 2; ++i) {
    movers.emplace_back([&] {
      while (!stop) {
        if (!gate.BeginBatch(now)) {
          std::this_thread::yield();
          continue;
        }
        ++moving;
        --moving;
        gate.EndBatch();
      }
    });
  }
  int counts = 0;
  while (counts < 2000) {
    now += 100;
    const auto period = gate.Close(now);
    if (!period.has_value()) continue;
    while (!gate.Quiet()) std::this_thread::yield();
    EXPECT_EQ(moving, 0);
    ++counts;
    now += 100;
    gate.Leave(*period, now);
  }
  stop = true;
  for (std::thread& mover : movers) mover.join();
}

}  // namespace
}  // namespace ringway::proxy
