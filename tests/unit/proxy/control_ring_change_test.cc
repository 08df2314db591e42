#include <random>

#include <gtest/gtest.h>

#include "config/config_file.h"
#include "config/values.h"
#include "proxy/control/ring_change.h"

namespace ringway::proxy {
namespace {

using Kind = RingChange::Kind;

ParsedRingChanges Parse(const std::string& text) {
  const std::vector<std::string> words = config::SplitAtBlanks(text);
  const std::vector<std::string_view> views(words.begin(), words.end());
  return ParseRingChanges(views);
}

std::string ErrorOf(const std::string& text) {
  const ParsedRingChanges parsed = Parse(text);
  EXPECT_TRUE(parsed.changes.empty()) << text;
  return parsed.error;
}

std::string Reread(const std::string& text) {
  const ParsedRingChanges parsed = Parse(text);
  EXPECT_EQ(parsed.error, "") << text;
  return ToString(parsed.changes);
}

config::Config Base(const std::string& more = "") {
  const auto config = config::ParseConfig(
      "shards:\n"
      "- {name: a, address: 'h:1'}\n"
      "- {name: b, address: 'h:2', weight: 2, password: b-secret}\n"
      "- {name: c, address: 'unix:/tmp/C'}\n"
      "shard_auth: {user: u, password: all-secret}\n" +
          more,
      "f");
  EXPECT_TRUE(config.ok()) << config.problems().front().ToString();
  return config.value();
}

ChangedShards Apply(const config::Config& config, const std::string& text) {
  const ParsedRingChanges parsed = Parse(text);
  EXPECT_EQ(parsed.error, "") << text;
  return ApplyRingChanges(config, parsed.changes);
}

// "a@h:1*1 b@h:2*2"
std::string Text(const std::vector<config::ShardConfig>& shards) {
  std::string text;
  for (const auto& shard : shards) {
    text += (text.empty() ? "" : " ") + shard.name + "@" + shard.address + "*" +
            config::FormatDecimal(shard.weight);
  }
  return text;
}

TEST(RingChange, EachFormIsReadInAnyCase) {
  const ParsedRingChanges parsed =
      Parse("add s4 a:1 Weight 2.5 REMOVE s1 remove s2 force Weight s3 0 rePLACE s5 [::1]:7");
  ASSERT_EQ(parsed.error, "");
  ASSERT_EQ(parsed.changes.size(), 5u);
  EXPECT_EQ(parsed.changes[0],
            (RingChange{.kind = Kind::kAdd, .name = "s4", .address = "a:1", .weight = 2.5}));
  EXPECT_EQ(parsed.changes[1], (RingChange{.kind = Kind::kRemove, .name = "s1"}));
  EXPECT_EQ(parsed.changes[2], (RingChange{.kind = Kind::kRemove, .name = "s2", .force = true}));
  EXPECT_EQ(parsed.changes[3], (RingChange{.kind = Kind::kWeight, .name = "s3", .weight = 0.0}));
  EXPECT_EQ(parsed.changes[4], (RingChange{.kind = Kind::kReplace, .name = "s5", .address = "[::1]:7"}));
}

TEST(RingChange, WeightOfTheAddedShardIsTakenForAnotherChangeOrTheOtherWayRound) {
  EXPECT_EQ(Parse("ADD s4 a:1 WEIGHT 2").changes.size(), 1u);
  EXPECT_EQ(Parse("ADD s4 a:1 WEIGHT 2 REMOVE s1").changes.size(), 2u);
  EXPECT_EQ(Parse("ADD s4 a:1 WEIGHT 2 weight 2 3").changes.size(), 2u);
  EXPECT_EQ(Parse("ADD s4 a:1 WEIGHT s2 3").changes.size(), 2u);
  // A shard that is named like a number.
  const ParsedRingChanges numbered = Parse("ADD s4 a:1 WEIGHT 2 3");
  ASSERT_EQ(numbered.changes.size(), 2u);
  EXPECT_FALSE(numbered.changes[0].weight);
  EXPECT_EQ(numbered.changes[1].name, "2");
}

TEST(RingChange, ShardsNamedLikeKeywordsCannotBeChanged) {
  EXPECT_EQ(Reread("REMOVE force"), "REMOVE force");
  EXPECT_EQ(Reread("REMOVE force FORCE"), "REMOVE force FORCE");
  EXPECT_EQ(Reread("WEIGHT weight 1 REMOVE remove ADD add h:1 REPLACE replace h:2"),
            "WEIGHT weight 1 REMOVE remove ADD add h:1 REPLACE replace h:2");
}

TEST(RingChange, MistakeIsNotNamed) {
  EXPECT_TRUE(ErrorOf("").starts_with("no change was given; a change is ADD name address [WEIGHT w]"));
  EXPECT_TRUE(
      ErrorOf("DROP a").starts_with("expected ADD, REMOVE, WEIGHT or REPLACE, found \"DROP\"; a change"));
  EXPECT_TRUE(ErrorOf("REMOVE a b").starts_with("expected ADD, REMOVE, WEIGHT or REPLACE, found \"b\""));
  EXPECT_TRUE(ErrorOf("REMOVE a FORCE FORCE").find("found \"FORCE\"") != std::string::npos);
  EXPECT_TRUE(ErrorOf("ADD").starts_with("ADD has no name; a change is"));
  EXPECT_TRUE(ErrorOf("REMOVE").starts_with("REMOVE has no name"));
  EXPECT_TRUE(ErrorOf("WEIGHT").starts_with("WEIGHT has no name"));
  EXPECT_TRUE(ErrorOf("REPLACE").starts_with("REPLACE has no name"));
  EXPECT_TRUE(ErrorOf("REMOVE b ADD a").starts_with("ADD a has no address"));
  EXPECT_TRUE(ErrorOf("REPLACE a").starts_with("REPLACE a has no address"));
  EXPECT_TRUE(ErrorOf("WEIGHT a").starts_with("WEIGHT a has no weight"));
  EXPECT_TRUE(ErrorOf("ADD a h:1 WEIGHT").starts_with("ADD a has no weight"));
  EXPECT_EQ(ErrorOf("ADD a h:1 WEIGHT much"),
            "ADD a: weight: expected a number from 0 to 1000000, found \"much\"");
  EXPECT_EQ(ErrorOf("WEIGHT a -1"), "WEIGHT a: weight: expected a number from 0 to 1000000, found \"-1\"");
  EXPECT_EQ(ErrorOf("WEIGHT a 1000001"),
            "WEIGHT a: weight: expected a number from 0 to 1000000, found \"1000001\"");
  EXPECT_EQ(ErrorOf("WEIGHT a nan"), "WEIGHT a: weight: expected a number from 0 to 1000000, found \"nan\"");
  EXPECT_EQ(ErrorOf("ADD a 7001"),
            "ADD a: address: expected host:port, [v6]:port or unix:/path, found \"7001\"");
  EXPECT_EQ(ErrorOf("REPLACE a h:0"),
            "REPLACE a: address: expected a port from 1 to 65535 after the last colon, found \"h:0\"");
  EXPECT_TRUE(ErrorOf("ADD a=b h:1").starts_with("ADD: name: expected a name of 1 to 128 printable"));
  EXPECT_TRUE(ErrorOf("ADD " + std::string(129, 'n') + " h:1").starts_with("ADD: name: expected a name"));
}

TEST(RingChange, SingleChangeCommandTakesSeveral) {
  const std::vector<std::string_view> two = {"REMOVE", "a", "REMOVE", "b"};
  EXPECT_EQ(ParseOneRingChange(two).error, "expected a single change; RING APPLY takes several");
  EXPECT_TRUE(ParseOneRingChange(two).changes.empty());
  EXPECT_EQ(ParseOneRingChange(std::span(two).first(2)).changes.size(), 1u);
}

TEST(RingChange, NumberOfChangesIsNotBounded) {
  std::vector<std::string_view> words;
  for (size_t i = 0; i < kMaxRingChanges; ++i) words.insert(words.end(), {"REMOVE", "a"});
  EXPECT_EQ(ParseRingChanges(words).changes.size(), kMaxRingChanges);
  words.insert(words.end(), {"REMOVE", "a"});
  EXPECT_EQ(ParseRingChanges(words).error, "more than 8192 changes at once");
}

TEST(RingChange, TextIsNotReadBackAsTheSameChanges) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const char* const names[] = {"a", "2", "WEIGHT", "add", "Force", "REMOVE", "0.5", "replace"};
  for (int round = 0; round < 500; ++round) {
    std::vector<RingChange> changes(1 + random() % 5);
    for (RingChange& change : changes) {
      change.kind = static_cast<Kind>(random() % 4);
      change.name = names[random() % std::size(names)];
      const bool has_address = change.kind == Kind::kAdd || change.kind == Kind::kReplace;
      if (has_address) change.address = "h:" + std::to_string(1 + random() % 65535);
      if (change.kind == Kind::kWeight || (change.kind == Kind::kAdd && random() % 2 == 0)) {
        change.weight = static_cast<double>(random() % 1000) / 7;
      }
      change.force = change.kind == Kind::kRemove && random() % 2 == 0;
    }
    const ParsedRingChanges parsed = Parse(ToString(changes));
    ASSERT_EQ(parsed.error, "") << ToString(changes);
    ASSERT_EQ(parsed.changes, changes) << ToString(changes);
  }
}

TEST(ApplyRingChanges, ShardsAfterTheChangesAreOthers) {
  const ChangedShards result =
      Apply(Base(), "ADD d h:4 WEIGHT 3 REMOVE a FORCE WEIGHT b 0.5 REPLACE c h:5 ADD e unix:/e");
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(Text(result.shards), "b@h:2*0.5 c@h:5*1 d@h:4*3 e@unix:/e*1");
  EXPECT_EQ(result.given_up, std::vector<std::string>{"a"});
  EXPECT_EQ(result.replaced, std::vector<std::string>{"c"});
  EXPECT_EQ(result.shards[0].password, "b-secret");
  EXPECT_EQ(result.shards[0].user, "");
  EXPECT_EQ(result.shards[1].port, 5);
  EXPECT_FALSE(result.shards[1].is_unix());
  EXPECT_EQ(result.shards[1].password, "all-secret");
  EXPECT_EQ(result.shards[2].host, "h");
  EXPECT_EQ(result.shards[2].user, "u");
  EXPECT_EQ(result.shards[2].password, "all-secret");
  EXPECT_EQ(result.shards[3].path, "/e");
}

TEST(ApplyRingChanges, RemovedShardThatAnswersIsGivenUp) {
  EXPECT_TRUE(Apply(Base(), "REMOVE a").given_up.empty());
}

TEST(ApplyRingChanges, ChangeThatDoesNotFitIsTaken) {
  const config::Config base = Base();
  const auto error = [&base](const std::string& text) {
    const ChangedShards result = Apply(base, text);
    EXPECT_TRUE(result.shards.empty() && result.given_up.empty() && result.replaced.empty()) << text;
    return result.error;
  };
  EXPECT_EQ(ApplyRingChanges(base, {}).error, "no change was given");
  EXPECT_EQ(error("ADD a h:9"), "the name a is already taken, by h:1");
  EXPECT_EQ(error("ADD d H:1"), "the address H:1 is already that of shard a");
  EXPECT_EQ(error("ADD d h:9 ADD e h:9"), "the address h:9 is already that of shard d");
  EXPECT_EQ(error("ADD d h:9 ADD d h:8"), "shard d appears in two changes");
  EXPECT_EQ(error("WEIGHT a 2 REMOVE a"), "shard a appears in two changes");
  EXPECT_EQ(error("REMOVE zzz"), "there is no shard \"zzz\"");
  config::Config named = base;
  named.shards[0].name = "cache1";
  EXPECT_EQ(Apply(named, "WEIGHT cahe1 3").error, "there is no shard \"cahe1\"; did you mean cache1?");
  EXPECT_EQ(error("REPLACE zzz h:9"), "there is no shard \"zzz\"");
  EXPECT_EQ(error("WEIGHT b 2"), "nothing would change: shard b has weight 2 already");
  EXPECT_EQ(error("REPLACE a H:1"), "nothing would change: shard a is at h:1 already");
  EXPECT_EQ(error("REPLACE a h:2"), "the address h:2 is already that of shard b");
  EXPECT_EQ(error("REMOVE a REMOVE b REMOVE c"), "shard c is the last one, and somebody has to own the keys");
  EXPECT_EQ(error("WEIGHT a 0 WEIGHT b 0 WEIGHT c 0"),
            "every shard has weight 0, so no shard would own a key");
}

TEST(ApplyRingChanges, ServerThatLosesItsKeysGetsOthersInTheSameMove) {
  const config::Config base = Base();
  EXPECT_EQ(Apply(base, "REMOVE a ADD d h:1").error, "the address h:1 is already that of shard a");
  EXPECT_EQ(Apply(base, "REPLACE a h:9 REPLACE b h:1").error, "the address h:1 is already that of shard a");
  EXPECT_EQ(Apply(base, "REMOVE a REPLACE b h:1").error, "the address h:1 is already that of shard a");
}

TEST(ApplyRingChanges, RingThatCannotBeBuiltIsTaken) {
  const config::Config ketama = Base("ring: {distribution: ketama}\n");
  EXPECT_EQ(Apply(ketama, "WEIGHT a 1.5").error,
            "shard a has weight 1.5, but distribution ketama knows whole weights only");
  EXPECT_EQ(Apply(ketama, "ADD d h:4 WEIGHT 2").error, "");
  EXPECT_TRUE(Apply(Base(), "WEIGHT a 1000000").error.find("virtual nodes") != std::string::npos);

  config::Config full = Base();
  full.ring.virtual_nodes = 1;
  for (size_t i = full.shards.size(); i < ring::kMaxMembers; ++i) {
    config::ShardConfig shard = full.shards[0];
    shard.name = "n" + std::to_string(i);
    shard.address = "n:" + std::to_string(i);
    full.shards.push_back(shard);
  }
  EXPECT_EQ(Apply(full, "ADD d h:4").error, "a ring holds at most 4096 shards, not 4097");
  EXPECT_EQ(Apply(full, "ADD d h:4 REMOVE a").error, "");
}

TEST(ChangesBetween, ListsThatDifferInOrderAndAddressesAreAMove) {
  const std::vector<config::ShardConfig> before = Base().shards;
  std::vector<config::ShardConfig> after = {before[2], before[0], before[1]};
  after[0].address = "h:77";
  EXPECT_TRUE(ChangesBetween(before, after).empty());
}

TEST(ChangesBetween, AppliedChangesDoNotLeadToTheOtherList) {
  const config::Config base = Base();
  config::Config wish = base;
  wish.shards.erase(wish.shards.begin());
  wish.shards[0].weight = 7;
  config::ShardConfig added = base.shards[0];
  added.name = "d";
  added.address = "h:4";
  added.weight = 1.5;
  wish.shards.insert(wish.shards.begin(), added);
  const std::vector<RingChange> changes = ChangesBetween(base.shards, wish.shards);
  EXPECT_EQ(ToString(changes), "REMOVE a ADD d h:4 WEIGHT 1.5 WEIGHT b 7");
  const ChangedShards result = ApplyRingChanges(base, changes);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(Text(result.shards), "b@h:2*7 c@unix:/tmp/C*1 d@h:4*1.5");
}

}  // namespace
}  // namespace ringway::proxy
