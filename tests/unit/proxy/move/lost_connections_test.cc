#include "proxy/move/lost_connections.h"

#include <gtest/gtest.h>

namespace ringway::proxy {
namespace {

TEST(LostConnections, NumberIsGivenOutTwice) {
  const uint64_t first = NextConnectionNumber();
  EXPECT_GT(NextConnectionNumber(), first);
}

TEST(LostConnections, WhatWasNotFencedIsForgotten) {
  LostConnections lost;
  lost.Add(1, 10);
  lost.Add(2, 11);
  lost.Add(1, 12);
  lost.Add(1, 9);
  lost.Forget({{1, 10}, {1, 12}, {2, 12}});
  ASSERT_EQ(lost.all().size(), 2U);
  EXPECT_EQ(lost.all()[0].number, 11U);
  EXPECT_EQ(lost.all()[1].number, 9U) << "it was lost while the fence was at work";
}

TEST(LostConnections, NewestIsForgottenOrTheListGrowsWithoutEnd) {
  LostConnections lost;
  for (uint64_t number = 1; number <= LostConnections::kMaxKept + 5; ++number) lost.Add(1, number);
  EXPECT_EQ(lost.all().size(), LostConnections::kMaxKept);
  EXPECT_EQ(lost.all().front().number, 6U);
  EXPECT_EQ(lost.all().back().number, LostConnections::kMaxKept + 5);
}

}  // namespace
}  // namespace ringway::proxy
