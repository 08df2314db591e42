#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config_file.h"
#include "config/values.h"
#include "proxy/control/ring_forecast.h"
#include "proxy/topology.h"

namespace ringway::proxy {
namespace {

config::Config Base() {
  return config::ParseConfig(
             "ring: {balance_cap: 0}\n"
             "shards:\n- {name: a, address: 'h:1'}\n- {name: b, address: 'h:2'}\n- {name: c, address: "
             "'h:3'}\n",
             "f")
      .value();
}

// Of shards that have the ids 0, 1, 2 by name.
RingForecast Foretell(const std::string& changes) {
  const config::Config config = Base();
  std::vector<Shard> shards;
  for (uint32_t i = 0; i < config.shards.size(); ++i) shards.push_back({i, config.shards[i]});
  const auto before = StableTopology(1, 0, RingOf(shards, config.ring), shards);
  const std::vector<std::string> words = config::SplitAtBlanks(changes);
  const ParsedRingChanges parsed =
      ParseRingChanges(std::vector<std::string_view>(words.begin(), words.end()));
  EXPECT_EQ(parsed.error, "");
  const ChangedShards after = ApplyRingChanges(config, parsed.changes);
  EXPECT_EQ(after.error, "");
  return Forecast(*before, after, config.ring);
}

std::string Reply(const RingForecast& forecast, const std::vector<std::optional<ShardLoad>>& loads) {
  std::string text;
  protocol::ReplyWriter reply(text, 3);
  WriteForecast(forecast, loads, reply);
  for (char& c : text) c = c == '\r' ? ' ' : c == '\n' ? '|' : c;
  return text;
}

TEST(RingForecast, AddedShardTakesOtherThanItsShareFromEach) {
  const RingForecast forecast = Foretell("ADD d h:4");
  EXPECT_NEAR(forecast.plan->moving_share(), 0.25, 0.01);
  EXPECT_NEAR(forecast.least_possible_share, 0.25, 1e-9);
  for (const auto& pair : forecast.plan->pairs()) {
    if (pair.to == 3) {
      EXPECT_NEAR(pair.share, 1.0 / 12, 0.02);
    }
  }
}

TEST(RingForecast, ReplacedShardIsSaidToMoveNothing) {
  const RingForecast forecast = Foretell("REPLACE b h:9");
  ASSERT_EQ(forecast.plan->pairs().size(), 1u);
  EXPECT_NEAR(forecast.plan->moving_share(), 1.0 / 3, 0.001);
  EXPECT_NEAR(forecast.least_possible_share, 1.0 / 3, 1e-9);
  const std::string reply = Reply(forecast, {ShardLoad{1, 1}, ShardLoad{500, 7000}, ShardLoad{1, 1}});
  EXPECT_THAT(reply, testing::HasSubstr(
                         "$4 |keys |:500 |$5 |bytes |:7000 |$5 |moves |*1 |%5 |$4 |from |$1 |b |$2 |to "
                         "|$1 |b |$5 |share |,0.3333"));
}

TEST(RingForecast, KeysGivenUpAreSaidToMove) {
  const RingForecast forecast = Foretell("REMOVE c FORCE");
  EXPECT_NEAR(forecast.plan->moving_share(), 0, 0.02);
  EXPECT_EQ(forecast.least_possible_share, 0);
  const std::string reply = Reply(forecast, {ShardLoad{1000, 1}, ShardLoad{1000, 1}, std::nullopt});
  EXPECT_THAT(reply, testing::HasSubstr("|$13 |not_estimated |*0 |$8 |given_up |*1 |$1 |c |"));
}

TEST(RingForecast, ShardWithoutFiguresIsCountedAsEmptyInSilence) {
  const RingForecast forecast = Foretell("REMOVE c");
  EXPECT_NEAR(forecast.least_possible_share, 1.0 / 3, 1e-9);
  const std::string reply = Reply(forecast, {ShardLoad{}, ShardLoad{}, std::nullopt});
  EXPECT_THAT(reply, testing::HasSubstr("|$13 |not_estimated |*1 |$1 |c |$8 |given_up |*0 |"));
  EXPECT_THAT(reply, testing::HasSubstr("$4 |keys |:0 |$5 |bytes |:0 |"));
}

TEST(RingForecast, WholeOfAShardIsNotEstimatedFromItsPairs) {
  const RingForecast forecast = Foretell("REMOVE c");
  const std::string reply = Reply(forecast, {ShardLoad{}, ShardLoad{}, ShardLoad{100'000, 0}});
  const size_t at = reply.find("$4 |keys |:") + 11;
  // Each pair is rounded by itself.
  EXPECT_NEAR(std::stod(reply.substr(at)), 100'000, 2) << reply;
}

}  // namespace
}  // namespace ringway::proxy
