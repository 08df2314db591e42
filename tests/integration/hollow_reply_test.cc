// What a real server answers when a key is not there, against what the proxy takes for such an answer: a copy
// that has vanished must never pass for an empty value.
#include "protocol/hollow_reply.h"

#include <algorithm>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/command_table.h"
#include "tests/integration/hot_reads.h"
#include "tests/support/redis_server.h"

namespace ringway::test {
namespace {

std::string LowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool HasTwoKeysAtLeast(std::string_view command) { return command == "lcs"; }

TEST(HollowReplies, AMissingKeyIsTakenForAnEmptyValue) {
  const RedisServer server;
  for (const int resp : {2, 3}) {
    RespClient client(server.address());
    if (resp == 3) client.Do({"HELLO", "3"});
    for (const CopyRead& read : CopyReads()) {
      const std::string reply = client.DoRaw(WithKey(read.command, "missing"));
      ASSERT_FALSE(reply.empty());
      EXPECT_TRUE(protocol::IsHollowReply(reply)) << read.command[0] << " answered " << reply;
    }
  }
}

// If all were taken for hollow, nothing would be answered by copies without a second question.
TEST(HollowReplies, AValueIsTakenForAMissingKey) {
  const RedisServer server;
  RespClient client(server.address());
  for (const CopyType& type : CopyTypes()) {
    for (const Command& write : type.writes) {
      const Reply reply = client.Do(WithKey(write, type.name));
      ASSERT_FALSE(reply.IsError()) << write[0] << ": " << ToText(reply);
    }
  }
  std::set<std::string> silent;
  for (const CopyRead& read : CopyReads()) silent.insert(read.command[0]);
  for (const CopyRead& read : CopyReads()) {
    const std::string reply = client.DoRaw(WithKey(read.command, read.type));
    if (!protocol::IsHollowReply(reply)) silent.erase(read.command[0]);
  }
  EXPECT_THAT(silent, ::testing::IsEmpty());
}

TEST(HollowReplies, ACommandThatCopiesAnswerIsNotTried) {
  std::set<std::string> tried;
  for (const CopyRead& read : CopyReads()) tried.insert(LowerCase(read.command[0]));
  std::set<std::string> answered;
  for (const protocol::CommandRow& row : protocol::AllCommands()) {
    if (protocol::CopyCanAnswer(row) && !HasTwoKeysAtLeast(row.name)) answered.emplace(row.name);
  }
  EXPECT_EQ(tried, answered);
}

}  // namespace
}  // namespace ringway::test
