#include "proxy/reshard/reshard_options.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace ringway::proxy::reshard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

config::Result<ReshardOptions> ParseWords(std::vector<const char*> words,
                                          const std::string& environment = "") {
  words.insert(words.begin(), "reshard");
  return ParseReshardOptions(static_cast<int>(words.size()), words.data(), environment);
}

std::string Mistakes(const std::vector<const char*>& words) {
  std::string text;
  const auto parsed = ParseWords(words);
  for (const auto& problem : parsed.problems()) text += problem.ToString() + "\n";
  return text;
}

TEST(ReshardOptions, FlagIsTakenForAWordOfTheChange) {
  const auto parsed = ParseWords({"--connect", "[::1]:6380", "ADD", "s4", "10.0.0.4:1", "WEIGHT", "2",
                                  "REMOVE", "s1", "--yes", "--pause-on-exit", "yes", "--patience", "9"},
                                 "pw");
  ASSERT_TRUE(parsed.ok()) << parsed.problems()[0].ToString();
  const ReshardOptions& options = parsed.value();
  EXPECT_EQ(options.proxy.host, "::1");
  EXPECT_EQ(options.proxy.port, 6380);
  EXPECT_EQ(options.proxy.password, "pw");
  EXPECT_THAT(options.change, ElementsAre("ADD", "s4", "10.0.0.4:1", "WEIGHT", "2", "REMOVE", "s1"));
  EXPECT_TRUE(options.yes);
  EXPECT_TRUE(options.pause_on_exit);
  EXPECT_FALSE(options.watch);
  EXPECT_EQ(options.patience_seconds, 9);
}

TEST(ReshardOptions, WatchWantsAChangeOrMovesWithoutAsking) {
  const auto parsed = ParseWords({"--watch", "--connect=unix:/run/r.sock"});
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed.value().watch);
  EXPECT_FALSE(parsed.value().yes);
  EXPECT_FALSE(parsed.value().pause_on_exit);
  EXPECT_EQ(RedisCliHint(parsed.value().proxy, "RING ABORT"), "redis-cli -s /run/r.sock RING ABORT");
  EXPECT_EQ(WatchHint(parsed.value().proxy), "ringway reshard --connect unix:/run/r.sock --watch");
}

TEST(ReshardOptions, MistakeIsNotExplained) {
  EXPECT_THAT(Mistakes({"ADD", "a", "b:1"}), HasSubstr("--connect: expected the proxy's address"));
  EXPECT_THAT(Mistakes({"--connect", "nowhere", "ADD", "a", "b:1"}), HasSubstr("found \"nowhere\""));
  EXPECT_THAT(Mistakes({"--connect", "h:1"}), HasSubstr("expected a change, or --watch"));
  EXPECT_THAT(Mistakes({"--connect", "h:1", "--watch", "ADD", "a", "b:1"}), HasSubstr("takes no change"));
  EXPECT_THAT(Mistakes({"--connect", "h:1", "--watch", "--pause-on-exit", "maybe"}),
              HasSubstr("expected yes or no"));
  EXPECT_THAT(Mistakes({"--connect", "h:1", "--watch", "--patience", "-1"}), HasSubstr("expected seconds"));
  EXPECT_THAT(Mistakes({"--connect", "h:1", "--watch", "--user", "u"}), HasSubstr("needs a password"));
  EXPECT_THAT(Mistakes({"--connect", "h:1", "--watch", "--password-file", "/nonexistent"}),
              HasSubstr("/nonexistent"));
  EXPECT_THAT(Mistakes({"--conect", "h:1"}), HasSubstr("ringway reshard --help lists the flags"));
}

TEST(ReshardOptions, EnvironmentWinsOverThePasswordFile) {
  std::string path = testing::TempDir() + "/ringway-reshard-XXXXXX";
  ::close(mkstemp(path.data()));
  std::ofstream(path) << "fromfile\n";
  const auto parsed =
      ParseWords({"--connect", "h:1", "--watch", "--user", "u", "--password-file", path.c_str()}, "env");
  ::unlink(path.c_str());
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value().proxy.user, "u");
  EXPECT_EQ(parsed.value().proxy.password, "fromfile");
}

TEST(ReshardOptions, HelpNeedsAProxyOrLacksAFlag) {
  const auto parsed = ParseWords({"--help"});
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed.value().help);
  for (const char* word : {"--connect", "--user", "--password-file", "RINGWAY_PASSWORD", "--yes", "--watch",
                           "--pause-on-exit", "--patience", "REPLACE name address", "Exit status"}) {
    EXPECT_THAT(parsed.value().help_text, HasSubstr(word));
  }
}

}  // namespace
}  // namespace ringway::proxy::reshard
