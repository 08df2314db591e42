#include <gtest/gtest.h>

#include "proxy/control/info_values.h"

namespace ringway::proxy {
namespace {

TEST(InfoValue, EndOfAnotherNameIsTakenForIt) {
  const std::string_view info = "# Server\r\nold_role:slave\r\nrole:master\r\nlast:1";
  EXPECT_EQ(InfoValue(info, "role"), "master");
  EXPECT_EQ(InfoValue(info, "last"), "1");
  EXPECT_EQ(InfoValue(info, "rol"), "");
  EXPECT_EQ(InfoValue("", "role"), "");
}

TEST(KeyspaceLines, DatabaseIsOverlooked) {
  const auto lines = ReadKeyspace(
      "# Server\r\nredis_version:7.0.15\r\n\r\n# Keyspace\r\ndb0:keys=3,expires=1,avg_ttl=0\r\n"
      "db15:keys=70000000000,expires=0,avg_ttl=0,subexpiry=0\r\n");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].database, 0U);
  EXPECT_EQ(lines[0].keys, 3U);
  EXPECT_EQ(lines[1].database, 15U);
  EXPECT_EQ(lines[1].keys, 70'000'000'000U);
}

TEST(KeyspaceLines, OtherLineIsTakenForADatabase) {
  EXPECT_TRUE(ReadKeyspace("").empty());
  EXPECT_TRUE(ReadKeyspace("# Keyspace\r\n").empty());
  EXPECT_TRUE(
      ReadKeyspace("db0:keys=,expires=0\r\ndbx:keys=1\r\ndb_size:keys=1,\r\nmydb0:keys=1\r\n").empty());
}

}  // namespace
}  // namespace ringway::proxy
