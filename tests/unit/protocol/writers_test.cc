// command_writer and reply_writer: the bytes they append.
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/command_writer.h"
#include "protocol/reply_writer.h"

namespace ringway::protocol {
namespace {

template <typename Write>
std::string In(int resp_version, Write write) {
  std::string out = "before";
  ReplyWriter writer(out, resp_version);
  write(writer);
  EXPECT_TRUE(out.starts_with("before"));
  return out.substr(6);
}

TEST(CommandWriter, CommandIsAMultibulkFrame) {
  std::string out;
  AppendCommand(out, {"SET", "k", ""});
  EXPECT_EQ(out, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n");
  out.clear();
  AppendHeader(out, 2);
  AppendArg(out, "A");
  AppendArg(out, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(out, "*2\r\n$1\r\nA\r\n$20\r\n-9223372036854775808\r\n");
}

TEST(CommandWriter, SizeIsKnownBeforehand) {
  for (size_t length : {0, 1, 9, 10, 99, 100, 999, 1000, 12345}) {
    const std::string value(length, 'v');
    const std::vector<std::string_view> args(length % 13 + 1, value);
    std::string out;
    AppendCommand(out, args);
    EXPECT_EQ(CommandBytes(args), out.size());
  }
}

TEST(ReplyWriter, TypesBothVersionsShare) {
  for (int version : {2, 3}) {
    EXPECT_EQ(In(version, [](ReplyWriter& w) { w.Ok(); }), "+OK\r\n");
    EXPECT_EQ(In(version, [](ReplyWriter& w) { w.Simple("PONG"); }), "+PONG\r\n");
    EXPECT_EQ(In(version, [](ReplyWriter& w) { w.Error("ERR x"); }), "-ERR x\r\n");
    EXPECT_EQ(In(version, [](ReplyWriter& w) { w.Integer(-7); }), ":-7\r\n");
    EXPECT_EQ(In(version, [](ReplyWriter& w) { w.Integer(std::numeric_limits<int64_t>::min()); }),
              ":-9223372036854775808\r\n");
    EXPECT_EQ(In(version, [](ReplyWriter& w) { w.Bulk("a\r\nb"); }), "$4\r\na\r\nb\r\n");
    EXPECT_EQ(In(version, [](ReplyWriter& w) { w.Array(12); }), "*12\r\n");
    EXPECT_EQ(In(version, [](ReplyWriter& w) { w.Raw("raw"); }), "raw");
  }
}

TEST(ReplyWriter, WhatRespTwoLacksIsWrittenAsRedisDoes) {
  const auto both = [](auto write, std::string_view two, std::string_view three) {
    EXPECT_EQ(In(2, write), two);
    EXPECT_EQ(In(3, write), three);
  };
  both([](ReplyWriter& w) { w.Null(); }, "$-1\r\n", "_\r\n");
  both([](ReplyWriter& w) { w.NullArray(); }, "*-1\r\n", "_\r\n");
  both([](ReplyWriter& w) { w.Double(0.5); }, "$3\r\n0.5\r\n", ",0.5\r\n");
  both([](ReplyWriter& w) { w.Boolean(true); }, ":1\r\n", "#t\r\n");
  both([](ReplyWriter& w) { w.Boolean(false); }, ":0\r\n", "#f\r\n");
  both([](ReplyWriter& w) { w.Verbatim("info"); }, "$4\r\ninfo\r\n", "=8\r\ntxt:info\r\n");
  both([](ReplyWriter& w) { w.Verbatim("", "md"); }, "$0\r\n\r\n", "=4\r\nmd :\r\n");
  both([](ReplyWriter& w) { w.Verbatim("a", "mkdn"); }, "$1\r\na\r\n", "=5\r\nmkd:a\r\n");
  both([](ReplyWriter& w) { w.BigNumber("123"); }, "$3\r\n123\r\n", "(123\r\n");
  both([](ReplyWriter& w) { w.Map(3); }, "*6\r\n", "%3\r\n");
  both([](ReplyWriter& w) { w.Set(3); }, "*3\r\n", "~3\r\n");
  both([](ReplyWriter& w) { w.Push(3); }, "*3\r\n", ">3\r\n");
}

TEST(ReplyWriter, LineEndsInATextCannotForgeAReply) {
  EXPECT_EQ(In(2, [](ReplyWriter& w) { w.Error("ERR a\r\n+OK\r\n"); }), "-ERR a  +OK  \r\n");
  EXPECT_EQ(In(2, [](ReplyWriter& w) { w.Simple("\n"); }), "+ \r\n");
}

}  // namespace
}  // namespace ringway::protocol
