// hiredis as C programs use it: blocking, pipelined, and asynchronous.
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <poll.h>

#include "tests/support/cluster.h"
#include "tests/support/hiredis_client.h"

namespace ringway::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Hiredis : public ::testing::Test {
 protected:
  std::string Ask(const std::vector<std::string>& command) { return ToText(client_.Command(command)); }

  Cluster cluster_;
  HiredisClient client_{cluster_.address()};
};

TEST_F(Hiredis, BlockingCallsFail) {
  ASSERT_TRUE(client_.connected()) << client_.error();
  EXPECT_EQ(Ask({"PING"}), "+PONG");
  EXPECT_EQ(Ask({"SET", "a", "1"}), "+OK");
  EXPECT_EQ(Ask({"INCR", "a"}), "2");
  EXPECT_EQ(Ask({"MSET", "x", "1", "y", "2", "z", "3"}), "+OK");
  EXPECT_EQ(Ask({"MGET", "x", "none", "z"}), "[\"1\", nil, \"3\"]");
  EXPECT_EQ(Ask({"HSET", "h", "f", "v"}), "1");
  EXPECT_EQ(Ask({"HGETALL", "h"}), "[\"f\", \"v\"]");
  EXPECT_EQ(Ask({"RPUSH", "l", "a", "b"}), "2");
  EXPECT_EQ(Ask({"LRANGE", "l", "0", "-1"}), "[\"a\", \"b\"]");
  EXPECT_EQ(Ask({"SADD", "s", "m"}), "1");
  EXPECT_EQ(Ask({"SMEMBERS", "s"}), "[\"m\"]");
  EXPECT_EQ(Ask({"ZADD", "zs", "1.5", "m"}), "1");
  EXPECT_EQ(Ask({"ZRANGE", "zs", "0", "-1", "WITHSCORES"}), "[\"m\", \"1.5\"]");
  EXPECT_EQ(Ask({"XADD", "st", "1-1", "f", "v"}), "\"1-1\"");
  EXPECT_EQ(Ask({"XRANGE", "st", "-", "+"}), "[[\"1-1\", [\"f\", \"v\"]]]");
  EXPECT_EQ(Ask({"EVAL", "return {KEYS[1], {1, {'x'}}}", "1", "k"}), "[\"k\", [1, [\"x\"]]]");
  EXPECT_EQ(Ask({"SET", "e", "x", "EX", "100"}), "+OK");
  EXPECT_EQ(Ask({"PERSIST", "e"}), "1");
  EXPECT_THAT(Ask({"LPUSH", "a", "x"}), StartsWith("-WRONGTYPE"));
  EXPECT_THAT(Ask({"NOSUCHCOMMAND"}), StartsWith("-ERR unknown command"));
  EXPECT_THAT(client_.Command({"INFO"}).text, HasSubstr("redis_version:"));
  EXPECT_EQ(client_.error(), "");
}

TEST_F(Hiredis, BinaryKeysAndValuesAreCut) {
  const std::string binary("\0\r\n\xff", 4);
  EXPECT_EQ(Ask({"SET", binary, binary}), "+OK");
  EXPECT_EQ(client_.Command({"GET", binary}).text, binary);
}

TEST_F(Hiredis, PipelineLosesItsOrder) {
  constexpr int kCount = 2000;
  for (int i = 0; i < kCount; ++i) {
    client_.Append({"SET", "p:" + std::to_string(i), std::to_string(i)});
    client_.Append({"GET", "p:" + std::to_string(i)});
  }
  for (int i = 0; i < kCount; ++i) {
    ASSERT_EQ(ToText(client_.ReadReply()), "+OK");
    ASSERT_EQ(client_.ReadReply().text, std::to_string(i));
  }
}

TEST_F(Hiredis, ScanDoesNotEnd) {
  for (int i = 0; i < 200; ++i) ASSERT_EQ(Ask({"SET", "k:" + std::to_string(i), "x"}), "+OK");
  size_t found = 0;
  std::string cursor = "0";
  do {
    const Reply reply = client_.Command({"SCAN", cursor});
    ASSERT_EQ(reply.elements.size(), 2U);
    cursor = reply.elements[0].text;
    found += reply.elements[1].elements.size();
  } while (cursor != "0");
  EXPECT_EQ(found, 200U);
}

// The smallest event loop that hiredis can be driven by.
struct Loop {
  static void AddRead(void* data) { static_cast<Loop*>(data)->reading = true; }
  static void DelRead(void* data) { static_cast<Loop*>(data)->reading = false; }
  static void AddWrite(void* data) { static_cast<Loop*>(data)->writing = true; }
  static void DelWrite(void* data) { static_cast<Loop*>(data)->writing = false; }

  void Attach(redisAsyncContext* context) {
    context->ev.data = this;
    context->ev.addRead = AddRead;
    context->ev.delRead = DelRead;
    context->ev.addWrite = AddWrite;
    context->ev.delWrite = DelWrite;
  }

  bool reading = false;
  bool writing = false;
};

TEST_F(Hiredis, AsynchronousRepliesReachTheWrongCallback) {
  const std::string address = cluster_.address();
  redisAsyncContext* context =
      redisAsyncConnect("127.0.0.1", std::stoi(address.substr(address.rfind(':') + 1)));
  ASSERT_EQ(context->err, 0) << context->errstr;
  Loop loop;
  loop.Attach(context);
  struct Slot {
    std::string got;
    int* answered;
  };
  int answered = 0;
  constexpr int kCount = 500;
  std::vector<Slot> slots(kCount, Slot{"", &answered});
  const auto on_reply = [](redisAsyncContext*, void* reply, void* data) {
    auto* slot = static_cast<Slot*>(data);
    const auto* answer = static_cast<redisReply*>(reply);
    if (answer != nullptr && answer->str != nullptr) slot->got = answer->str;
    ++*slot->answered;
  };
  for (int i = 0; i < kCount; ++i) {
    redisAsyncCommand(context, nullptr, nullptr, "SET async:%d value:%d", i, i);
    redisAsyncCommand(context, on_reply, &slots[static_cast<size_t>(i)], "GET async:%d", i);
  }
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (answered < kCount && std::chrono::steady_clock::now() < deadline) {
    const auto events = static_cast<short>((loop.reading ? POLLIN : 0) | (loop.writing ? POLLOUT : 0));
    pollfd entry = {context->c.fd, events, 0};
    poll(&entry, 1, 100);
    if ((entry.revents & POLLOUT) != 0) redisAsyncHandleWrite(context);
    if ((entry.revents & POLLIN) != 0) redisAsyncHandleRead(context);
  }
  EXPECT_EQ(answered, kCount);
  for (int i = 0; i < kCount; ++i) ASSERT_EQ(slots[static_cast<size_t>(i)].got, "value:" + std::to_string(i));
  redisAsyncFree(context);
}

}  // namespace
}  // namespace ringway::test
