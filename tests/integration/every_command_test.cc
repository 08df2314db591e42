// Every command once through the proxy and once to a plain redis-server: the answers must be equal.
#include <set>

#include "tests/integration/every_command_table.h"
#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

// SHA1 of "return 1".
constexpr const char* kSha = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";

// Commands of the real server that need no row, and why.
bool NeedsNoRow(const std::string& command) {
  static const std::set<std::string> kElsewhere = {
      // The answer to HELLO names the connection; connection_test.cc has its forms.
      "hello",
      // One connection each, with a password; connection_test.cc.
      "client|kill", "command|help"};
  // Cluster administration: all of it is refused with one text, of which the table has samples.
  return kElsewhere.contains(command) || command.starts_with("cluster|");
}

class EveryCommand : public ProxyTest, public ::testing::WithParamInterface<int> {
 protected:
  // A connection that speaks the version under test.
  RespClient Open(const std::string& address) const {
    RespClient client(address);
    if (GetParam() == 3) client.Do({"HELLO", "3"});
    return client;
  }

  void Run(const Invocation& invocation) {
    Command command = invocation.arguments;
    for (std::string& word : command) {
      if (word == "@sha") word = kSha;
      if (word == "@dump") word = dump_;
    }
    const bool fresh = invocation.compare == Compare::kErrorOrEqual;
    RespClient fresh_proxy;
    RespClient fresh_plain;
    if (fresh) fresh_proxy = Open(cluster_->address());
    if (fresh) fresh_plain = Open(plain_.address());
    if (invocation.only_to_proxy && DirectMode()) return;
    const std::string through = (fresh ? fresh_proxy : proxy_).DoRaw(command);
    ASSERT_NE(through, "") << "no answer";
    if (fresh && ParseReply(through).IsError()) {
      EXPECT_EQ(ToText(fresh_proxy.Do({"ECHO", "still here"})), "\"still here\"");
    }
    if (invocation.only_to_proxy) return;
    const std::string direct = (fresh ? fresh_plain : plain_client_).DoRaw(command);
    if (command[0] == "DUMP") dump_ = ParseReply(direct).text;
    Check(invocation.compare, through, direct);
  }

  static void Check(Compare compare, const std::string& through, const std::string& direct) {
    const Reply proxy = ParseReply(through);
    const Reply plain = ParseReply(direct);
    switch (compare) {
      case Compare::kErrorOrEqual:
        if (proxy.IsError()) return;
        [[fallthrough]];
      case Compare::kEqual:
        EXPECT_EQ(through, direct);
        return;
      case Compare::kAnyOrder:
        EXPECT_EQ(proxy.type, plain.type);
        EXPECT_THAT(proxy.Texts(), UnorderedElementsAreArray(plain.Texts()));
        return;
      case Compare::kShape:
        EXPECT_EQ(proxy.type, plain.type) << proxy << " and " << plain;
        EXPECT_EQ(proxy.null, plain.null) << proxy << " and " << plain;
    }
  }

  RedisServer plain_;
  RespClient proxy_;
  RespClient plain_client_;
  std::string dump_;
};

TEST_P(EveryCommand, AnswersOtherThanAPlainRedis) {
  proxy_ = Open(cluster_->address());
  plain_client_ = Open(plain_.address());
  for (const Invocation& invocation : EveryInvocation()) {
    std::string line;
    for (const std::string& word : invocation.arguments) line += word + " ";
    SCOPED_TRACE(line);
    Run(invocation);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Resp, EveryCommand, ::testing::Values(2, 3),
                         [](const auto& version) { return std::to_string(version.param); });

TEST(EveryCommandTable, LacksACommandOfTheServer) {
  std::set<std::string> rows;
  for (const Invocation& invocation : EveryInvocation()) {
    std::string name = invocation.arguments[0];
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    rows.insert(name);
    if (invocation.arguments.size() < 2) continue;
    std::string subcommand = invocation.arguments[1];
    std::transform(subcommand.begin(), subcommand.end(), subcommand.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    rows.insert(name + "|" + subcommand);
  }
  RedisServer server;
  std::vector<std::string> missing;
  for (const std::string& command : server.Do({"COMMAND", "LIST"}).Texts()) {
    if (!rows.contains(command) && !NeedsNoRow(command)) missing.push_back(command);
  }
  EXPECT_THAT(missing, IsEmpty());
}

}  // namespace
}  // namespace ringway::test
