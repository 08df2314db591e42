#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <hiredis/hiredis.h>

#include "proxy/control/reply_bytes.h"

namespace ringway::proxy {
namespace {

// hiredis's own reader makes the tree.
std::string ThereAndBack(const std::string& bytes) {
  const std::unique_ptr<redisReader, decltype(&redisReaderFree)> reader(redisReaderCreate(),
                                                                        &redisReaderFree);
  redisReaderFeed(reader.get(), bytes.data(), bytes.size());
  void* tree = nullptr;
  EXPECT_EQ(redisReaderGetReply(reader.get(), &tree), REDIS_OK) << bytes;
  if (tree == nullptr) return "incomplete";
  std::string out;
  AppendReply(*static_cast<redisReply*>(tree), out);
  freeReplyObject(tree);
  return out;
}

TEST(ReplyBytes, ReplyIsNotWhatItWasReadFrom) {
  for (const std::string bytes : {"+OK\r\n", "-ERR no\r\n", ":-12\r\n", "$0\r\n\r\n", "$-1\r\n", "*0\r\n",
                                  "*3\r\n$3\r\na\r\n\r\n*2\r\n+x\r\n:9223372036854775807\r\n$-1\r\n"}) {
    EXPECT_EQ(ThereAndBack(bytes), bytes);
  }
  const std::string with_zero("$3\r\na\0b\r\n", 9);
  EXPECT_EQ(ThereAndBack(with_zero), with_zero);
}

TEST(ReplyBytes, DeepestAnswerToCommandIsCutOff) {
  // Key specifications of subcommands lie eight arrays deep.
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += "*1\r\n";
  bytes += "$1\r\nx\r\n";
  EXPECT_EQ(ThereAndBack(bytes), bytes);
}

}  // namespace
}  // namespace ringway::proxy
