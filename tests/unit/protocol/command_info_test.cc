#include "protocol/command_info.h"

#include <string>

#include <gtest/gtest.h>

namespace ringway::protocol {
namespace {

std::string Written(const char* name, int resp) {
  std::string bytes;
  ReplyWriter out(bytes, resp);
  WriteCommandInfo(*FindByFullName(name), out);
  return bytes;
}

TEST(CommandInfo, AKeywordSpecificationIsWrittenInRedisShape) {
  EXPECT_EQ(Written("xread", 2),
            "*10\r\n$5\r\nxread\r\n:-4\r\n*3\r\n+readonly\r\n+blocking\r\n+movablekeys\r\n:0\r\n:0\r\n:0\r\n"
            "*4\r\n+@read\r\n+@stream\r\n+@slow\r\n+@blocking\r\n*0\r\n"
            "*1\r\n*6\r\n$5\r\nflags\r\n*2\r\n+RO\r\n+access\r\n"
            "$12\r\nbegin_search\r\n*4\r\n$4\r\ntype\r\n$7\r\nkeyword\r\n$4\r\nspec\r\n"
            "*4\r\n$7\r\nkeyword\r\n$7\r\nSTREAMS\r\n$9\r\nstartfrom\r\n:1\r\n"
            "$9\r\nfind_keys\r\n*4\r\n$4\r\ntype\r\n$5\r\nrange\r\n$4\r\nspec\r\n"
            "*6\r\n$7\r\nlastkey\r\n:-1\r\n$7\r\nkeystep\r\n:1\r\n$5\r\nlimit\r\n:2\r\n*0\r\n");
}

TEST(CommandInfo, Resp3HasSetsAndMaps) {
  const std::string bytes = Written("get", 3);
  EXPECT_EQ(bytes.substr(0, bytes.find(":1")), "*10\r\n$3\r\nget\r\n:2\r\n~2\r\n+readonly\r\n+fast\r\n");
  EXPECT_NE(bytes.find("~1\r\n%3\r\n$5\r\nflags\r\n~2\r\n"), std::string::npos) << bytes;
}

TEST(CommandInfo, HiddenFlagsStayHidden) {
  EXPECT_TRUE(FindCommand("debug")->flags & kProtected);
  EXPECT_NE(Written("debug", 2).find(":-2\r\n*4\r\n+admin\r\n+noscript\r\n+loading\r\n+stale\r\n:0"),
            std::string::npos);
}

TEST(CommandInfo, TipsArePartedAndSubcommandsCarried) {
  EXPECT_NE(Written("touch", 2)
                .find("*2\r\n$26\r\nrequest_policy:multi_shard\r\n$23\r\nresponse_policy:agg_sum\r\n"),
            std::string::npos);
  EXPECT_NE(Written("slowlog", 2).find("*4\r\n*10\r\n$11\r\nslowlog|get\r\n"), std::string::npos);
}

TEST(CommandInfo, BitsAreFoundByNameInAnyCase) {
  EXPECT_EQ(BitOf(AclCategoryNames(), "SortedSet"), kAclSortedSet);
  EXPECT_EQ(BitOf(CommandFlagNames(), "movablekeys"), kMovableKeys);
  EXPECT_EQ(BitOf(KeyFlagNames(), "ro"), kRo);
  EXPECT_EQ(BitOf(AclCategoryNames(), "all"), std::nullopt);
}

}  // namespace
}  // namespace ringway::protocol
