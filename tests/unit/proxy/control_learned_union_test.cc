#include <string>

#include <gtest/gtest.h>

#include "proxy/control/learned_union.h"
#include "proxy/control/shard_board.h"

namespace ringway::proxy {
namespace {

// As servers before 7.0 describe a command with one key.
std::string Entry(const std::string& name, int arity = 2) {
  return "*6\r\n$" + std::to_string(name.size()) + "\r\n" + name + "\r\n:" + std::to_string(arity) +
         "\r\n*1\r\n+readonly\r\n:1\r\n:1\r\n:1\r\n";
}

std::string Reply(const std::vector<std::string>& entries) {
  std::string reply = "*" + std::to_string(entries.size()) + "\r\n";
  for (const std::string& entry : entries) reply += entry;
  return reply;
}

TEST(LearnedUnion, ServersWithoutAnythingNewArePosted) {
  LearnedUnion all;
  EXPECT_FALSE(all.Take(1, Reply({Entry("get"), Entry("ttl")})));
  EXPECT_FALSE(all.Take(2, "*0\r\n"));
  EXPECT_FALSE(all.Take(2, "*-1\r\n"));
  EXPECT_FALSE(all.Take(2, "nonsense"));
  EXPECT_EQ(all.learned(), nullptr);
}

TEST(LearnedUnion, ShardThatKnowsMoreIsForgottenOrRepeated) {
  LearnedUnion all;
  EXPECT_TRUE(all.Take(1, Reply({Entry("get"), Entry("getx"), Entry("gety")})));
  EXPECT_EQ(all.learned()->size(), 2U);
  EXPECT_FALSE(all.Take(1, Reply({Entry("gety"), Entry("getx")}))) << "the order of the answer means nothing";
  EXPECT_FALSE(all.Take(2, Reply({Entry("getx")}))) << "another shard with nothing new";
  EXPECT_TRUE(all.Take(2, Reply({Entry("getz")})));
  EXPECT_NE(all.learned()->Find("GETX"), nullptr);
  EXPECT_NE(all.learned()->Find("getz"), nullptr);
  EXPECT_TRUE(all.Take(1, Reply({Entry("get")}))) << "it came back without its module";
  EXPECT_EQ(all.learned()->Find("getx"), nullptr);
  EXPECT_TRUE(all.Forget(2));
  EXPECT_EQ(all.learned()->size(), 0U);
  EXPECT_FALSE(all.Forget(2));
}

TEST(LearnedUnion, TwoDescriptionsOfOneCommandDependOnWhoAnswersFirst) {
  for (const bool low_first : {true, false}) {
    LearnedUnion all;
    all.Take(low_first ? 1 : 2, Reply({Entry("getx", low_first ? 2 : 3)}));
    all.Take(low_first ? 2 : 1, Reply({Entry("getx", low_first ? 3 : 2)}));
    ASSERT_EQ(all.learned()->size(), 1U);
    EXPECT_EQ(all.learned()->Find("getx")->arity, 2);
  }
}

TEST(ShardBoard, UnseenOrForgottenShardIsShownAsDown) {
  ShardBoard board;
  EXPECT_FALSE(board.Get(3).seen);
  ShardSight sight;
  sight.seen = sight.up = true;
  sight.redis_version = "7.0.15";
  board.Set(3, sight);
  EXPECT_TRUE(board.Get(3).up);
  EXPECT_EQ(board.Get(3).redis_version, "7.0.15");
  EXPECT_FALSE(board.Get(4).seen);
  board.Forget(3);
  EXPECT_FALSE(board.Get(3).seen);
}

}  // namespace
}  // namespace ringway::proxy
