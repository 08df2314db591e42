#include "proxy/hotkey/hot_trail.h"

#include <gtest/gtest.h>

#include "proxy/hotkey/hot_key.h"

namespace ringway::proxy {
namespace {

class HotTrailTest : public ::testing::Test {
 protected:
  void Add(const HotKey& key, uint64_t request, uint64_t copy = 5) {
    trail_.Add({&key, request, copy, 0, false, {}});
  }

  HotTrail trail_;
  const HotKey a_{0, "a", 0};
  const HotKey b_{0, "b", 0};
};

TEST_F(HotTrailTest, AReadUnderWayIsForgotten) {
  EXPECT_EQ(trail_.Find(a_, 0), nullptr);
  Add(a_, 3);
  HotTrail::Step* step = trail_.Find(a_, 2);
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->request, 3U);
  EXPECT_EQ(step->copy, 5U);
}

TEST_F(HotTrailTest, AnAnsweredReadStillBindsThoseAfterIt) {
  Add(a_, 3);
  EXPECT_EQ(trail_.Find(a_, 3), nullptr);
  EXPECT_EQ(trail_.Find(a_, 0), nullptr) << "it was not forgotten for good";
}

TEST_F(HotTrailTest, TheFirstOfSeveralReadsEndsTheStep) {
  Add(a_, 3);
  trail_.Find(a_, 2)->request = 6;
  EXPECT_NE(trail_.Find(a_, 5), nullptr);
  EXPECT_EQ(trail_.Find(a_, 6), nullptr);
}

// Such as one that had to wait, and was noted before.
TEST_F(HotTrailTest, AReadThatWasNeverSentBindsAClientWithNothingUnderWay) {
  Add(a_, 3);
  trail_.Clear();
  EXPECT_EQ(trail_.Find(a_, 2), nullptr);
}

TEST_F(HotTrailTest, KeysAreTakenForEachOther) {
  Add(a_, 3, 5);
  Add(b_, 4, 6);
  EXPECT_EQ(trail_.Find(b_, 2)->copy, 6U);
  EXPECT_EQ(trail_.Find(a_, 2)->copy, 5U);
  EXPECT_EQ(trail_.Find(a_, 3), nullptr);
  EXPECT_EQ(trail_.Find(b_, 3)->copy, 6U);
}

TEST_F(HotTrailTest, AFreshStepHasFallenBackOrIsProven) {
  Add(a_, 3);
  const HotTrail::Step* step = trail_.Find(a_, 2);
  EXPECT_GT(step->fell_back, step->request);
  EXPECT_LT(step->proven, step->request);
  EXPECT_EQ(step->followers, 0U);
}

TEST_F(HotTrailTest, ARequestOfUnknownKeysIsForgottenOrKeptForEver) {
  EXPECT_FALSE(trail_.HasUnknown(0));
  trail_.NoteUnknown(3);
  EXPECT_TRUE(trail_.HasUnknown(2));
  EXPECT_FALSE(trail_.HasUnknown(3));
}

}  // namespace
}  // namespace ringway::proxy
