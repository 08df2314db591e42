// Commands for all shards, walks over the keyspace, scripts, changes of the topology.
#include <algorithm>
#include <map>
#include <set>

#include "proxy/route/scan_cursor.h"
#include "proxy/route/script_cache.h"
#include "tests/unit/proxy/route/router_fixture.h"

namespace ringway::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class RouterSpecialTest : public RouterTest {
 protected:
  // Asks a command of all shards and lets them answer last to first.
  std::string Merged(const std::vector<std::string>& command, const std::vector<std::string>& replies) {
    EXPECT_EQ(Ask(command), "");
    for (size_t i = 0; i < 3; ++i) EXPECT_THAT(world.TakeRequests(i), ElementsAre(command));
    Reply(2, replies[2]);
    Reply(0, replies[0]);
    return Reply(1, replies[1]);
  }
  std::string ScanReply(uint64_t cursor, std::initializer_list<std::string_view> keys) {
    std::string reply = "*2\r\n" + Bulk(std::to_string(cursor)) + "*" + std::to_string(keys.size()) + "\r\n";
    for (const std::string_view key : keys) reply += Bulk(key);
    return reply;
  }
};

TEST_F(RouterSpecialTest, EveryResponsePolicyMergesAsItSays) {
  EXPECT_EQ(Merged({"DBSIZE"}, {":1\r\n", ":20\r\n", ":300\r\n"}), ":321\r\n");
  EXPECT_EQ(Merged({"LASTSAVE"}, {":30\r\n", ":10\r\n", ":20\r\n"}), ":10\r\n");
  EXPECT_EQ(Merged({"FLUSHALL"}, {"+OK\r\n", "+OK\r\n", "+OK\r\n"}), "+OK\r\n");
  EXPECT_EQ(Merged({"KEYS", "*"}, {"*1\r\n" + Bulk("a"), "*0\r\n", "*2\r\n" + Bulk("b") + Bulk("c")}),
            "*3\r\n" + Bulk("a") + Bulk("b") + Bulk("c"));
  EXPECT_EQ(Merged({"SCRIPT", "EXISTS", "x", "y"},
                   {"*2\r\n:1\r\n:1\r\n", "*2\r\n:1\r\n:0\r\n", "*2\r\n:1\r\n:1\r\n"}),
            "*2\r\n:1\r\n:0\r\n");
}

TEST_F(RouterSpecialTest, OneSuccessIsEnoughForKill) {
  const std::string nothing = "-NOTBUSY No scripts in execution right now.\r\n";
  EXPECT_EQ(Merged({"SCRIPT", "KILL"}, {nothing, "+OK\r\n", nothing}), "+OK\r\n");
  EXPECT_EQ(Merged({"SCRIPT", "KILL"}, {"+OK\r\n", nothing, nothing}), "+OK\r\n");
  EXPECT_EQ(Merged({"SCRIPT", "KILL"}, {nothing, nothing, nothing}), nothing);
}

TEST_F(RouterSpecialTest, AnErrorOfOneShardIsTheReplyWhateverCameFirst) {
  EXPECT_EQ(Merged({"DBSIZE"}, {":1\r\n", "-LOADING wait\r\n", ":3\r\n"}), "-LOADING wait\r\n");
  EXPECT_EQ(Merged({"FLUSHALL"}, {"-READONLY no\r\n", "+OK\r\n", "+OK\r\n"}), "-READONLY no\r\n");
}

TEST_F(RouterSpecialTest, WaitBlocksConnectionsThatOthersShare) {
  EXPECT_EQ(Ask({"WAIT", "2", "500"}), "");
  for (size_t i = 0; i < 3; ++i) EXPECT_THAT(world.TakeRequests(i), IsEmpty());
  EXPECT_EQ(world.pool.own().lent(), 3u);
  client.reset();
  world.pool.own().EndReleased();
  EXPECT_EQ(world.pool.own().lent(), 0u);
  EXPECT_EQ(world.requests.in_use(), 0u);
}

TEST_F(RouterSpecialTest, WaitTakesWhatIsNoNumber) {
  EXPECT_EQ(Ask({"WAIT", "x", "1"}), "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(Ask({"WAIT", "1", "-1"}), "-ERR timeout is negative\r\n");
  EXPECT_EQ(world.pool.own().lent(), 0u);
}

// --- SCAN ---

TEST_F(RouterSpecialTest, ScanWalksEveryShardOnceAndEndsInZero) {
  std::vector<std::string> asked;
  std::string cursor = "0";
  const auto step = [&](size_t shard, uint64_t next_inner) {
    EXPECT_EQ(Ask({"SCAN", cursor, "COUNT", "5"}), "");
    const auto requests = world.TakeRequests(shard);
    ASSERT_EQ(requests.size(), 1u) << "shard " << shard;
    asked.push_back(std::to_string(shard) + "@" + requests[0][1]);
    EXPECT_THAT(std::vector<std::string>(requests[0].begin() + 2, requests[0].end()),
                ElementsAre("COUNT", "5"));
    const std::string reply = Reply(shard, ScanReply(next_inner, {"k"}));
    const size_t begin = reply.find("\r\n", 4) + 2;
    cursor = reply.substr(begin, reply.find("\r\n", begin) - begin);
    EXPECT_EQ(reply, ScanReply(std::stoull(cursor), {"k"}));
  };
  const uint64_t large = ScanCursor::kMaxInner;
  step(0, 0);
  step(1, 7);
  step(1, large);
  step(1, 0);
  step(2, 0);
  EXPECT_EQ(cursor, "0");
  EXPECT_THAT(asked, ElementsAre("0@0", "1@0", "1@7", "1@" + std::to_string(large), "2@0"));
}

TEST_F(RouterSpecialTest, AScanCursorThatIsNonsenseIsRefusedOrBeginsAgain) {
  for (const std::string_view cursor : {"x", "-1x", "1.5", "18446744073709551616", " 1", "0x10"}) {
    EXPECT_EQ(Ask({"SCAN", std::string(cursor)}), "-ERR invalid cursor\r\n") << cursor;
  }
  // Any number may be a cursor, of a proxy that has ended: the walk is made from its beginning.
  EXPECT_EQ(Ask({"SCAN", "18446744073709551615"}), "");
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("SCAN", "0")));
  EXPECT_THAT(Reply(0, ScanReply(0, {})), Not(ScanReply(0, {})));
  EXPECT_EQ(in_flight(), 0u);
}

TEST_F(RouterSpecialTest, AShardsCursorThatDoesNotFitIsCutOff) {
  Ask({"SCAN", "0"});
  EXPECT_THAT(Reply(0, ScanReply(ScanCursor::kMaxInner + 1, {"k"})),
              StartsWith("-ERR the shard's SCAN cursor"));
}

TEST_F(RouterSpecialTest, ScanPassesByAShardThatHasLeft) {
  world.Adopt({0, 2});
  EXPECT_EQ(Ask({"SCAN", std::to_string(
                             ScanCursor{1, ScanCursor::Part::kFirst, ScanCursor::MarkOf(0), 99}.Encode())}),
            "");
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("SCAN", "0"))) << "the second of those left";
}

TEST_F(RouterSpecialTest, AnErrorOfAScanIsPassedOn) {
  Ask({"SCAN", "0", "COUNT", "x"});
  EXPECT_EQ(Reply(0, "-ERR value is not an integer or out of range\r\n"),
            "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(world.stats.Errors().at("ERR"), 1u);
}

// --- RANDOMKEY ---

TEST_F(RouterSpecialTest, RandomKeyPicksShardsByTheirNumberOfKeys) {
  std::map<size_t, int> picked;
  for (int i = 0; i < 400; ++i) {
    Ask({"RANDOMKEY"});
    Reply(0, ":100\r\n");
    Reply(1, ":0\r\n");
    Reply(2, ":300\r\n");
    for (size_t shard = 0; shard < 3; ++shard) {
      if (world.session(shard).in_flight() == 0) continue;
      ++picked[shard];
      EXPECT_EQ(Reply(shard, Bulk("key")), Bulk("key"));
    }
  }
  EXPECT_EQ(picked[1], 0);
  EXPECT_NEAR(picked[0], 100, 50);
  EXPECT_EQ(picked[0] + picked[2], 400);
}

TEST_F(RouterSpecialTest, RandomKeyGoesOnWhenAShardTurnsOutEmpty) {
  Ask({"RANDOMKEY"});
  Reply(0, ":5\r\n");
  Reply(1, ":0\r\n");
  Reply(2, ":5\r\n");
  const size_t first = world.session(0).in_flight() > 0 ? 0 : 2;
  EXPECT_EQ(Reply(first, "$-1\r\n"), "");
  EXPECT_EQ(Reply(2 - first, Bulk("k")), Bulk("k"));
  Ask({"RANDOMKEY"});
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(Reply(i, ":0\r\n"), "");
  EXPECT_EQ(Reply(2, ":0\r\n"), "$-1\r\n");
}

// --- scripts ---

TEST_F(RouterSpecialTest, EvalShaIsLoadedAgainWhereAShardHasForgottenIt) {
  const std::string body = "return redis.call('get', KEYS[1])";
  const std::string sha = ScriptSha(body);
  const std::string key = world.KeyOn(2);
  Ask({"EVAL", body, "1", world.KeyOn(0)});
  Reply(0, "+first\r\n");
  std::string upper = sha;
  std::transform(upper.begin(), upper.end(), upper.begin(), ::toupper);
  Ask({"EVALSHA", upper, "1", key});
  EXPECT_THAT(world.TakeRequests(2), ElementsAre(ElementsAre("EVALSHA", upper, "1", key)));
  EXPECT_EQ(Reply(2, "-NOSCRIPT No matching script. Please use EVAL.\r\n"), "");
  EXPECT_THAT(world.TakeRequests(2),
              ElementsAre(ElementsAre("SCRIPT", "LOAD", body), ElementsAre("EVALSHA", upper, "1", key)));
  EXPECT_EQ(Reply(2, Bulk(sha)), "");
  EXPECT_EQ(Reply(2, "+value\r\n"), "+value\r\n");
}

TEST_F(RouterSpecialTest, EvalShaOfAScriptThatNobodyHasShownIsAnError) {
  const std::string key = world.KeyOn(1);
  Ask({"EVALSHA", std::string(40, 'f'), "1", key});
  EXPECT_THAT(Reply(1, "-NOSCRIPT No matching script. Please use EVAL.\r\n"), StartsWith("-NOSCRIPT "));
  EXPECT_EQ(world.stats.Errors().at("NOSCRIPT"), 1u);
  EXPECT_EQ(in_flight(), 0u);
}

TEST_F(RouterSpecialTest, ScriptFlushForgetsAndLoadRemembers) {
  const std::string body = "return 1";
  const std::vector<std::string> load = {"SCRIPT", "LOAD", body};
  const std::string sha = Bulk(ScriptSha(body));
  EXPECT_EQ(Merged(load, {sha, sha, sha}), sha);
  EXPECT_TRUE(world.scripts.Find(ScriptSha(body)).has_value());
  EXPECT_EQ(Merged({"SCRIPT", "FLUSH"}, {"+OK\r\n", "+OK\r\n", "+OK\r\n"}), "+OK\r\n");
  EXPECT_FALSE(world.scripts.Find(ScriptSha(body)).has_value());
}

// --- a topology that changes while requests are under way ---

TEST_F(RouterSpecialTest, FurtherPartsGoToTheSameShardAfterTheTopologyHasChanged) {
  const std::string body = "return 2";
  world.scripts.Remember(body);
  const std::string key = world.KeyOn(2);
  Ask({"EVALSHA", ScriptSha(body), "1", key});
  world.TakeRequests(2);
  ShardSession& session = world.session(2);
  world.Adopt({1, 2});  // the shard's index is another now
  ASSERT_TRUE(FakeShard::Feed(session, "-NOSCRIPT No matching script.\r\n"));
  EXPECT_EQ(session.in_flight(), 2u);
  EXPECT_EQ(world.session(0).in_flight(), 0u);
  ASSERT_TRUE(FakeShard::Feed(session, "+x\r\n+value\r\n"));
  world.EndTurn();
  EXPECT_EQ(client->Take(), "+value\r\n");
}

TEST_F(RouterSpecialTest, RandomKeyOfAShardThatHasLeftIsAnError) {
  Ask({"RANDOMKEY"});
  Reply(0, ":0\r\n");
  Reply(2, ":5\r\n");
  ShardSession& waiting = world.session(1);
  world.Adopt({0, 1});
  ASSERT_TRUE(FakeShard::Feed(waiting, ":0\r\n"));
  world.EndTurn();
  EXPECT_EQ(client->Take(), "-SHARDDOWN the shard has left the ring\r\n");
}

TEST_F(RouterSpecialTest, ShuttingDownWithFurtherPartsToSendIsSafe) {
  Ask({"RANDOMKEY"});
  Reply(0, ":5\r\n");
  Reply(1, ":5\r\n");
  world.pool.Close();
  world.EndTurn();
  EXPECT_THAT(client->Take(), StartsWith("-SHARDDOWN "));
}

}  // namespace
}  // namespace ringway::proxy
