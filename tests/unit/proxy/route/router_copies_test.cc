// Copies of hot keys on the servers, which no answer may name or count.
#include "proxy/hotkey/bucket_name.h"
#include "proxy/hotkey/copy_registry.h"
#include "proxy/route/keyspace_collectors.h"
#include "tests/unit/proxy/route/router_fixture.h"

namespace ringway::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RouterCopiesTest : public RouterTest {
 protected:
  RouterCopiesTest() { world.router.set_copies(&copies_); }

  static std::string CopyOf(const std::string& key, uint64_t copy = 1) {
    return key + BucketSuffix("fedcba9876543210", copy);
  }
  static std::string ArrayOf(const std::vector<std::string>& keys) {
    std::string reply = "*" + std::to_string(keys.size()) + "\r\n";
    for (const std::string& key : keys) reply += Bulk(key);
    return reply;
  }
  static std::string Page(const std::vector<std::string>& keys) {
    return "*2\r\n$1\r\n0\r\n" + ArrayOf(keys);
  }

  CopyRegistry copies_;
};

TEST_F(RouterCopiesTest, ScanGivesThem) {
  Ask({"SCAN", "0"});
  const std::string page = Reply(0, Page({CopyOf("a"), "a", "b", CopyOf("b", 2), "odd\x1f", CopyOf("")}));
  EXPECT_THAT(page, ::testing::EndsWith("\r\n" + ArrayOf({"a", "b", "odd\x1f"})));
  Ask({"SCAN", "0"});
  EXPECT_THAT(Reply(0, Page({CopyOf("a")})), ::testing::EndsWith("\r\n*0\r\n"));
}

TEST_F(RouterCopiesTest, KeysGivesThemOrForgetsTheOrderOfTheShards) {
  Ask({"KEYS", "*"});
  Reply(2, ArrayOf({"e", CopyOf("a", 3)}));
  Reply(0, ArrayOf({"a", CopyOf("a", 2), "b", "c"}));
  EXPECT_EQ(Reply(1, ArrayOf({CopyOf("x")})), ArrayOf({"a", "b", "c", "e"}));
}

TEST_F(RouterCopiesTest, RandomkeyGivesOneOrAsksForEver) {
  Ask({"RANDOMKEY"});
  Reply(0, ":4\r\n");
  Reply(1, ":0\r\n");
  EXPECT_EQ(Reply(2, ":0\r\n"), "");
  EXPECT_EQ(Reply(0, Bulk(CopyOf("a"))), "");
  EXPECT_EQ(Reply(0, Bulk(CopyOf("b"))), "");
  EXPECT_EQ(Reply(0, Bulk("a")), Bulk("a"));

  Ask({"RANDOMKEY"});
  Reply(0, ":4\r\n");
  Reply(1, ":0\r\n");
  Reply(2, ":0\r\n");
  std::string answer;
  int asked = 0;
  while (in_flight() > 0 && ++asked < 1000) answer = Reply(0, Bulk(CopyOf("a")));
  EXPECT_EQ(asked, RandomKeyCollector::kMaxTries);
  EXPECT_EQ(answer, "$-1\r\n");
}

TEST_F(RouterCopiesTest, AServerWithNothingElseHidesTheKeysOfOthersFromRandomkey) {
  for (int i = 0; i < 20; ++i) {
    Ask({"RANDOMKEY"});
    Reply(0, ":100\r\n");
    Reply(1, ":1\r\n");
    std::string answer = Reply(2, ":0\r\n");
    while (answer.empty() && in_flight() > 0) {
      answer = world.session(0).in_flight() > 0 ? Reply(0, Bulk(CopyOf("a"))) : Reply(1, Bulk("only"));
    }
    EXPECT_EQ(answer, Bulk("only"));
  }
}

TEST_F(RouterCopiesTest, DbsizeAsksForCopiesWhenThereAreNone) {
  Ask({"DBSIZE"});
  for (size_t shard = 0; shard < 3; ++shard) {
    EXPECT_THAT(world.TakeRequests(shard), ElementsAre(ElementsAre("DBSIZE")));
  }
  Reply(0, ":1\r\n");
  Reply(1, ":2\r\n");
  EXPECT_EQ(Reply(2, ":3\r\n"), ":6\r\n");
}

TEST_F(RouterCopiesTest, DbsizeCountsThoseThatAreThere) {
  const uint32_t shard_id = world.router.topology().shards[1].id;
  copies_.Add(0, shard_id, CopyOf("a"), world.now_usec + 1'000'000, world.now_usec);
  copies_.Add(5, shard_id, CopyOf("of another database"), world.now_usec + 1'000'000, world.now_usec);
  Ask({"DBSIZE"});
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("EXISTS", CopyOf("a")), ElementsAre("DBSIZE")))
      << "EXISTS removes what has expired before it is counted";
  for (const size_t shard : {0, 2})
    EXPECT_THAT(world.TakeRequests(shard), ElementsAre(ElementsAre("DBSIZE")));
  Reply(0, ":1\r\n");
  Reply(2, ":3\r\n");
  Reply(1, ":1\r\n");
  EXPECT_EQ(Reply(1, ":20\r\n"), ":23\r\n");
}

TEST_F(RouterCopiesTest, DbsizeLosesTheErrorOfEitherQuestion) {
  copies_.Add(0, world.router.topology().shards[1].id, CopyOf("a"), world.now_usec + 1'000'000,
              world.now_usec);
  for (const bool exists : {true, false}) {
    Ask({"DBSIZE"});
    Reply(0, ":1\r\n");
    Reply(2, ":3\r\n");
    Reply(1, exists ? "-LOADING wait\r\n" : ":1\r\n");
    EXPECT_EQ(Reply(1, exists ? ":20\r\n" : "-LOADING wait\r\n"), "-LOADING wait\r\n");
  }
}

TEST_F(RouterCopiesTest, DbsizeIsNegativeWhenACopyComesBetweenTheQuestions) {
  copies_.Add(0, world.router.topology().shards[1].id, CopyOf("a"), world.now_usec + 1'000'000,
              world.now_usec);
  Ask({"DBSIZE"});
  Reply(0, ":0\r\n");
  Reply(2, ":0\r\n");
  Reply(1, ":1\r\n");
  EXPECT_EQ(Reply(1, ":0\r\n"), ":0\r\n");
}

TEST_F(RouterCopiesTest, DbsizeAsksForThoseLongExpired) {
  copies_.Add(0, world.router.topology().shards[1].id, CopyOf("a"), world.now_usec, world.now_usec);
  world.now_usec += CopyRegistry::kKeepUsec;
  Ask({"DBSIZE"});
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(ElementsAre("DBSIZE")));
  EXPECT_TRUE(copies_.empty());
}

}  // namespace
}  // namespace ringway::proxy
