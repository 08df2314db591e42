#include <string>

#include <gtest/gtest.h>

#include "ring/key_hash.h"

namespace ringway::ring {
namespace {

TEST(HashTag, OddBracesAreKeysLikeAnyOther) {
  const HashTag tag("{}");
  for (const char* key : {"", "{", "}", "{}", "}{", "{}{a}", "{a", "a}", "}a{", "{{", "}}", "plain"}) {
    EXPECT_EQ(tag.Of(key), key);
  }
}

TEST(HashTag, TheFirstPairDecides) {
  const HashTag tag("{}");
  EXPECT_EQ(tag.Of("{a}1"), "a");
  EXPECT_EQ(tag.Of("{a}{b}"), "a");
  EXPECT_EQ(tag.Of("user:{1000}:name"), "1000");
  EXPECT_EQ(tag.Of("{{a}}"), "{a");
  EXPECT_EQ(tag.Of("}{a}"), "a");
  EXPECT_EQ(tag.Of("a{b}"), "b");
}

TEST(HashTag, TwoEqualCharactersWork) {
  const HashTag tag("$$");
  EXPECT_EQ(tag.Of("$a$b"), "a");
  EXPECT_EQ(tag.Of("$$a"), "$$a");
  EXPECT_EQ(tag.Of("$a"), "$a");
}

TEST(HashTag, WithoutCharactersTheWholeKeyCounts) {
  for (const char* characters : {"", "{", "{}}"}) EXPECT_EQ(HashTag(characters).Of("{a}1"), "{a}1");
}

TEST(HashTag, ATagIsFoundAtEveryPlaceInKeysOfEveryLength) {
  const HashTag tag("{}");
  for (size_t length = 3; length < 120; ++length) {
    for (size_t place = 0; place + 3 <= length; ++place) {
      std::string key(length, '|');  // '|' is 0x7c, one below and one bit from '{' and '}'
      key.replace(place, 3, "{x}");
      ASSERT_EQ(tag.Of(key), "x") << key;
    }
  }
}

TEST(HashTag, BytesAtTheEdgesOfCharAreTagCharactersToo) {
  const std::string characters("\x00\xff", 2);
  const std::string key("12345678\x00tag\xff", 13);
  EXPECT_EQ(HashTag(characters).Of(key), "tag");
}

}  // namespace
}  // namespace ringway::ring
