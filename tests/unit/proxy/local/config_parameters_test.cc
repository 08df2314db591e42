#include "proxy/local/config_parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/made_request.h"

namespace ringway::proxy {
namespace {

using test::MadeRequest;
using test::Words;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

FoundParameters Find(const std::string& line) {
  config::Config config;
  config.requirepass = "secret";
  config.timeouts.idle_client_ms = 90'000;
  return FindParameters(config, MadeRequest(Words(line)).view());
}

TEST(FindParameters, NameIsGivenBackInAnotherCase) {
  EXPECT_THAT(Find("CONFIG GET MaxClients").own, ElementsAre(Pair("MaxClients", "10000")));
  EXPECT_FALSE(Find("CONFIG GET MaxClients LIMITS.clients").ask_shard);
}

TEST(FindParameters, UnitOfTheOtherNameIsUsed) {
  EXPECT_THAT(Find("CONFIG GET timeout timeouts.idle_client TIMEOUT").own,
              ElementsAre(Pair("timeout", "90"), Pair("timeouts.idle_client", "90s"), Pair("TIMEOUT", "90")));
}

TEST(FindParameters, PatternFindsAParameterTwice) {
  const FoundParameters found = Find("CONFIG GET maxcl* maxclients MAXC*");
  EXPECT_THAT(found.own, ElementsAre(Pair("maxclients", "10000")));
  EXPECT_TRUE(found.ask_shard);
}

TEST(FindParameters, ShardIsNotAskedForWhatTheProxyLacks) {
  EXPECT_TRUE(Find("CONFIG GET save").ask_shard);
  EXPECT_THAT(Find("CONFIG GET save").own, IsEmpty());
  EXPECT_TRUE(Find("CONFIG GET maxclients save").ask_shard);
  EXPECT_TRUE(Find("CONFIG GET limits.[a-z]*").ask_shard);
}

TEST(FindParameters, PasswordIsShown) {
  EXPECT_THAT(Find("CONFIG GET *").own, Contains(Pair("requirepass", config::kHiddenSecret)));
  EXPECT_THAT(Find("CONFIG GET requirepass").own, ElementsAre(Pair("requirepass", config::kHiddenSecret)));
  EXPECT_TRUE(IsSecretOfShard("masterauth"));
  EXPECT_TRUE(IsSecretOfShard("MASTERAUTH"));
  EXPECT_TRUE(IsSecretOfShard("tls-key-file-pass"));
  EXPECT_FALSE(IsSecretOfShard("masteruser"));
}

std::string SetError(const std::string& line) {
  ConfigChange change;
  return ParseConfigSet(config::Config{}, MadeRequest(Words(line)).view(), &change).value_or("");
}

TEST(ParseConfigSet, NonsenseIsSet) {
  const std::string failed = "ERR CONFIG SET failed (possibly related to argument '";
  EXPECT_EQ(SetError("CONFIG SET maxclients 1 timeout"), "ERR syntax error");
  EXPECT_EQ(SetError("CONFIG SET maxclients 1 MAXCLIENTS 2"), failed + "MAXCLIENTS') - duplicate parameter");
  EXPECT_EQ(SetError("CONFIG SET limits.clients 1 maxclients 2"),
            failed + "maxclients') - duplicate parameter");
  EXPECT_EQ(SetError("CONFIG SET databases 3"), failed + "databases') - can't set immutable config");
  EXPECT_EQ(SetError("CONFIG SET shard_auth.user 3"),
            failed + "shard_auth.user') - can't set a parameter that changes by a reload only");
  EXPECT_TRUE(
      SetError("CONFIG SET save x timeout 5 MaxClients -5").starts_with(failed + "maxclients') - expected"));
  // A name that cannot be set counts before a value that is wrong.
  EXPECT_EQ(SetError("CONFIG SET maxclients x databases 3"),
            failed + "databases') - can't set immutable config");
}

TEST(ParseConfigSet, ShardsDoNotKnowWhatIsSlow) {
  ConfigChange change;
  const MadeRequest request(Words("CONFIG SET slowlog.log_slower_than off slowlog-max-len 5"));
  EXPECT_FALSE(ParseConfigSet(config::Config{}, request.view(), &change).has_value());
  EXPECT_THAT(change.own, ElementsAre(Pair("slowlog.log_slower_than", "off"), Pair("slowlog-max-len", "5")));
  EXPECT_THAT(change.for_shards,
              ElementsAre(Pair("slowlog-log-slower-than", "-1"), Pair("slowlog-max-len", "5")));
}

TEST(ParseConfigSet, ParametersGoToTheWrongSide) {
  ConfigChange change;
  const MadeRequest request(Words("CONFIG SET save '' Timeout 5 maxmemory 1mb limits.clients 77"));
  config::Config config;
  EXPECT_FALSE(ParseConfigSet(config, request.view(), &change).has_value());
  EXPECT_THAT(change.own, ElementsAre(Pair("timeout", "5"), Pair("limits.clients", "77")));
  EXPECT_THAT(change.for_shards, ElementsAre(Pair("save", ""), Pair("maxmemory", "1mb")));
  EXPECT_EQ(config.limits.clients, 10000);
  SetParameters(change.own, &config);
  EXPECT_EQ(config.limits.clients, 77);
  EXPECT_EQ(config.timeouts.idle_client_ms, 5000);
}

}  // namespace
}  // namespace ringway::proxy
