#include "proxy/move/pulled_keys.h"

#include <string>

#include <gtest/gtest.h>

namespace ringway::proxy {
namespace {

// Some 1 KiB, so that a test needs few.
std::string Key(size_t i) { return std::to_string(i) + std::string(1000, 'x'); }
constexpr size_t kBytesOfKey = 1100;

TEST(PulledKeys, OnlyTheVeryKeyIsKnown) {
  PulledKeys keys;
  keys.Add(1, "key");
  EXPECT_TRUE(keys.Has(1, "key"));
  EXPECT_FALSE(keys.Has(0, "key"));
  EXPECT_FALSE(keys.Has(1, "ke"));
  EXPECT_FALSE(keys.Has(1, std::string("key\0", 4)));
  keys.Clear();
  EXPECT_FALSE(keys.Has(1, "key"));
}

TEST(PulledKeys, BelowTheLimitNothingIsForgotten) {
  PulledKeys keys;
  const size_t half = PulledKeys::kMaxBytes / 2 / kBytesOfKey;
  for (size_t i = 0; i < half; ++i) keys.Add(0, Key(i));
  for (size_t i = 0; i < half; ++i) EXPECT_TRUE(keys.Has(0, Key(i)));
}

TEST(PulledKeys, BeyondTheLimitTheLongestUnusedAreForgotten) {
  PulledKeys keys;
  const size_t many = 3 * PulledKeys::kMaxBytes / 1000;
  for (size_t i = 0; i < many; ++i) {
    keys.Add(0, Key(i));
    ASSERT_TRUE(keys.Has(0, "often") || i == 0);
    keys.Add(0, "often");
    ASSERT_LE(keys.size() * 1000, PulledKeys::kMaxBytes);
  }
  EXPECT_FALSE(keys.Has(0, Key(0)));
  EXPECT_TRUE(keys.Has(0, Key(many - 1)));
}

}  // namespace
}  // namespace ringway::proxy
