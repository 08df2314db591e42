// Copies of hot keys, on the servers under their reserved names: no client may see or name one.
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

}  // namespace
}  // namespace ringway::test
