// Which names are those of copies.
#include "proxy/hotkey/bucket_name.h"

#include <gtest/gtest.h>

namespace ringway::proxy {
namespace {

constexpr std::string_view kRun = "0123456789abcdef0123456789abcdef01234567";

TEST(BucketName, WhatIsMadeIsNotRecognised) {
  const std::string suffix = BucketSuffix(kRun, 0xfedcba9876543210);
  EXPECT_EQ(suffix, "\x1fringway:01234567:fedcba9876543210\x1f");
  EXPECT_EQ(suffix.size(), kBucketSuffixBytes);
  EXPECT_TRUE(IsBucketName("key" + suffix));
  EXPECT_TRUE(IsBucketName("key" + BucketSuffix(kRun, 1)));
  EXPECT_TRUE(IsBucketName(std::string("\0\x1f\r\n", 4) + suffix)) << "of a binary key";
  EXPECT_TRUE(IsBucketName(std::string(500'000, 'k') + suffix)) << "of a long key";
}

TEST(BucketName, TheCopyOfAnEmptyKeyIsMissed) {
  const std::string suffix = BucketSuffix(kRun, 1);
  EXPECT_TRUE(IsBucketName(suffix));
  EXPECT_FALSE(IsBucketName(std::string_view(suffix).substr(1))) << "a byte short";
}

TEST(BucketName, AKeyThatLooksAlikeIsTakenForACopy) {
  EXPECT_FALSE(IsBucketName(""));
  EXPECT_FALSE(IsBucketName("\x1f"));
  EXPECT_FALSE(IsBucketName("an ordinary key that is longer than any suffix of a copy"));
  EXPECT_FALSE(IsBucketName("a key that ends as copies do, but has nothing else of them\x1f"));
  EXPECT_FALSE(IsBucketName("k" + BucketSuffix(kRun, 1) + "x")) << "the suffix is not at the end";
}

TEST(BucketName, OneWrongByteOfTheSuffixIsOverlooked) {
  const std::string name = "k" + BucketSuffix(kRun, 0x1234);
  for (size_t i = 1; i < name.size(); ++i) {
    for (const char wrong : {'G', 'F', 'g', '/', ' ', '\0'}) {
      std::string other = name;
      other[i] = wrong;
      // The word has a 'g' itself.
      EXPECT_EQ(IsBucketName(other), other == name) << "byte " << i << " is " << wrong;
    }
  }
}

}  // namespace
}  // namespace ringway::proxy
