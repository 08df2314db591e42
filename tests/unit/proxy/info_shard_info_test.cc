#include <random>
#include <string>

#include <gtest/gtest.h>

#include "proxy/info/shard_info.h"

namespace ringway::proxy {
namespace {

TEST(ShardInfo, FieldsAreLost) {
  const ShardInfo info = ShardInfo::Parse(
      "# Server\r\nredis_version:7.0.15\r\nos:Linux 6.1 x86_64\r\n\r\n# Memory\r\nused_memory:970248\r\n"
      "maxmemory_policy:noeviction\r\nempty:\r\n# Keyspace\r\ndb0:keys=2,expires=1,avg_ttl=5\r\n"
      "db12:keys=40,expires=0,avg_ttl=0\r\n");
  EXPECT_EQ(info.Text("redis_version"), "7.0.15");
  EXPECT_EQ(info.Text("os"), "Linux 6.1 x86_64");
  EXPECT_EQ(info.Text("empty"), "");
  EXPECT_EQ(info.Text("absent"), "");
  EXPECT_EQ(info.Number("used_memory"), 970248U);
  EXPECT_EQ(info.Number("maxmemory_policy"), 0U);
  ASSERT_EQ(info.databases().size(), 2U);
  EXPECT_EQ(info.databases().at(0).expires, 1U);
  EXPECT_EQ(info.databases().at(0).avg_ttl, 5U);
  EXPECT_EQ(info.databases().at(12).keys, 40U);
  EXPECT_EQ(info.keys(), 42U);
}

TEST(ShardInfo, LinesWithoutCarriageReturnAreNotTaken) {
  const ShardInfo info = ShardInfo::Parse("a:1\nb:2\nlast:3");
  EXPECT_EQ(info.Number("a"), 1U);
  EXPECT_EQ(info.Number("b"), 2U);
  EXPECT_EQ(info.Number("last"), 3U);
}

TEST(ShardInfo, LaterServersFieldsOfADatabaseBreakIt) {
  const ShardInfo info = ShardInfo::Parse("db0:keys=2,expires=1,avg_ttl=5,subexpiry=9\r\n");
  EXPECT_EQ(info.keys(), 2U);
  EXPECT_EQ(info.databases().at(0).avg_ttl, 5U);
}

TEST(ShardInfo, NumbersThatAreNoneBecomeLargeOnes) {
  const ShardInfo info = ShardInfo::Parse(
      "minus:-1\r\nhuge:18446744073709551616\r\nmost:18446744073709551615\r\nfraction:1.5\r\ntail:12x\r\n"
      "db0:keys=-3,expires=x,avg_ttl\r\ndbx:keys=1\r\ndb:keys=1\r\ndb99999999999:keys=1\r\n");
  for (const char* field : {"minus", "huge", "fraction", "tail"}) EXPECT_EQ(info.Number(field), 0U) << field;
  EXPECT_EQ(info.Number("most"), UINT64_MAX);
  EXPECT_EQ(info.keys(), 0U);
  EXPECT_EQ(info.databases().size(), 1U);
}

TEST(ShardInfo, WhatIsBeyondTheLimitIsRead) {
  const std::string filling(ShardInfo::kMaxBytes - 5, 'x');
  EXPECT_EQ(ShardInfo::Parse(filling + "\r\na:1\r\n").Text("a"), "1");
  EXPECT_EQ(ShardInfo::Parse(filling + "x\r\na:1\r\n").Text("a"), "");
  const std::string fits = "a:" + std::string(ShardInfo::kMaxLineBytes - 2, 'v');
  EXPECT_EQ(ShardInfo::Parse(fits).Text("a").size(), ShardInfo::kMaxLineBytes - 2);
  EXPECT_EQ(ShardInfo::Parse(fits + "v").Text("a"), "");
}

TEST(ShardInfo, GarbageCrashes) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::minstd_rand random(seed);
  constexpr std::string_view kAlphabet = "\r\n:#=,db019-keysxpirvg_tl\0 ";
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (size_t i = random() % 200; i > 0; --i) text += kAlphabet[random() % kAlphabet.size()];
    const ShardInfo info = ShardInfo::Parse(text);
    info.keys();
    for (size_t end = 0; end < text.size(); end += 17) ShardInfo::Parse(text.substr(0, end));
  }
}

}  // namespace
}  // namespace ringway::proxy
