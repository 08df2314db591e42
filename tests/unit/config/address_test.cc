#include "config/address.h"

#include <gtest/gtest.h>

namespace ringway::config {
namespace {

TEST(Address, EachFormIsPrintedAsItIsRead) {
  for (const std::string& text :
       std::vector<std::string>{"127.0.0.1:6380", "[::1]:6380", "[fe80::1%eth0]:1", "[::ffff:10.0.0.1]:65535",
                                "cache-1.example_x.org:1", "localhost:0", "unix:/run/ringway/ringway.sock"}) {
    const ParsedAddress parsed = ParseListenAddress(text);
    EXPECT_EQ(parsed.error, "") << text;
    EXPECT_EQ(parsed.address.ToString(), text);
  }
}

TEST(Address, MalformedAddressIsRefused) {
  for (const std::string& text : std::vector<std::string>{"",
                                                          ":",
                                                          ":6380",
                                                          "127.0.0.1",
                                                          "127.0.0.1:",
                                                          "127.0.0.1:x",
                                                          "127.0.0.1:-1",
                                                          "127.0.0.1:65536",
                                                          "::1:6380",
                                                          "[::1]",
                                                          "[::1]6380",
                                                          "[]:6380",
                                                          "[1]:6380",
                                                          "[::g]:6380",
                                                          "[::1%]:6380",
                                                          "a b:1",
                                                          "*:6380",
                                                          "a/b:1",
                                                          "/run/x.sock",
                                                          "unix:",
                                                          "unix:rel/path",
                                                          "unix:/a b",
                                                          "redis://h:1",
                                                          "h:1:2"}) {
    EXPECT_NE(ParseListenAddress(text).error, "") << text;
  }
}

TEST(Address, LengthLimitsHoldOnBothSides) {
  EXPECT_EQ(ParseListenAddress("unix:/" + std::string(kMaxSocketPathBytes - 1, 'p')).error, "");
  EXPECT_NE(ParseListenAddress("unix:/" + std::string(kMaxSocketPathBytes, 'p')).error, "");
  EXPECT_EQ(ParseListenAddress(std::string(kMaxHostBytes, 'h') + ":1").error, "");
  EXPECT_NE(ParseListenAddress(std::string(kMaxHostBytes + 1, 'h') + ":1").error, "");
  EXPECT_EQ(CheckShardName(std::string(128, 'n')), std::nullopt);
  EXPECT_NE(CheckShardName(std::string(129, 'n')), std::nullopt);
}

TEST(Address, ShardIsNotReachedOnPortZero) {
  ShardConfig shard;
  EXPECT_NE(ParseShardAddress("127.0.0.1:0", &shard), std::nullopt);
  ASSERT_EQ(ParseShardAddress("[::1]:7001", &shard), std::nullopt);
  EXPECT_EQ(shard.host, "::1");
  EXPECT_EQ(shard.port, 7001);
  EXPECT_EQ(shard.address, "[::1]:7001");
  EXPECT_FALSE(shard.is_unix());
  ASSERT_EQ(ParseShardAddress("unix:/tmp/r.sock", &shard), std::nullopt);
  EXPECT_EQ(shard.path, "/tmp/r.sock");
  EXPECT_EQ(shard.host, "");
  EXPECT_EQ(shard.port, 0);
  EXPECT_TRUE(shard.is_unix());
}

TEST(Address, ShardNameThatWouldBreakAnInfoLineIsRefused) {
  for (const char* name : {"", "a b", "a,b", "a=b", "a*2", "a\nb", "caf\xc3\xa9"}) {
    EXPECT_NE(CheckShardName(name), std::nullopt) << name;
  }
  for (const char* name : {"a", "cache-1", "10.0.0.1:6379", "/run/redis.sock:", "a\"b"}) {
    EXPECT_EQ(CheckShardName(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace ringway::config
