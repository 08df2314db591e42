#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ring/distribution.h"
#include "ring/key_hash.h"
#include "tests/unit/ring/golden_file.h"

namespace ringway::ring {
namespace {

uint32_t HashOf(HashFunction function, std::string_view key) { return Hash32Of(function)(key); }

TEST(TwemproxyHash, EveryGoldenKeyHashesAsInTwemproxy) {
  const GoldenFile golden = ReadGoldenFile();
  ASSERT_EQ(golden.hashes.size(), 6u);
  for (const auto& [key, values] : golden.hashes) {
    EXPECT_EQ(values.size(), AllHashFunctions().size() - 1) << key;
    for (HashFunction function : AllHashFunctions()) {
      if (function == HashFunction::kXxh3) continue;
      const auto value = values.find(std::string(Name(function)));
      ASSERT_NE(value, values.end()) << Name(function);
      EXPECT_EQ(HashOf(function, key), value->second) << Name(function) << " of " << key;
    }
  }
}

TEST(TwemproxyHash, NoHashSharesItsValuesWithAnother) {
  for (HashFunction a : AllHashFunctions()) {
    for (HashFunction b : AllHashFunctions()) {
      if (a == b || Hash32Of(a) == nullptr || Hash32Of(b) == nullptr) continue;
      EXPECT_NE(HashOf(a, "some longer key \xff\xfe"), HashOf(b, "some longer key \xff\xfe"))
          << Name(a) << " " << Name(b);
    }
  }
}

TEST(TwemproxyHash, HighBytesAreSignExtendedInOneAtATime) {
  // The byte 0xff enters as 0xffffffff: +(-1), then the usual mixing.
  uint32_t hash = 0xffffffff;
  hash += hash << 10;
  hash ^= hash >> 6;
  hash += hash << 3;
  hash ^= hash >> 11;
  hash += hash << 15;
  EXPECT_EQ(HashOf(HashFunction::kOneAtATime, "\xff"), hash);
}

TEST(TwemproxyHash, HighBytesAreSignExtendedInFnv) {
  EXPECT_EQ(HashOf(HashFunction::kFnv1_32, "\x80"), (0x811c9dc5u * 0x01000193u) ^ 0xffffff80u);
  EXPECT_EQ(HashOf(HashFunction::kFnv1a_32, "\x80"), (0x811c9dc5u ^ 0xffffff80u) * 0x01000193u);
  EXPECT_EQ(HashOf(HashFunction::kFnv1_64, "\x80"), (0x84222325u * 0x1b3u) ^ 0xffffff80u);
  EXPECT_EQ(HashOf(HashFunction::kFnv1a_64, "\x80"), (0x84222325u ^ 0xffffff80u) * 0x1b3u);
}

TEST(TwemproxyHash, OfTheSixtyFourBitFnvTheLowHalfRemains) {
  uint64_t fnv1 = 0xcbf29ce484222325;
  uint64_t fnv1a = fnv1;
  for (char c : std::string("user:1000")) {
    fnv1 = (fnv1 * 0x100000001b3) ^ static_cast<uint64_t>(c);
    fnv1a = (fnv1a ^ static_cast<uint64_t>(c)) * 0x100000001b3;
  }
  EXPECT_EQ(HashOf(HashFunction::kFnv1_64, "user:1000"), static_cast<uint32_t>(fnv1));
  EXPECT_EQ(HashOf(HashFunction::kFnv1a_64, "user:1000"), static_cast<uint32_t>(fnv1a));
}

TEST(TwemproxyHash, Crc32KeepsFifteenBits) {
  for (const char* key : {"", "a", "123456789", "\xff\xff\xff\xff"}) {
    EXPECT_EQ(HashOf(HashFunction::kCrc32, key), (HashOf(HashFunction::kCrc32a, key) >> 16) & 0x7fff);
  }
  EXPECT_EQ(HashOf(HashFunction::kCrc32a, "123456789"), 0xcbf43926u);  // the standard's check value
}

TEST(TwemproxyHash, Crc16KeepsOldBitsAboveTheChecksum) {
  EXPECT_EQ(HashOf(HashFunction::kCrc16, "123456789") & 0xffff, 0x31c3u);  // the standard's check value
  EXPECT_GT(HashOf(HashFunction::kCrc16, "123456789"), 0xffffu);
}

TEST(TwemproxyHash, HsiehSignExtendsOnlyTheThirdByteOfAThreeByteTail) {
  const auto finish = [](uint32_t hash) {
    hash ^= hash << 3;
    hash += hash >> 5;
    hash ^= hash << 4;
    hash += hash >> 17;
    hash ^= hash << 25;
    return hash + (hash >> 6);
  };
  uint32_t three = 0xffff;
  three ^= three << 16;
  three ^= 0xffffffffu << 18;
  three += three >> 11;
  EXPECT_EQ(HashOf(HashFunction::kHsieh, "\xff\xff\xff"), finish(three));
  uint32_t one = 0xff;
  one ^= one << 10;
  one += one >> 1;
  EXPECT_EQ(HashOf(HashFunction::kHsieh, "\xff"), finish(one));
}

TEST(TwemproxyHash, EveryLengthUpToSeveralBlocksIsReadWithinTheKey) {
  // Heap copies without slack: the address sanitizer sees a read past the end.
  for (HashFunction function : AllHashFunctions()) {
    if (Hash32Of(function) == nullptr) continue;
    for (size_t length = 0; length < 40; ++length) {
      const std::vector<char> key(length, '\x81');
      const std::string_view view(key.data(), key.size());
      EXPECT_EQ(HashOf(function, view), HashOf(function, std::string(view))) << Name(function);
    }
  }
}

TEST(Xxh3, IsTheStandardHashSoThatOtherProgramsCanComputeIt) {
  // XXH3's well-known value for no input and seed 0.
  EXPECT_EQ(Xxh3(""), 0x2d06800538d394c2u);
}

}  // namespace
}  // namespace ringway::ring
