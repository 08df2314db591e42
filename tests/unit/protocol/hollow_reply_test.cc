#include "protocol/hollow_reply.h"

#include <gtest/gtest.h>

#include "protocol/command_table.h"

namespace ringway::protocol {
namespace {

TEST(HollowReply, WhatAMissingKeyAnswersPassesForAValue) {
  for (const char* reply :
       {"$-1\r\n", "*-1\r\n", "_\r\n", "$0\r\n\r\n", "*0\r\n", "%0\r\n", "~0\r\n", ":0\r\n", ":-2\r\n",
        "#f\r\n", "+none\r\n", "*2\r\n$-1\r\n_\r\n", "*2\r\n$1\r\n0\r\n*0\r\n", "*2\r\n:0\r\n:0\r\n",
        "*1\r\n*-1\r\n", "-NOGROUP No such key 'k'\r\n", "!21\r\nSYNTAX invalid syntax\r\n"}) {
    EXPECT_TRUE(IsHollowReply(reply)) << reply;
  }
}

TEST(HollowReply, AValueIsDoubted) {
  for (const char* reply :
       {"$1\r\nv\r\n", "$1\r\n1\r\n", "$2\r\n00\r\n", ":1\r\n", "+hash\r\n", "#t\r\n", ",1.5\r\n",
        "=5\r\ntxt:x\r\n", "*2\r\n$-1\r\n$1\r\nv\r\n", "*2\r\n*0\r\n*1\r\n:7\r\n",
        "%1\r\n$0\r\n\r\n$1\r\nv\r\n", "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nm\r\n", "$4\r\n\r\n\r\n\r\n"}) {
    EXPECT_FALSE(IsHollowReply(reply)) << reply;
  }
}

TEST(CopyCanAnswer, ACommandAsksACopyThatCannotAnswer) {
  for (const char* name : {"get", "mget", "exists", "hgetall", "lrange", "sismember", "zscore", "xread",
                           "getbit", "pfcount", "geosearch", "type", "strlen"}) {
    EXPECT_TRUE(CopyCanAnswer(*FindCommand(name))) << name;
  }
  for (const char* name :
       {"set", "getex", "getdel", "georadius", "ttl", "pexpiretime", "dump", "hscan", "touch", "scan",
        "eval_ro", "fcall_ro", "sort_ro", "xreadgroup", "ping", "dbsize"}) {
    EXPECT_FALSE(CopyCanAnswer(*FindCommand(name))) << name;
  }
  EXPECT_FALSE(CopyCanAnswer(*FindByFullName("object|encoding")));
  EXPECT_FALSE(CopyCanAnswer(*FindByFullName("memory|usage")));
  EXPECT_FALSE(CopyCanAnswer(*FindByFullName("xinfo|stream")));
}

}  // namespace
}  // namespace ringway::protocol
