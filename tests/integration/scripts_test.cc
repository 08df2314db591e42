// Scripts work for every key, on every shard, also on one that lost them.
#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

using Scripts = ProxyTest;

constexpr const char* kScript = "return {KEYS[1], ARGV[1]}";
// SHA1 of a script that was never loaded anywhere.
constexpr const char* kUnknownSha = "ffffffffffffffffffffffffffffffffffffffff";

TEST_F(Scripts, EvalshaWorksForKeysOfOneShardOnly) {
  const std::string sha = Do({"SCRIPT", "LOAD", kScript}).text;
  ASSERT_EQ(sha.size(), 40U);
  for (int i = 0; i < 60; ++i) {
    const std::string key = "key:" + std::to_string(i);
    ASSERT_EQ(Ask({"EVALSHA", sha, "1", key, "x"}), "[\"" + key + "\", \"x\"]");
  }
  EXPECT_EQ(Ask({"SCRIPT", "EXISTS", sha, kUnknownSha, sha}), "[1, 0, 1]");
}

TEST_F(Scripts, EvalDoesNotMakeTheScriptKnown) {
  EXPECT_EQ(Ask({"EVAL", "return ARGV[1]", "1", "key:1", "x"}), "\"x\"");
  // SHA1 of that script.
  const std::string sha = Do({"SCRIPT", "LOAD", "return ARGV[1]"}).text;
  for (int i = 0; i < 30; ++i)
    ASSERT_EQ(Ask({"EVALSHA", sha, "1", "key:" + std::to_string(i), "y"}), "\"y\"");
}

TEST_F(Scripts, UnknownShaAnswersOtherThanNoscript) {
  EXPECT_THAT(Ask({"EVALSHA", kUnknownSha, "1", "key"}), StartsWith("-NOSCRIPT No matching script"));
  EXPECT_THAT(Ask({"EVALSHA", kUnknownSha, "0"}), StartsWith("-NOSCRIPT No matching script"));
  EXPECT_THAT(Ask({"EVALSHA", "short", "0"}), StartsWith("-NOSCRIPT No matching script"));
}

TEST_F(Scripts, ScriptFlushLeavesScripts) {
  const std::string sha = Do({"SCRIPT", "LOAD", kScript}).text;
  EXPECT_EQ(Ask({"SCRIPT", "FLUSH"}), "+OK");
  EXPECT_EQ(Ask({"SCRIPT", "EXISTS", sha}), "[0]");
  for (int i = 0; i < 20; ++i) {
    ASSERT_THAT(Ask({"EVALSHA", sha, "1", "key:" + std::to_string(i), "x"}), StartsWith("-NOSCRIPT"));
  }
  EXPECT_EQ(Ask({"SCRIPT", "FLUSH", "ASYNC"}), "+OK");
  EXPECT_EQ(Ask({"SCRIPT", "FLUSH", "SYNC"}), "+OK");
}

TEST_F(Scripts, BrokenScriptIsLoaded) {
  EXPECT_THAT(Ask({"SCRIPT", "LOAD", "this is not Lua"}), StartsWith("-ERR Error compiling script"));
  EXPECT_THAT(Ask({"EVAL", "this is not Lua", "0"}), StartsWith("-ERR Error compiling script"));
  EXPECT_THAT(Ask({"EVAL", "return redis.call('INCR', KEYS[1], 'x')", "1", "k"}), StartsWith("-ERR"));
}

TEST_F(Scripts, ScriptLostByOneShardReachesTheClientAsNoscript) {
  RINGWAY_NEEDS_PROXY();
  const std::string sha = Do({"SCRIPT", "LOAD", kScript}).text;
  const std::string key = cluster_->KeyOn(1);
  ASSERT_EQ(ToText(shard(1).Do({"SCRIPT", "FLUSH"})), "+OK");
  EXPECT_EQ(Ask({"EVALSHA", sha, "1", key, "x"}), "[\"" + key + "\", \"x\"]");
  // In the middle of a pipeline the order stays.
  shard(1).Do({"SCRIPT", "FLUSH"});
  std::vector<std::string> texts;
  for (const Reply& reply : client_.Pipeline({{"SET", key, "1"},
                                              {"EVALSHA", sha, "1", key, "y"},
                                              {"GET", key},
                                              {"EVALSHA", sha, "1", key, "z"},
                                              {"PING"}})) {
    texts.push_back(ToText(reply));
  }
  EXPECT_THAT(texts,
              ElementsAre("+OK", "[\"" + key + "\", \"y\"]", "\"1\"", "[\"" + key + "\", \"z\"]", "+PONG"));
}

TEST_F(Scripts, EvalOnAShardIsForgottenAfterItsRestart) {
  RINGWAY_NEEDS_PROXY();
  const std::string sha = Do({"SCRIPT", "LOAD", kScript}).text;
  const std::string key = cluster_->KeyOn(2);
  shard(2).Kill();
  shard(2).Restart();
  const std::string answer = "[\"" + key + "\", \"x\"]";
  EXPECT_TRUE(Eventually([&] { return Ask({"EVALSHA", sha, "1", key, "x"}) == answer; }));
}

TEST_F(Scripts, ReadOnlyFormsAreUnknown) {
  Ask({"SET", "k", "v"});
  EXPECT_EQ(Ask({"EVAL_RO", "return redis.call('GET', KEYS[1])", "1", "k"}), "\"v\"");
  const std::string sha = Do({"SCRIPT", "LOAD", "return redis.call('GET', KEYS[1])"}).text;
  EXPECT_EQ(Ask({"EVALSHA_RO", sha, "1", "k"}), "\"v\"");
  EXPECT_THAT(Ask({"EVAL_RO", "return redis.call('SET', KEYS[1], 'x')", "1", "k"}), StartsWith("-ERR"));
}

TEST_F(Scripts, ScriptsWithoutKeysFail) {
  EXPECT_EQ(Ask({"EVAL", "return 5", "0"}), "5");
  EXPECT_EQ(Ask({"EVAL", "return ARGV[2]", "0", "a", "b"}), "\"b\"");
}

TEST_F(Scripts, ScriptHelpAndNonsenseHang) {
  EXPECT_TRUE(Do({"SCRIPT", "HELP"}).IsArray());
  EXPECT_THAT(Ask({"SCRIPT", "NONSENSE"}), StartsWith("-ERR unknown subcommand"));
  EXPECT_THAT(Ask({"SCRIPT", "EXISTS"}),
              StartsWith("-ERR wrong number of arguments for 'script|exists' command"));
  EXPECT_THAT(Ask({"SCRIPT"}), StartsWith("-ERR wrong number of arguments for 'script' command"));
  EXPECT_EQ(Ask({"PING"}), "+PONG");
}

TEST_F(Scripts, FunctionsLandOnOneShardOnly) {
  RINGWAY_NEEDS_PROXY();
  const std::string library =
      "#!lua name=mylib\nredis.register_function('echo_key', function(keys, args) return keys[1] end)";
  ASSERT_EQ(Do({"FUNCTION", "LOAD", library}).text, "mylib");
  for (int i = 0; i < 30; ++i) {
    const std::string key = "key:" + std::to_string(i);
    ASSERT_EQ(Ask({"FCALL", "echo_key", "1", key}), "\"" + key + "\"");
  }
}

}  // namespace
}  // namespace ringway::test
