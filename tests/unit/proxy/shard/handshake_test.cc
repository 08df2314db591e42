#include "proxy/shard/handshake.h"

#include <gtest/gtest.h>

namespace ringway::proxy {
namespace {

constexpr std::string_view kPlainServer = "$19\r\ncluster_enabled:0\r\n\r\n";

config::ShardConfig WithPassword() {
  config::ShardConfig shard;
  shard.password = "secret";
  return shard;
}

TEST(Handshake, NameComesBeforeAuthOrAfterRequests) {
  const Handshake handshake(WithPassword(), 3, 2, "ringway:p:r:7");
  const std::string& request = handshake.request();
  const size_t auth = request.find("AUTH");
  const size_t name = request.find("*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$13\r\nringway:p:r:7\r\n");
  ASSERT_NE(name, std::string::npos) << request;
  EXPECT_LT(auth, name);
  EXPECT_LT(name, request.find("PING"));
  EXPECT_EQ(handshake.replies(), 5U);
}

TEST(Handshake, NamelessConnectionIsNamed) {
  const Handshake handshake(WithPassword(), 0, 2, "");
  EXPECT_EQ(handshake.request().find("SETNAME"), std::string::npos);
  EXPECT_EQ(handshake.replies(), 3U);
}

TEST(Handshake, ServerWithoutClientCommandIsRefused) {
  Handshake handshake(config::ShardConfig(), 0, 2, "ringway:p:r:7");
  const std::string replies = "-NOPERM this user has no permissions to run the 'client' command\r\n+PONG\r\n";
  EXPECT_EQ(handshake.OnBytes(replies + std::string(kPlainServer)), Handshake::Verdict::kReady)
      << handshake.problem();
}

TEST(Handshake, WrongPasswordPasses) {
  Handshake handshake(WithPassword(), 0, 2, "ringway:p:r:7");
  EXPECT_EQ(handshake.OnBytes("-WRONGPASS invalid\r\n"), Handshake::Verdict::kRefused);
}

TEST(Handshake, MissingDatabasePasses) {
  Handshake handshake(config::ShardConfig(), 20, 2, "ringway:p:r:7");
  EXPECT_EQ(handshake.OnBytes("+OK\r\n-ERR DB index is out of range\r\n"), Handshake::Verdict::kRefused);
  EXPECT_EQ(handshake.problem(), "has no such database");
}

}  // namespace
}  // namespace ringway::proxy
