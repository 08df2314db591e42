#include "config/command_line.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "config/config_fields.h"

namespace ringway::config {
namespace {

Result<Invocation> ParseFlags(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "ringway");
  return ParseCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

std::string Problems(const std::vector<const char*>& arguments) {
  const Result<Invocation> run = ParseFlags(arguments);
  std::string text;
  for (const Problem& problem : run.problems())
    text.append(text.empty() ? "" : "\n").append(problem.ToString());
  return text;
}

std::string WriteFile(const std::string& text) {
  std::string path = testing::TempDir() + "/ringway-flags-XXXXXX";
  const int file = mkstemp(path.data());
  EXPECT_GE(file, 0);
  std::ofstream(path) << text;
  ::close(file);
  return path;
}

TEST(CommandLine, FlagsAloneMakeAConfiguration) {
  const Result<Invocation> run = ParseFlags({"--listen",
                                             "127.0.0.1:6380",
                                             "--listen",
                                             "[::1]:0",
                                             "--shard",
                                             "a=127.0.0.1:7001",
                                             "--shard",
                                             "b=[::1]:7002*2.5",
                                             "--shard",
                                             "c=unix:/r.sock",
                                             "--threads",
                                             "3",
                                             "--http=127.0.0.1:9380",
                                             "--state-file",
                                             "/s",
                                             "--log-level",
                                             "warn",
                                             "--set",
                                             "ring.virtual_nodes=100",
                                             "--set",
                                             "timeouts.request=3s"});
  ASSERT_TRUE(run.ok()) << run.problems()[0].ToString();
  const Config& config = run.value().config;
  EXPECT_EQ(run.value().action, Invocation::Action::kRun);
  EXPECT_EQ(Get(config, *FindField("listen")), "127.0.0.1:6380 [::1]:0");
  ASSERT_EQ(config.shards.size(), 3u);
  EXPECT_EQ(config.shards[1].name, "b");
  EXPECT_EQ(config.shards[1].host, "::1");
  EXPECT_EQ(config.shards[1].weight, 2.5);
  EXPECT_EQ(config.shards[2].path, "/r.sock");
  EXPECT_EQ(config.threads, 3);
  EXPECT_EQ(config.http->port, 9380);
  EXPECT_EQ(config.state_file, "/s");
  EXPECT_EQ(config.log.level, LogLevel::kWarn);
  EXPECT_EQ(config.ring.virtual_nodes, 100u);
  EXPECT_EQ(config.timeouts.request_ms, 3000);
}

TEST(CommandLine, FlagsWinOverTheFile) {
  const std::string path = WriteFile(
      "listen: [127.0.0.1:1, 127.0.0.1:2]\nthreads: 5\nlimits: {clients: 9}\n"
      "shards: [{name: a, address: 'h:1'}, {name: b, address: 'h:2'}]\n");
  const Result<Invocation> run =
      ParseFlags({"--config", path.c_str(), "--listen", "127.0.0.1:3", "--threads", "6", "--shard", "z=h:3"});
  ASSERT_TRUE(run.ok()) << run.problems()[0].ToString();
  EXPECT_EQ(run.value().config_path, path);
  EXPECT_EQ(Get(run.value().config, *FindField("listen")), "127.0.0.1:3");
  EXPECT_EQ(run.value().config.threads, 6);
  EXPECT_EQ(run.value().config.limits.clients, 9);
  ASSERT_EQ(run.value().config.shards.size(), 1u);
  EXPECT_EQ(run.value().config.shards[0].name, "z");
  const Result<Invocation> dev = ParseFlags({"-c", path.c_str(), "--dev-shards", "2"});
  ASSERT_TRUE(dev.ok()) << dev.problems()[0].ToString();
  EXPECT_TRUE(dev.value().config.shards.empty());
  EXPECT_EQ(dev.value().config.dev_shards, 2);
}

TEST(CommandLine, MistakesOfFileAndFlagsAreReportedTogether) {
  const std::string path = WriteFile("threads: x\n");
  EXPECT_EQ(Problems({"--check-config", "--config", path.c_str(), "--listen", "nowhere", "--shard", "a",
                      "--set", "x=1", "--set", "y", "--http", "80", "--dev-shards", "65"}),
            path + ":1: threads: expected a whole number from 1 to 256, or auto, found \"x\"\n" +
                "--listen: expected host:port, [v6]:port or unix:/path, found \"nowhere\"\n"
                "--shard: expected name=address or name=address*weight, found \"a\"\n"
                "--set: there is no option \"x\"\n"
                "--set: expected path=value, found \"y\"\n"
                "--dev-shards: dev_shards: expected a whole number from 0 to 64, found \"65\"\n"
                "--http: http: expected host:port, [v6]:port or unix:/path, or off, found \"80\"");
}

TEST(CommandLine, BadShardFlagSaysWhatWasExpected) {
  EXPECT_EQ(Problems({"--shard", "=h:1"}),
            "--shard: expected a name of 1 to 128 printable ASCII characters without blanks, commas, = and "
            "*, found "
            "\"=h:1\"");
  EXPECT_EQ(Problems({"--shard", "a=h:1*x"}),
            "--shard: weight: expected a number from 0 to 1000000, found \"a=h:1*x\"");
  EXPECT_EQ(Problems({"--shard", "a=h:1*"}),
            "--shard: weight: expected a number from 0 to 1000000, found \"a=h:1*\"");
  EXPECT_EQ(Problems({"--shard", "a=h:1", "--shard", "a=h:2"}),
            "--shard: the name \"a\" is already taken at --shard");
  EXPECT_EQ(Problems({"--shard", "a=h:1", "--dev-shards", "1"}),
            "--shard: shards and dev_shards are both given; expected one of them");
}

TEST(CommandLine, PasswordIsNotTakenFromTheCommandLine) {
  for (const char* setting : {"requirepass=hunter2", "shard_auth.password=hunter2", "REQUIREPASS=hunter2"}) {
    const std::string problems = Problems({"--dev-shards", "1", "--set", setting});
    EXPECT_NE(problems.find("_file=/path"), std::string::npos) << problems;
    EXPECT_EQ(problems.find("hunter2"), std::string::npos) << problems;
  }
  const std::string path = WriteFile("hunter2\n");
  const std::string setting = "requirepass_file=" + path;
  const Result<Invocation> run = ParseFlags({"--dev-shards", "1", "--set", setting.c_str()});
  ASSERT_TRUE(run.ok()) << run.problems()[0].ToString();
  EXPECT_EQ(run.value().config.requirepass, "hunter2");
}

TEST(CommandLine, NothingToServeIsAMistake) {
  EXPECT_EQ(Problems({}), "no shards: expected a list under shards:, --shard name=address or --dev-shards N");
  EXPECT_NE(
      Problems({"--config", "/nonexistent/ringway.yaml"}).find("/nonexistent/ringway.yaml: cannot be opened"),
      std::string::npos);
}

TEST(CommandLine, UnknownOrIncompleteFlagIsAMistake) {
  for (const std::vector<const char*>& arguments :
       std::vector<std::vector<const char*>>{{"--bogus"},
                                             {"--listen"},
                                             {"extra"},
                                             {"--dev-shards", "1", "extra"},
                                             {"--config"},
                                             {"--check-config=7x"}}) {
    EXPECT_FALSE(ParseFlags(arguments).ok()) << arguments[0];
  }
}

TEST(CommandLine, HelpAndVersionNeedNoShards) {
  const Result<Invocation> help = ParseFlags({"--help"});
  ASSERT_TRUE(help.ok());
  EXPECT_EQ(help.value().action, Invocation::Action::kPrintHelp);
  for (const char* flag : {"--config", "--listen", "--shard", "--dev-shards", "--threads", "--http",
                           "--check-config", "--version", "--help", "--set", "--state-file", "--log-level"}) {
    EXPECT_NE(help.value().text_to_print.find(flag), std::string::npos) << flag;
  }
  const Result<Invocation> version = ParseFlags({"--version"});
  ASSERT_TRUE(version.ok());
  EXPECT_EQ(version.value().action, Invocation::Action::kPrintVersion);
  EXPECT_EQ(version.value().text_to_print.rfind("ringway ", 0), 0u);
}

TEST(CommandLine, FineConfigurationIsCalledFine) {
  const Result<Invocation> run = ParseFlags({"--check-config", "--shard", "a=h:1", "--shard", "b=h:2"});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.value().action, Invocation::Action::kCheckConfig);
  EXPECT_EQ(run.value().exit_code, 0);
  EXPECT_EQ(run.value().text_to_print,
            "configuration is fine: 2 shards, distribution ring, listening on 127.0.0.1:6380\n");
}

}  // namespace
}  // namespace ringway::config
