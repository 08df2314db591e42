// Which copies DBSIZE leaves out.
#include "proxy/hotkey/copy_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringway::proxy {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr int64_t kSecond = 1'000'000;

TEST(CopyRegistry, CopiesOfAnotherShardOrDatabaseAreNamed) {
  CopyRegistry copies;
  EXPECT_TRUE(copies.empty());
  copies.Add(0, 7, "a", kSecond, 0);
  copies.Add(0, 7, "b", kSecond, 0);
  copies.Add(1, 7, "c", kSecond, 0);
  copies.Add(0, 8, "d", kSecond, 0);
  EXPECT_FALSE(copies.empty());
  EXPECT_THAT(copies.Names(0, 7, 0), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(copies.Names(1, 7, 0), UnorderedElementsAre("c"));
  EXPECT_THAT(copies.Names(0, 8, 0), UnorderedElementsAre("d"));
  EXPECT_THAT(copies.Names(1, 8, 0), IsEmpty());
}

TEST(CopyRegistry, ACopyIsForgottenTooSoonOrNever) {
  CopyRegistry copies;
  copies.Add(0, 1, "a", kSecond, 0);
  copies.Add(0, 2, "of a shard that nobody asks for", kSecond, 0);
  const int64_t gone_usec = kSecond + CopyRegistry::kKeepUsec;
  EXPECT_THAT(copies.Names(0, 1, gone_usec - 1), UnorderedElementsAre("a"));
  EXPECT_THAT(copies.Names(0, 1, gone_usec), IsEmpty());
  EXPECT_FALSE(copies.empty()) << "swept but once a second";
  EXPECT_THAT(copies.Names(0, 1, gone_usec + CopyRegistry::kKeepUsec), IsEmpty());
  EXPECT_TRUE(copies.empty());
}

TEST(CopyRegistry, CopiesThatNobodyAsksForStayForEver) {
  CopyRegistry copies;
  copies.Add(0, 1, "a", kSecond, 0);
  const int64_t gone_usec = kSecond + CopyRegistry::kKeepUsec;
  copies.Add(0, 2, "b", gone_usec, gone_usec);
  copies.Remove(0, 2, "b");
  EXPECT_TRUE(copies.empty());
}

TEST(CopyRegistry, ARemovedCopyIsNamed) {
  CopyRegistry copies;
  copies.Add(0, 1, "a", kSecond, 0);
  copies.Add(0, 1, "b", kSecond, 0);
  copies.Remove(0, 1, "a");
  copies.Remove(0, 1, "unknown");
  copies.Remove(3, 3, "a");
  EXPECT_THAT(copies.Names(0, 1, 0), UnorderedElementsAre("b"));
  copies.Remove(0, 1, "b");
  EXPECT_TRUE(copies.empty());
}

TEST(CopyRegistry, GrowsWithoutEnd) {
  CopyRegistry copies;
  for (size_t i = 0; i < CopyRegistry::kMaxCopies; ++i) {
    copies.Add(0, 1, std::to_string(i), static_cast<int64_t>(i), 0);
  }
  EXPECT_THAT(copies.Names(0, 1, 0), SizeIs(CopyRegistry::kMaxCopies));
  copies.Add(0, 1, "one more", kSecond, 0);
  const auto names = copies.Names(0, 1, 0);
  EXPECT_THAT(names, SizeIs(CopyRegistry::kMaxCopies / 2 + 1));
  EXPECT_THAT(names, ::testing::Contains("one more"));
  EXPECT_THAT(names, ::testing::Contains(std::to_string(CopyRegistry::kMaxCopies - 1)));
  EXPECT_THAT(names, ::testing::Not(::testing::Contains("0"))) << "those that expire first go";
}

TEST(CopyRegistry, AllOfOneAgeAreForgottenTogether) {
  CopyRegistry copies;
  for (size_t i = 0; i <= CopyRegistry::kMaxCopies; ++i) copies.Add(0, 1, std::to_string(i), kSecond, 0);
  EXPECT_THAT(copies.Names(0, 1, 0), SizeIs(CopyRegistry::kMaxCopies / 2 + 1));
}

}  // namespace
}  // namespace ringway::proxy
