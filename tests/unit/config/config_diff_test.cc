#include "config/config_diff.h"

#include <gtest/gtest.h>

#include "config/config_file.h"

namespace ringway::config {
namespace {

Config Parse(const std::string& yaml) {
  const Result<Config> config = ParseConfig(yaml, "f");
  EXPECT_TRUE(config.ok()) << config.problems().front().ToString();
  return config.ok() ? config.value() : Config();
}

const char* const kBase = R"(
shards:
- {name: a, address: 'h:1'}
- {name: b, address: 'h:2', password: old}
- {name: c, address: 'h:3'}
)";

TEST(ConfigDiff, NothingChangedIsEmptyWhateverTheOrderOfShards) {
  const Config before = Parse(kBase);
  EXPECT_TRUE(Diff(before, before).empty());
  Config after = before;
  std::swap(after.shards[0], after.shards[2]);
  EXPECT_TRUE(Diff(before, after).empty());
}

TEST(ConfigDiff, EachChangeOfAShardIsFoundByItsName) {
  const Config before = Parse(kBase);
  const Config after = Parse(R"(
shards:
- {name: d, address: 'h:4', weight: 2}
- {name: a, address: 'h:9', weight: 0.5}
- {name: b, address: 'h:2', password: new-secret}
)");
  const ConfigDiff diff = Diff(before, after);
  std::vector<std::string> lines;
  for (const ShardChange& change : diff.shards) lines.push_back(change.ToString());
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "removed c h:3",
                       "added d h:4 weight 2",
                       "readdressed a from h:1 to h:9",
                       "reweighed a from 1 to 0.5",
                       "new user or password for b",
                   }));
}

TEST(ConfigDiff, ReloadGivesKeysAnotherOwnerWithoutMovingThem) {
  const Config before = Parse(kBase);
  const Config after = Parse(R"(
shards:
- {name: d, address: 'h:4', weight: 2}
- {name: a, address: 'h:9', weight: 0.5}
- {name: b, address: 'h:2', password: new-secret}
)");
  const ConfigDiff diff = Diff(before, after);
  EXPECT_EQ(diff.Describe(before, after), (std::vector<std::string>{"shard readdressed a from h:1 to h:9",
                                                                    "shard new user or password for b"}));
  EXPECT_TRUE(diff.DescribeRefused().empty());
  std::string moving;
  for (const ShardChange& change : diff.shards) {
    if (change.moves_keys()) moving += (moving.empty() ? "" : " ") + change.name();
  }
  EXPECT_EQ(moving, "c d a");

  const Config merged = ApplyLive(before, after, diff);
  ASSERT_EQ(merged.shards.size(), 3u);
  EXPECT_EQ(merged.shards[0].name, "a");
  EXPECT_EQ(merged.shards[0].address, "h:9");
  EXPECT_EQ(merged.shards[0].port, 9);
  EXPECT_EQ(merged.shards[0].weight, 1);
  EXPECT_EQ(merged.shards[1].password, "new-secret");
  EXPECT_EQ(merged.shards[2], before.shards[2]);
}

TEST(ConfigDiff, AddressOfARemovedShardThatStaysIsGivenToAnother) {
  const Config before = Parse(kBase);
  // c is no longer in the list but stays, so a cannot have its address; nor may b follow to a's.
  const Config after = Parse(R"(
shards:
- {name: a, address: 'h:3'}
- {name: b, address: 'h:1', password: fresh}
)");
  const ConfigDiff diff = Diff(before, after);
  EXPECT_EQ(diff.DescribeRefused().size(), 2u);
  const Config merged = ApplyLive(before, after, diff);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(merged.shards[i].address, before.shards[i].address);
  EXPECT_EQ(merged.shards[1].password, "fresh");
}

TEST(ConfigDiff, ShardsThatChangePlacesAreRefused) {
  const Config before = Parse(kBase);
  const Config after = Parse(R"(
shards:
- {name: a, address: 'h:2'}
- {name: b, address: 'h:1', password: old}
- {name: c, address: 'h:3'}
)");
  const ConfigDiff diff = Diff(before, after);
  EXPECT_TRUE(diff.DescribeRefused().empty());
  EXPECT_EQ(ApplyLive(before, after, diff).shards, after.shards);
}

TEST(ConfigDiff, ShardThatTheListNoLongerNamesCannotBeAskedForItsKeys) {
  const Config before = Parse(std::string(kBase) + "shard_auth: {password: common}\n");
  const Config after =
      Parse("shards:\n- {name: c, address: 'h:3'}\nshard_auth: {user: u, password: fresh}\n");
  const Config merged = ApplyLive(before, after, Diff(before, after));
  ASSERT_EQ(merged.shards.size(), 3u);
  EXPECT_EQ(merged.shards[0].user, "u");
  EXPECT_EQ(merged.shards[0].password, "fresh");
  EXPECT_EQ(merged.shards[1].user, "");
  EXPECT_EQ(merged.shards[1].password, "old");
  EXPECT_EQ(merged.shards[2].password, "fresh");
}

TEST(ConfigDiff, StartOnlyChangeKeepsItsOldValueAndIsNamed) {
  const Config before = Parse(kBase);
  const Config after =
      Parse(std::string(kBase) +
            "limits: {clients: 7}\nthreads: 3\nrequirepass: hunter2\nshard_auth: {password: hunter3}\n");
  const ConfigDiff diff = Diff(before, after);
  ASSERT_EQ(diff.needs_start.size(), 1u);
  EXPECT_EQ(diff.needs_start[0]->path, "threads");
  const Config merged = ApplyLive(before, after, diff);
  EXPECT_EQ(merged.limits.clients, 7);
  EXPECT_EQ(merged.threads, 0);
  EXPECT_EQ(merged.requirepass, "hunter2");
  EXPECT_EQ(merged.shards[0].password, "hunter3");
  std::string all;
  for (const std::string& line : diff.Describe(before, after)) all += line + "\n";
  EXPECT_NE(all.find("threads changed from \"auto\" to \"3\": takes effect at the next start"),
            std::string::npos);
  EXPECT_NE(all.find("requirepass changed\n"), std::string::npos);
  EXPECT_EQ(all.find("hunter"), std::string::npos);
}

TEST(ConfigDiff, EveryRowIsComparedAndEveryLiveRowIsApplied) {
  const Config before = Parse(kBase);
  for (const Field& field : Fields()) {
    Config after = before;
    const char* candidates[] = {"true",   "false", "1",     "3",     "2mb",        "7ms", "0.5",
                                "ketama", "md5",   "relay", "error", "same_shard", "h:1", "text"};
    for (const char* candidate : candidates) {
      if (!Set(&after, field, candidate) && !SameValue(before, after, field)) break;
    }
    ASSERT_FALSE(SameValue(before, after, field)) << field.path;
    const ConfigDiff diff = Diff(before, after);
    EXPECT_EQ(diff.live.size() + diff.needs_start.size(), 1u) << field.path;
    EXPECT_EQ(diff.needs_start.empty(), field.when != When::kStart) << field.path;
    const Config merged = ApplyLive(before, after, diff);
    EXPECT_EQ(SameValue(merged, after, field), field.when != When::kStart) << field.path;
  }
}

}  // namespace
}  // namespace ringway::config
