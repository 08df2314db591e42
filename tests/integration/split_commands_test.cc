// Commands on keys of several shards must look like one command on one Redis.
#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

using SplitCommands = ProxyTest;

TEST_F(SplitCommands, MgetMixesUpTheOrder) {
  const auto keys = Fill(300);
  auto random = TestRandom();
  for (int round = 0; round < 30; ++round) {
    Command mget = {"MGET"};
    std::vector<std::string> expected;
    for (int i = 0; i < 40; ++i) {
      // Repeated keys and absent ones among them.
      const size_t index = random() % (keys.size() + 40);
      mget.push_back(index < keys.size() ? keys[index] : "absent:" + std::to_string(index));
      expected.push_back(index < keys.size() ? keys[index] : "(nil)");
    }
    ASSERT_EQ(Do(mget).Texts(), expected);
  }
}

TEST_F(SplitCommands, RepeatedKeysAreCountedWrongly) {
  Fill(30);
  EXPECT_EQ(Ask({"MGET", "key:1", "key:1", "key:2", "key:1"}),
            "[\"key:1\", \"key:1\", \"key:2\", \"key:1\"]");
  EXPECT_EQ(Ask({"EXISTS", "key:1", "key:1", "key:2", "none", "key:1"}), "4");
  EXPECT_EQ(Ask({"TOUCH", "key:1", "key:1", "key:2", "none"}), "3");
  EXPECT_EQ(Ask({"DEL", "key:1", "key:1", "key:2", "none"}), "2");
  EXPECT_EQ(Ask({"UNLINK", "key:3", "key:4", "key:3", "key:5", "none"}), "3");
  EXPECT_EQ(Ask({"MSET", "key:1", "first", "key:2", "x", "key:1", "last"}), "+OK");
  EXPECT_EQ(Ask({"GET", "key:1"}), "\"last\"");
}

TEST_F(SplitCommands, OneKeyTakesAnotherPath) {
  EXPECT_EQ(Ask({"MSET", "a", "1"}), "+OK");
  EXPECT_EQ(Ask({"MGET", "a"}), "[\"1\"]");
  EXPECT_EQ(Ask({"MGET", "none"}), "[nil]");
  EXPECT_EQ(Ask({"EXISTS", "a"}), "1");
  EXPECT_EQ(Ask({"TOUCH", "a"}), "1");
  EXPECT_EQ(Ask({"UNLINK", "a"}), "1");
  EXPECT_EQ(Ask({"DEL", "a"}), "0");
}

TEST_F(SplitCommands, WrongTypesSpoilTheOthers) {
  Fill(20);
  for (int i = 0; i < 20; ++i) Ask({"LPUSH", "list:" + std::to_string(i), "x"});
  Command mget = {"MGET"};
  std::vector<std::string> expected;
  for (int i = 0; i < 20; ++i) {
    mget.insert(mget.end(), {"key:" + std::to_string(i), "list:" + std::to_string(i)});
    expected.insert(expected.end(), {"key:" + std::to_string(i), "(nil)"});
  }
  EXPECT_EQ(Do(mget).Texts(), expected);
  // MSET replaces a value of any type.
  EXPECT_EQ(Ask({"MSET", "list:0", "now a string", "list:1", "too", "list:2", "too"}), "+OK");
  EXPECT_EQ(Ask({"MGET", "list:0", "list:1"}), "[\"now a string\", \"too\"]");
}

TEST_F(SplitCommands, SplitCommandsOvertakeOthersInAPipeline) {
  for (int round = 0; round < 20; ++round) {
    const auto replies = client_.Pipeline({{"MSET", "a", "1", "b", "2", "c", "3", "d", "4"},
                                           {"INCR", "a"},
                                           {"MGET", "a", "b", "c", "d"},
                                           {"DEL", "b", "c"},
                                           {"GET", "b"},
                                           {"EXISTS", "a", "b", "c", "d"},
                                           {"PING"},
                                           {"APPEND", "d", "x"},
                                           {"MGET", "d", "a"}});
    std::vector<std::string> texts;
    for (const Reply& reply : replies) texts.push_back(ToText(reply));
    ASSERT_THAT(texts, ElementsAre("+OK", "2", "[\"2\", \"2\", \"3\", \"4\"]", "2", "nil", "2", "+PONG", "2",
                                   "[\"4x\", \"2\"]"));
  }
}

TEST_F(SplitCommands, SubcommandsLandOnWrongShards) {
  RINGWAY_NEEDS_PROXY();
  Command mset = {"MSET"};
  for (int i = 0; i < 60; ++i) mset.insert(mset.end(), {"key:" + std::to_string(i), "x"});
  EXPECT_EQ(Ask(mset), "+OK");
  std::vector<size_t> keys_on(cluster_->size());
  for (int i = 0; i < 60; ++i) {
    const std::string key = "key:" + std::to_string(i);
    ASSERT_THAT(cluster_->HoldersOf(key), ElementsAre(cluster_->OwnerOf(key)));
    ++keys_on[cluster_->OwnerOf(key)];
  }
  for (const size_t keys : keys_on) EXPECT_GT(keys, 5U);
}

TEST_F(SplitCommands, LargeValuesInPartsAreTorn) {
  Command mset = {"MSET"};
  Command mget = {"MGET"};
  std::vector<std::string> values;
  for (int i = 0; i < 12; ++i) {
    values.emplace_back(500000 + 977 * i, static_cast<char>('a' + i));
    mset.insert(mset.end(), {"large:" + std::to_string(i), values.back()});
    mget.push_back("large:" + std::to_string(i));
  }
  EXPECT_EQ(Ask(mset), "+OK");
  for (int round = 0; round < 3; ++round) ASSERT_TRUE(Do(mget).Texts() == values);
}

TEST_F(SplitCommands, MgetOfResp3NullsDiffers) {
  client_.Do({"HELLO", "3"});
  Fill(10);
  EXPECT_EQ(Ask({"MGET", "key:1", "none", "key:2", "neither"}), "[\"key:1\", _, \"key:2\", _]");
}

class MultiKeyCommands : public ProxyTest {
 protected:
  static constexpr const char* kCrossSlot = "-CROSSSLOT Keys in request don't hash to the same slot";
};

TEST_F(MultiKeyCommands, KeysOnOneTagAreRefused) {
  const std::vector<std::pair<Command, std::string>> cases = {
      {{"MSETNX", "{t}a", "1", "{t}b", "2"}, "1"},
      {{"MSETNX", "{t}b", "1", "{t}c", "2"}, "0"},
      {{"RENAME", "{t}a", "{t}renamed"}, "+OK"},
      {{"RENAMENX", "{t}b", "{t}renamed"}, "0"},
      {{"SADD", "{t}s1", "a", "b", "c"}, "3"},
      {{"SADD", "{t}s2", "b", "c", "d"}, "3"},
      {{"SINTERSTORE", "{t}s3", "{t}s1", "{t}s2"}, "2"},
      {{"SUNIONSTORE", "{t}s4", "{t}s1", "{t}s2"}, "4"},
      {{"SDIFF", "{t}s1", "{t}s2"}, "[\"a\"]"},
      {{"SINTERCARD", "2", "{t}s1", "{t}s2"}, "2"},
      {{"SMOVE", "{t}s1", "{t}s2", "a"}, "1"},
      {{"ZADD", "{t}z1", "1", "a", "2", "b"}, "2"},
      {{"ZUNIONSTORE", "{t}z2", "1", "{t}z1", "WEIGHTS", "2"}, "2"},
      {{"ZRANGESTORE", "{t}z3", "{t}z1", "0", "-1"}, "2"},
      {{"RPUSH", "{t}l1", "x", "y"}, "2"},
      {{"LMOVE", "{t}l1", "{t}l2", "LEFT", "RIGHT"}, "\"x\""},
      {{"RPOPLPUSH", "{t}l1", "{t}l2"}, "\"y\""},
      {{"LMPOP", "2", "{t}none", "{t}l2", "LEFT"}, "[\"{t}l2\", [\"y\"]]"},
      {{"PFADD", "{t}p1", "a", "b"}, "1"},
      {{"PFMERGE", "{t}p2", "{t}p1"}, "+OK"},
      {{"PFCOUNT", "{t}p1", "{t}p2"}, "2"},
      {{"COPY", "{t}s1", "{t}copy"}, "1"},
      {{"BITOP", "NOT", "{t}bits", "{t}renamed"}, "1"},
      {{"GEOADD", "{t}g", "1", "2", "place"}, "1"},
      {{"GEOSEARCHSTORE", "{t}g2", "{t}g", "FROMMEMBER", "place", "BYRADIUS", "1", "km"}, "1"},
      {{"SORT", "{t}z1", "ALPHA", "STORE", "{t}sorted"}, "2"},
      {{"EVAL", "return #KEYS", "2", "{t}a", "{t}b"}, "2"}};
  for (const auto& [command, answer] : cases) EXPECT_EQ(Ask(command), answer) << command[0];
}

TEST_F(MultiKeyCommands, KeysOfSeveralTagsRunOnOneOfThem) {
  RINGWAY_NEEDS_PROXY();
  const std::vector<Command> commands = {{"MSETNX", "a", "1", "b", "2"},
                                         {"RENAME", "a", "b"},
                                         {"SINTER", "a", "b"},
                                         {"SINTERSTORE", "{a}", "{a}", "b"},
                                         {"SMOVE", "a", "b", "m"},
                                         {"ZUNIONSTORE", "a", "1", "b"},
                                         {"ZUNION", "2", "a", "b"},
                                         {"LMOVE", "a", "b", "LEFT", "LEFT"},
                                         {"PFCOUNT", "a", "b"},
                                         {"PFMERGE", "a", "b"},
                                         {"BITOP", "AND", "a", "b", "c"},
                                         {"COPY", "a", "b"},
                                         {"EVAL", "return 1", "2", "a", "b"},
                                         {"GEORADIUS", "a", "0", "0", "1", "km", "STORE", "b"},
                                         {"SORT", "a", "STORE", "b"},
                                         {"LCS", "a", "b"}};
  Ask({"SET", "a", "kept"});
  for (const Command& command : commands) {
    const auto replies = client_.Pipeline({command, {"GET", "a"}});
    EXPECT_EQ(ToText(replies[0]), kCrossSlot) << command[0];
    EXPECT_EQ(ToText(replies[1]), "\"kept\"") << command[0];
  }
}

// Or an application would break on the day a shard is added.
TEST_F(MultiKeyCommands, KeysThatHappenToShareAShardAreServed) {
  RINGWAY_NEEDS_PROXY();
  const auto keys = cluster_->KeysOn(0, 2);
  EXPECT_EQ(Ask({"MSETNX", keys[0], "1", keys[1], "2"}), kCrossSlot);
  EXPECT_EQ(Ask({"EXISTS", keys[0], keys[1]}), "0");
}

TEST_F(MultiKeyCommands, SameKeyTwiceIsCrossSlot) {
  Ask({"SADD", "s", "a"});
  EXPECT_EQ(Ask({"SINTERSTORE", "s", "s", "s"}), "1");
  EXPECT_EQ(Ask({"SUNION", "s", "s"}), "[\"a\"]");
  EXPECT_EQ(Ask({"RENAME", "s", "s"}), "+OK");
  EXPECT_EQ(Ask({"MSETNX", "x", "1", "x", "2"}), "1");
}

TEST_F(MultiKeyCommands, WrongArgumentsAreTakenForKeys) {
  EXPECT_THAT(Ask({"ZUNIONSTORE", "a", "0", "b"}), StartsWith("-ERR at least 1 input key"));
  EXPECT_THAT(Ask({"ZUNIONSTORE", "a", "x", "b"}), StartsWith("-ERR value is not an integer"));
  EXPECT_THAT(Ask({"ZUNIONSTORE", "a", "5", "a"}), StartsWith("-ERR syntax error"));
  EXPECT_THAT(Ask({"EVAL", "return 1", "x"}), StartsWith("-ERR value is not an integer"));
  EXPECT_THAT(Ask({"EVAL", "return 1", "-1"}), StartsWith("-ERR Number of keys can't be negative"));
  EXPECT_THAT(Ask({"EVAL", "return 1", "3", "a"}),
              StartsWith("-ERR Number of keys can't be greater than number of args"));
  EXPECT_THAT(Ask({"LMPOP", "0", "a", "LEFT"}), StartsWith("-ERR numkeys should be greater than 0"));
  EXPECT_THAT(Ask({"SINTERCARD", "9", "a"}),
              StartsWith("-ERR Number of keys can't be greater than number of args"));
  EXPECT_EQ(Ask({"PING"}), "+PONG");
}

class SameShardProxyTest : public CustomProxyTest {};

TEST_F(SameShardProxyTest, OptionToRelaxCrossSlotIsIgnored) {
  RINGWAY_NEEDS_PROXY();
  ClusterOptions options;
  options.config = "ring: {multi_key: same_shard}\n";
  Start(options);
  const auto here = cluster_->KeysOn(0, 2);
  const std::string there = cluster_->KeyOn(1);
  EXPECT_EQ(Ask({"MSETNX", here[0], "1", here[1], "2"}), "1");
  EXPECT_THAT(Ask({"MSETNX", here[0], "1", there, "2"}), StartsWith("-CROSSSLOT"));
}

}  // namespace
}  // namespace ringway::test
