// Copies of hot keys, on the servers under their reserved names: no client may see or name one.
#include <algorithm>
#include <iostream>
#include <set>

#include "tests/integration/every_command_table.h"
#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

constexpr const char* kSuffix = "\x1fringway:01234567:0123456789abcdef\x1f";

class HiddenCopies : public ProxyTest {
 protected:
  void SetUp() override {
    RINGWAY_NEEDS_PROXY();
    ProxyTest::SetUp();
  }

  // Writes copies to the servers as some other proxy would.
  void FillWithCopies(size_t on_each_server) {
    for (size_t server = 0; server < cluster_->size(); ++server) {
      RespClient client(shard(server).address());
      for (size_t i = 0; i < on_each_server; ++i)
        client.Do({"SET", "hot" + std::to_string(i) + kSuffix, "v"});
    }
  }
};

TEST_F(HiddenCopies, AreSeenByScanOrKeys) {
  FillWithCopies(200);
  const auto keys = Fill(300);
  EXPECT_THAT(Do({"KEYS", "*"}).Texts(), UnorderedElementsAreArray(keys));
  EXPECT_EQ(Ask({"KEYS", "hot*"}), "[]");
  for (const Command& extra : std::vector<Command>{{}, {"COUNT", "7"}, {"MATCH", "*", "TYPE", "string"}}) {
    std::vector<std::string> found;
    std::string cursor = "0";
    int steps = 0;
    do {
      Command scan = {"SCAN", cursor};
      scan.insert(scan.end(), extra.begin(), extra.end());
      const Reply page = Do(scan);
      ASSERT_EQ(page.elements.size(), 2U) << page;
      cursor = page.elements[0].text;
      for (const std::string& key : page.elements[1].Texts()) found.push_back(key);
      ASSERT_LT(++steps, 2000) << "SCAN does not end";
    } while (cursor != "0");
    EXPECT_THAT(found, UnorderedElementsAreArray(keys));
  }
}

TEST_F(HiddenCopies, AreSeenByRandomkeyOrHideTheOnlyKey) {
  FillWithCopies(3);
  EXPECT_EQ(Ask({"RANDOMKEY"}), "nil");
  Ask({"SET", "only", "1"});
  for (int i = 0; i < 300; ++i) ASSERT_EQ(Ask({"RANDOMKEY"}), "\"only\"");
}

// Each command of the table with a copy in the place of a key: none may reach a server.
TEST_F(HiddenCopies, SomeCommandReachesOne) {
  RedisServer plain;
  std::set<std::string> refused;
  for (const Invocation& invocation : EveryInvocation()) {
    Command question = {"COMMAND", "GETKEYS"};
    question.insert(question.end(), invocation.arguments.begin(), invocation.arguments.end());
    const Reply named = plain.Do(question);
    if (named.IsError()) continue;
    const auto names = named.Texts();
    for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
      Command command = invocation.arguments;
      for (size_t i = 1; i < command.size(); ++i) {
        if (command[i] == name) command[i] += kSuffix;
      }
      RespClient client = Connect();
      const Reply answer = client.Do(command);
      ASSERT_TRUE(answer.IsError()) << command[0] << " reached a copy: " << answer;
      if (answer.text.starts_with("ERR keys of this form are reserved")) {
        refused.insert(command[0]);
      } else {
        // Commands that are not served at all, or with these arguments.
        EXPECT_THAT(answer.text, HasSubstr("not ")) << command[0] << " " << command[1];
      }
    }
  }
  std::cout << refused.size() << " commands refuse copies" << std::endl;
  EXPECT_GT(refused.size(), 120U);
  for (size_t server = 0; server < cluster_->size(); ++server) {
    EXPECT_EQ(shard(server).Do({"DBSIZE"}).integer, 0);
  }
}

TEST_F(HiddenCopies, RingLocateNamesThePlaceOfOne) {
  EXPECT_THAT(Ask({"RING", "LOCATE", "key", std::string("hot") + kSuffix}), HasSubstr("reserved"));
  EXPECT_THAT(Ask({"RING", "LOCATE", "key"}), HasSubstr("shard"));
}

// With copies that the proxy has made itself.
class SpreadKey : public CustomProxyTest {
 protected:
  void SetUp() override {
    RINGWAY_NEEDS_PROXY();
    ClusterOptions options;
    options.config = "hot_keys: {detect: false, patterns: [\"hot:*\"], buckets: 3}\n";
    Start(options);
    Ask({"SET", "hot:1", "v"});
    ASSERT_TRUE(Eventually([&] {
      for (int i = 0; i < 50; ++i) Ask({"GET", "hot:1"});
      return Figure("hotkey_bucket_reads") > 0;
    })) << Do({"INFO", "hotkeys"}).text;
  }

  int64_t Figure(const std::string& field) {
    return std::stoll(InfoField(Do({"INFO", "hotkeys"}).text, field));
  }
  int64_t KeysOnServers() {
    int64_t keys = 0;
    for (size_t server = 0; server < cluster_->size(); ++server) {
      keys += shard(server).Do({"DBSIZE"}).integer;
    }
    return keys;
  }
};

TEST_F(SpreadKey, IsCountedOnceForEachBucket) {
  int64_t most = 0;
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(Ask({"GET", "hot:1"}), "\"v\"");
    ASSERT_EQ(Ask({"DBSIZE"}), "1") << "at the attempt " << i;
    ASSERT_EQ(Ask({"KEYS", "*"}), "[\"hot:1\"]");
    ASSERT_EQ(Ask({"RANDOMKEY"}), "\"hot:1\"");
    most = std::max(most, KeysOnServers());
  }
  EXPECT_GE(most, 3) << "there were no copies to be hidden";
  ASSERT_EQ(Ask({"DEL", "hot:1"}), "1");
  EXPECT_EQ(Ask({"DBSIZE"}), "0");
}

TEST_F(SpreadKey, IsNotToldOf) {
  const Reply keys = Do({"RING", "HOTKEYS"});
  ASSERT_THAT(keys.elements, SizeIs(1)) << keys;
  EXPECT_EQ(keys.elements[0].Find("key")->text, "hot:1");
  EXPECT_EQ(keys.elements[0].Find("db")->integer, 0);
  EXPECT_EQ(keys.elements[0].Find("buckets")->integer, 3);
  const std::string line = InfoField(Do({"INFO", "hotkeys"}).text, "hotkey0");
  EXPECT_THAT(line,
              AllOf(StartsWith("key=hot:1,rate="), HasSubstr(",buckets=3,"), ::testing::EndsWith(",db=0")));
  EXPECT_EQ(Figure("hotkeys_spread"), 1);

  const Reply place = Do({"RING", "LOCATE", "hot:1", "cold"});
  ASSERT_THAT(place.elements, SizeIs(2)) << place;
  const auto names = place.elements[0].Find("buckets")->Texts();
  EXPECT_THAT(names, UnorderedElementsAre("s1", "s2", "s3"));
  EXPECT_EQ(names.front(), place.elements[0].Find("shard")->text);
  EXPECT_THAT(place.elements[1].Find("buckets")->Texts(), IsEmpty());
  Ask({"SELECT", "1"});
  EXPECT_THAT(Do({"RING", "LOCATE", "hot:1"}).elements.at(0).Find("buckets")->Texts(), IsEmpty())
      << "in another database it is another key";
}

}  // namespace
}  // namespace ringway::test
