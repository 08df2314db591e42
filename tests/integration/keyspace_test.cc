// Commands over all shards: every key once, none twice, none missed.
#include <set>

#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

class Keyspace : public ProxyTest {
 protected:
  // Walks SCAN to its end on the given connection; `extra` follows the cursor.
  static std::vector<std::string> ScanAll(RespClient* client, const Command& extra, int most_steps = 20000) {
    std::vector<std::string> keys;
    std::string cursor = "0";
    for (int step = 0; step < most_steps; ++step) {
      Command scan = {"SCAN", cursor};
      scan.insert(scan.end(), extra.begin(), extra.end());
      const Reply reply = client->Do(scan);
      if (reply.elements.size() != 2) {
        ADD_FAILURE() << "SCAN " << cursor << " answered " << reply;
        return keys;
      }
      cursor = reply.elements[0].text;
      EXPECT_THAT(cursor, ::testing::MatchesRegex("[0-9]+"));
      for (const std::string& key : reply.elements[1].Texts()) keys.push_back(key);
      if (cursor == "0") return keys;
    }
    ADD_FAILURE() << "SCAN does not end";
    return keys;
  }
};

TEST_F(Keyspace, DbsizeCountsOneShard) {
  EXPECT_EQ(Ask({"DBSIZE"}), "0");
  Fill(500);
  EXPECT_EQ(Ask({"DBSIZE"}), "500");
  Ask({"DEL", "key:1", "key:2", "key:3"});
  EXPECT_EQ(Ask({"DBSIZE"}), "497");
}

TEST_F(Keyspace, KeysMissesOrRepeatsSome) {
  const auto keys = Fill(300);
  EXPECT_THAT(Do({"KEYS", "*"}).Texts(), UnorderedElementsAreArray(keys));
  EXPECT_THAT(Do({"KEYS", "key:10?"}).Texts(), SizeIs(10));
  EXPECT_THAT(Do({"KEYS", "key:1"}).Texts(), ElementsAre("key:1"));
  EXPECT_EQ(Ask({"KEYS", "nothing*"}), "[]");
}

TEST_F(Keyspace, RandomkeyKnowsOneShard) {
  EXPECT_EQ(Ask({"RANDOMKEY"}), "nil");
  const auto keys = Fill(60);
  std::set<std::string> seen;
  for (int i = 0; i < 1500; ++i) seen.insert(Do({"RANDOMKEY"}).text);
  EXPECT_THAT(seen, ::testing::IsSubsetOf(keys));
  // A missing third would be one shard; that chance leaves out more than a few is beyond belief.
  EXPECT_GT(seen.size(), 50U);
  Ask({"FLUSHALL"});
  Ask({"SET", "only", "1"});
  for (int i = 0; i < 20; ++i) ASSERT_EQ(Ask({"RANDOMKEY"}), "\"only\"");
}

TEST_F(Keyspace, ScanMissesOrRepeatsKeys) {
  const auto keys = Fill(1000);
  for (const Command& extra : std::vector<Command>{{}, {"COUNT", "1"}, {"COUNT", "7"}, {"COUNT", "100000"}}) {
    const auto found = ScanAll(&client_, extra);
    const std::set<std::string> unique(found.begin(), found.end());
    EXPECT_EQ(unique.size(), keys.size());
    EXPECT_THAT(found, SizeIs(keys.size())) << "no key should come twice while nothing is resized";
  }
}

TEST_F(Keyspace, ScanForgetsItsOptions) {
  Fill(300);
  for (int i = 0; i < 50; ++i) Ask({"SADD", "set:" + std::to_string(i), "x"});
  EXPECT_THAT(ScanAll(&client_, {"MATCH", "set:*"}), SizeIs(50));
  EXPECT_THAT(ScanAll(&client_, {"TYPE", "set"}), SizeIs(50));
  EXPECT_THAT(ScanAll(&client_, {"TYPE", "string", "COUNT", "3"}), SizeIs(300));
  EXPECT_THAT(ScanAll(&client_, {"COUNT", "50", "MATCH", "*:1?", "TYPE", "set"}), SizeIs(10));
  EXPECT_THAT(ScanAll(&client_, {"MATCH", "nothing"}), IsEmpty());
}

TEST_F(Keyspace, ScanOfAnEmptyKeyspaceDoesNotEnd) {
  EXPECT_THAT(ScanAll(&client_, {}), IsEmpty());
  Ask({"SET", "only", "1"});
  EXPECT_THAT(ScanAll(&client_, {}), ElementsAre("only"));
}

TEST_F(Keyspace, ScanCursorBelongsToOneConnection) {
  const auto keys = Fill(400);
  std::set<std::string> found;
  std::string cursor = "0";
  do {
    RespClient other = Connect();
    const Reply reply = other.Do({"SCAN", cursor, "COUNT", "20"});
    ASSERT_EQ(reply.elements.size(), 2U);
    cursor = reply.elements[0].text;
    for (const std::string& key : reply.elements[1].Texts()) found.insert(key);
  } while (cursor != "0");
  EXPECT_EQ(found.size(), keys.size());
}

TEST_F(Keyspace, ScanWhileKeysChangeLosesThoseThatStay) {
  const auto keys = Fill(300);
  std::set<std::string> found;
  std::string cursor = "0";
  int added = 0;
  do {
    const Reply reply = Do({"SCAN", cursor});
    ASSERT_EQ(reply.elements.size(), 2U);
    cursor = reply.elements[0].text;
    for (const std::string& key : reply.elements[1].Texts()) found.insert(key);
    for (int i = 0; i < 20; ++i, ++added) Ask({"SET", "new:" + std::to_string(added), "x"});
  } while (cursor != "0" && added < 20000);
  for (const std::string& key : keys) ASSERT_TRUE(found.contains(key)) << key;
}

TEST_F(Keyspace, NonsenseCursorCrashes) {
  Fill(10);
  for (const std::string& cursor :
       std::vector<std::string>{"abc", " 1", "1x", "99999999999999999999999999", "1.5", "0x10"}) {
    EXPECT_EQ(Ask({"SCAN", cursor}), "-ERR invalid cursor") << cursor;
  }
  // Any number may be a cursor: an answer of the right shape that comes to an end.
  for (const std::string& cursor :
       std::vector<std::string>{"1", "12345", "18446744073709551615", "9223372036854775807"}) {
    const Reply reply = Do({"SCAN", cursor});
    EXPECT_TRUE(reply.elements.size() == 2 || reply.IsErrorStartingWith("ERR invalid cursor")) << reply;
  }
  EXPECT_EQ(Ask({"SCAN", "0", "COUNT", "0"}), "-ERR syntax error");
  EXPECT_EQ(Ask({"SCAN", "0", "COUNT", "x"}), "-ERR value is not an integer or out of range");
  EXPECT_EQ(Ask({"SCAN", "0", "COUNT"}), "-ERR syntax error");
  EXPECT_EQ(Ask({"SCAN", "0", "NONSENSE", "1"}), "-ERR syntax error");
  EXPECT_EQ(Ask({"PING"}), "+PONG");
}

TEST_F(Keyspace, FlushallLeavesKeysOnSomeShard) {
  for (const Command& flush :
       std::vector<Command>{{"FLUSHALL"}, {"FLUSHALL", "SYNC"}, {"FLUSHALL", "ASYNC"}, {"flushall"}}) {
    Fill(60);
    Ask({"SELECT", "3"});
    Fill(60);
    EXPECT_EQ(Ask(flush), "+OK");
    EXPECT_EQ(Ask({"DBSIZE"}), "0");
    Ask({"SELECT", "0"});
    EXPECT_EQ(Ask({"DBSIZE"}), "0");
  }
  EXPECT_EQ(Ask({"FLUSHALL", "NONSENSE"}), "-ERR syntax error");
}

TEST_F(Keyspace, FlushdbEmptiesOtherDatabases) {
  Fill(60);
  Ask({"SELECT", "5"});
  Fill(40);
  EXPECT_EQ(Ask({"FLUSHDB"}), "+OK");
  EXPECT_EQ(Ask({"DBSIZE"}), "0");
  Ask({"SELECT", "0"});
  EXPECT_EQ(Ask({"DBSIZE"}), "60");
  EXPECT_EQ(Ask({"FLUSHDB", "ASYNC"}), "+OK");
  EXPECT_EQ(Ask({"DBSIZE"}), "0");
}

TEST_F(Keyspace, DatabasesLeakIntoEachOther) {
  RespClient other = Connect();
  ASSERT_EQ(Ask({"SELECT", "1"}), "+OK");
  EXPECT_EQ(ToText(other.Do({"SELECT", "15"})), "+OK");
  for (int i = 0; i < 50; ++i) {
    const std::string key = "key:" + std::to_string(i);
    client_.Do({"SET", key, "one"});
    other.Do({"SET", key, "fifteen"});
    ASSERT_EQ(Ask({"GET", key}), "\"one\"");
    ASSERT_EQ(ToText(other.Do({"GET", key})), "\"fifteen\"");
  }
  // A pipeline that changes the database as it goes.
  std::vector<std::string> texts;
  for (const Reply& reply : client_.Pipeline({{"GET", "key:1"},
                                              {"SELECT", "15"},
                                              {"GET", "key:1"},
                                              {"SELECT", "99"},
                                              {"GET", "key:1"},
                                              {"SELECT", "0"},
                                              {"GET", "key:1"},
                                              {"DBSIZE"}})) {
    texts.push_back(ToText(reply));
  }
  EXPECT_THAT(texts, ElementsAre("\"one\"", "+OK", "\"fifteen\"", "-ERR DB index is out of range",
                                 "\"fifteen\"", "+OK", "nil", "0"));
}

TEST_F(Keyspace, MoveAndSwapdbAndCopyBetweenDatabasesFail) {
  Ask({"SET", "k", "v"});
  EXPECT_EQ(Ask({"MOVE", "k", "4"}), "1");
  EXPECT_EQ(Ask({"EXISTS", "k"}), "0");
  Ask({"SELECT", "4"});
  EXPECT_EQ(Ask({"GET", "k"}), "\"v\"");
  EXPECT_EQ(Ask({"COPY", "k", "k", "DB", "6"}), "1");
  Ask({"SELECT", "6"});
  EXPECT_EQ(Ask({"GET", "k"}), "\"v\"");
}

}  // namespace
}  // namespace ringway::test
