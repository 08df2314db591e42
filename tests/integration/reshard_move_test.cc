// `ringway reshard` with a real proxy and real servers.
#include <signal.h>

#include "tests/integration/proxy_test.h"
#include "tests/support/terminal_process.h"

namespace ringway::test {
namespace {

class ReshardMove : public CustomProxyTest {
 protected:
  void SetUp() override { RINGWAY_NEEDS_PROXY(); }

  static std::vector<std::string> Add(const std::string& proxy, const std::string& shard) {
    return {RingwayBinary(), "reshard", "--connect", proxy, "ADD", "s9", shard};
  }
  // The number, written with commas, between the last of one text and another behind it.
  static double Between(const std::string& text, const std::string& before, const std::string& after) {
    const size_t start = text.rfind(before);
    const size_t end = text.find(after, start);
    if (start == std::string::npos || end == std::string::npos) return -1;
    std::string number = text.substr(start + before.size(), end - start - before.size());
    std::erase(number, ',');
    return std::atof(number.c_str());
  }
};

TEST_F(ReshardMove, PlanOrEndDoesNotTellWhatMoved) {
  Start({});
  Fill(20'000);
  RedisServer fourth;
  TerminalProcess run(Add(cluster_->address(), fourth.address()));
  ASSERT_TRUE(run.Shows("move? [y/N]")) << run.output();
  EXPECT_EQ(fourth.Do({"DBSIZE"}).integer, 0);
  run.Type("y\n");
  ASSERT_EQ(run.WaitExit(seconds(30)), 0) << run.screen().Text() << cluster_->proxy().log();
  const auto moved = static_cast<double>(fourth.Do({"DBSIZE"}).integer);
  EXPECT_NEAR(moved, 5'000, 500);
  const std::string text = run.screen().Text();
  EXPECT_NEAR(Between(text, "): about ", " keys, "), moved, 500) << text;
  EXPECT_EQ(Between(text, " settled: ", " keys ("), moved) << text;
  EXPECT_THAT(text, HasSubstr("] 100.0%"));
  for (const char* from : {"s1", "s2", "s3"})
    EXPECT_THAT(text, HasSubstr(std::string("  ") + from + "    s9"));
  EXPECT_EQ(Do({"DBSIZE"}).integer, 20'000);
}

TEST_F(ReshardMove, ProxyThatIsKilledInMidMoveEndsTheWatch) {
  RedisServer first;
  RedisServer second;
  ReservedPort port;
  TempDir directory;
  const std::string address = "127.0.0.1:" + std::to_string(port.port());
  const std::vector<std::string> arguments = {"--listen",     address,
                                              "--shard",      "s1=" + first.address(),
                                              "--state-file", directory.File("state.yaml"),
                                              "--set",        "migration.keys_per_second=1000"};
  auto proxy = std::make_unique<RingwayProcess>(arguments);
  ASSERT_TRUE(proxy->WaitReady()) << proxy->log();
  std::vector<Command> commands;
  for (int i = 0; i < 6000; ++i) commands.push_back({"SET", "key:" + std::to_string(i), "v"});
  for (const Reply& reply : RespClient(address).Pipeline(commands)) ASSERT_EQ(ToText(reply), "+OK");

  TerminalProcess run(Add(address, second.address()));
  ASSERT_TRUE(run.Shows("move? [y/N]")) << run.output();
  run.Type("y\n");
  ASSERT_TRUE(run.Shows(" moving: ADD")) << run.output();
  proxy->Signal(SIGKILL);
  EXPECT_TRUE(run.Shows("no figures from the proxy (")) << run.output();
  proxy->WaitExit();
  proxy = std::make_unique<RingwayProcess>(arguments);
  ASSERT_TRUE(proxy->WaitReady()) << proxy->log();
  EXPECT_EQ(run.WaitExit(seconds(30)), 0) << run.screen().Text() << proxy->log();
  EXPECT_THAT(run.screen().Text(), HasSubstr(" settled: "));
  EXPECT_NEAR(static_cast<double>(second.Do({"DBSIZE"}).integer), 3000, 300);
  // The command line names the first shard only, and has not changed: it is no wish to undo the move.
  EXPECT_TRUE(Consistently([&] { return !proxy->LogContains("move 2 "); }, milliseconds(300)))
      << proxy->log();
  EXPECT_EQ(first.Do({"DBSIZE"}).integer + second.Do({"DBSIZE"}).integer, 6000);
}

}  // namespace
}  // namespace ringway::test
