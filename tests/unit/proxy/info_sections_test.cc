#include "proxy/info/info_sections.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"
#include "proxy/info/info_text.h"
#include "proxy/info/rate_sampler.h"

namespace ringway::proxy {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::vector<std::string_view> Pick(std::vector<std::string_view> arguments) {
  std::vector<std::string_view> names;
  for (const InfoSection* section : PickSections(arguments)) names.push_back(section->name);
  return names;
}

TEST(InfoSections, ArgumentsPickOtherSectionsThanRedis) {
  EXPECT_EQ(Pick({}), Pick({"default"}));
  EXPECT_EQ(Pick({"all"}).size(), InfoSections().size());
  EXPECT_EQ(Pick({"all"}), Pick({"EVERYTHING"}));
  EXPECT_THAT(Pick({}), IsSupersetOf({"server", "clients", "memory", "persistence", "stats", "replication",
                                      "cpu", "module_list", "errorstats", "cluster", "keyspace"}));
  EXPECT_THAT(Pick({}), Not(Contains("commandstats")));
  EXPECT_THAT(Pick({}), Not(Contains("latencystats")));
  EXPECT_THAT(Pick({"KeySpace"}), ElementsAre("keyspace"));
  EXPECT_THAT(Pick({"Modules"}), ElementsAre("module_list"));
  EXPECT_THAT(Pick({"default", "commandstats"}), Contains("commandstats"));
}

TEST(InfoSections, ASectionIsShownTwiceOrInTheOrderOfTheArguments) {
  EXPECT_THAT(Pick({"stats", "server", "SERVER", "stats"}), ElementsAre("server", "stats"));
}

TEST(InfoSections, NamesThatAreNonePickSomething) {
  EXPECT_THAT(Pick({"nonsense"}), IsEmpty());
  EXPECT_THAT(Pick({""}), IsEmpty());
  EXPECT_THAT(Pick({"serve"}), IsEmpty());
  EXPECT_THAT(Pick({"servers"}), IsEmpty());
  EXPECT_THAT(Pick({"nonsense", "cpu"}), ElementsAre("cpu"));
}

TEST(InfoSections, ShardsAreAskedForNothing) {
  for (const char* name : {"server", "clients", "commandstats", "latencystats", "errorstats", "workers",
                           "cpu", "replication", "cluster", "nonsense"}) {
    EXPECT_FALSE(NeedShards(PickSections(std::vector<std::string_view>{name}))) << name;
  }
  for (const char* name : {"keyspace", "memory", "stats", "persistence", "ring"}) {
    EXPECT_TRUE(NeedShards(PickSections(std::vector<std::string_view>{"cpu", name}))) << name;
  }
}

config::Config TwoShards() {
  config::Config config;
  for (const char* name : {"a", "b"}) {
    config::ShardConfig shard;
    shard.name = name;
    shard.address = "127.0.0.1:1";
    shard.host = "127.0.0.1";
    shard.port = 1;
    config.shards.push_back(shard);
  }
  return config;
}

class InfoOfTwoShards : public ::testing::Test {
 protected:
  InfoOfTwoShards()
      : state_(TwoShards()), facts_{state_, state_.config(), state_.Publish(*state_.config()), {}} {}

  void Answer(const char* first, const char* second) {
    facts_.shards.clear();
    for (const char* text : {first, second}) {
      facts_.shards.push_back({text != nullptr, {}});
      if (text != nullptr) facts_.shards.back().info = ShardInfo::Parse(text);
    }
  }
  std::string Section(std::string_view name) {
    return WriteSections(PickSections(std::vector<std::string_view>{name}), facts_);
  }

  ProxyState state_;
  InfoFacts facts_;
};

TEST_F(InfoOfTwoShards, KeyspaceIsNotTheSum) {
  Answer("db0:keys=10,expires=3,avg_ttl=100\r\ndb10:keys=1,expires=0,avg_ttl=0\r\n",
         "db0:keys=5,expires=1,avg_ttl=500\r\ndb2:keys=7,expires=7,avg_ttl=9\r\n");
  EXPECT_EQ(Section("keyspace"),
            "# Keyspace\r\ndb0:keys=15,expires=4,avg_ttl=200\r\ndb2:keys=7,expires=7,avg_ttl=9\r\n"
            "db10:keys=1,expires=0,avg_ttl=0\r\n");
}

TEST_F(InfoOfTwoShards, AShardThatDidNotAnswerCounts) {
  Answer("used_memory:100\r\ndb0:keys=10,expires=0,avg_ttl=0\r\n", nullptr);
  EXPECT_EQ(Section("keyspace"), "# Keyspace\r\ndb0:keys=10,expires=0,avg_ttl=0\r\n");
  const std::string ring = Section("ring");
  EXPECT_THAT(ring, HasSubstr("shard0:name=a,addr=127.0.0.1:1,state=up,"));
  EXPECT_THAT(ring, HasSubstr("shard1:name=b,addr=127.0.0.1:1,state=down,"));
  EXPECT_THAT(ring, HasSubstr("ring_shards_up:1\r\n"));
  EXPECT_THAT(ring.substr(ring.find("shard1:")), Not(HasSubstr("keys=")));
  EXPECT_THAT(ring, HasSubstr("ring_load_max_over_mean:0.0000\r\n"));
}

TEST_F(InfoOfTwoShards, LoadOfYesterdayHidesThatOfTheMoment) {
  Answer(nullptr, nullptr);
  const auto sample = [&](int64_t now_usec, uint64_t first, uint64_t second) {
    state_.shard_rates.At(facts_.topology->shards[0].id).Sample(first, now_usec);
    state_.shard_rates.At(facts_.topology->shards[1].id).Sample(second, now_usec);
  };
  sample(1'000'000, 500'000, 0);
  EXPECT_THAT(Section("ring"), HasSubstr("ring_load_max_over_mean:0.0000\r\n"));
  sample(1'200'000, 500'003, 1);
  std::string ring = Section("ring");
  EXPECT_THAT(ring.substr(ring.find("shard0:")), HasSubstr("request_share=0.7500,"));
  EXPECT_THAT(ring.substr(ring.find("shard1:")), HasSubstr("request_share=0.2500,"));
  EXPECT_THAT(ring, HasSubstr("ring_load_max_over_mean:1.5000\r\n"));
  for (int i = 1; i <= 16; ++i) sample(1'200'000 + i * 100'000, 500'003, static_cast<uint64_t>(1 + i));
  ring = Section("ring");
  EXPECT_THAT(ring.substr(ring.find("shard0:")), HasSubstr("request_share=0.0000,"));
  EXPECT_THAT(ring, HasSubstr("ring_load_max_over_mean:2.0000\r\n"));
}

TrackedKey Tracked(const std::string& key, double rate, std::vector<uint32_t> buckets = {}) {
  TrackedKey tracked{3, key, rate, rate / 10'000, nullptr};
  if (buckets.empty()) return tracked;
  tracked.placement = std::make_shared<HotPlacement>(std::make_shared<HotKey>(3, key, 0), 0, buckets);
  for (const auto& bucket : tracked.placement->buckets) bucket->copy.Set({1, 0, 0});
  tracked.placement->bucket_reads = 77;
  return tracked;
}

TEST_F(InfoOfTwoShards, AHotKeyWithoutCopiesIsToldAsSpread) {
  TrackedKey hot = Tracked("hot", 4000, {1, 0});
  hot.placement->buckets[0]->copy.Forget(1);
  EXPECT_EQ(hot.buckets(), 2U);
  hot.placement->buckets[1]->copy.Forget(1);
  state_.hot_keys.Set(std::make_shared<std::vector<TrackedKey>>(std::vector<TrackedKey>{hot}));
  EXPECT_THAT(Section("hotkeys"), AllOf(HasSubstr("hotkeys_spread:0\r\n"), HasSubstr(",buckets=1,")));
}

TEST_F(InfoOfTwoShards, HotKeysAreNotTold) {
  EXPECT_EQ(Section("hotkeys"),
            "# Hotkeys\r\nhotkeys_tracked:0\r\nhotkeys_spread:0\r\nhotkey_bucket_reads:0\r\n"
            "hotkey_fills:0\r\nhotkey_invalidations:0\r\n");
  state_.hot_keys.Set(std::make_shared<std::vector<TrackedKey>>(
      std::vector<TrackedKey>{Tracked("warm", 5000), Tracked("hot", 4000.25, {1, 0})}));
  const std::string text = Section("hotkeys");
  EXPECT_THAT(text, HasSubstr("hotkeys_tracked:2\r\nhotkeys_spread:1\r\n"));
  EXPECT_THAT(text, HasSubstr("\r\nhotkey0:key=hot,rate=4000.2,share=0.4000,buckets=3,bucket_hits=77,db=3\r\n"
                              "hotkey1:key=warm,rate=5000.0,share=0.5000,buckets=1,bucket_hits=0,db=3\r\n"))
      << "those that are spread come first";
}

TEST_F(InfoOfTwoShards, AKeysBytesBreakItsLineOrItPushesTheSpreadOnesOut) {
  std::vector<TrackedKey> keys;
  for (int i = 0; i < 20; ++i) keys.push_back(Tracked("k" + std::to_string(i), 100));
  keys.push_back(Tracked(std::string("a,b=c\\d\r\n\0\xff {t}:", 16), 50, {1}));
  state_.hot_keys.Set(std::make_shared<std::vector<TrackedKey>>(keys));
  const std::string text = Section("hotkeys");
  EXPECT_THAT(text, HasSubstr("\r\nhotkey0:key=a\\x2cb\\x3dc\\x5cd\\x0d\\x0a\\x00\\xff {t}:,rate=50.0,"));
  EXPECT_THAT(text, HasSubstr("\r\nhotkey15:"));
  EXPECT_THAT(text, Not(HasSubstr("\r\nhotkey16:")));
  EXPECT_THAT(text, HasSubstr("hotkeys_tracked:21\r\n"));
}

TEST_F(InfoOfTwoShards, OneShardWithoutLimitIsTakenForNone) {
  Answer("maxmemory:100\r\nmaxmemory_policy:noeviction\r\n",
         "maxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n");
  EXPECT_THAT(Section("memory"), HasSubstr("maxmemory:0\r\n"));
  EXPECT_THAT(Section("memory"), HasSubstr("maxmemory_policy:mixed\r\n"));
  Answer("maxmemory:100\r\nmaxmemory_policy:noeviction\r\n",
         "maxmemory:50\r\nmaxmemory_policy:noeviction\r\n");
  EXPECT_THAT(Section("memory"), HasSubstr("maxmemory:150\r\n"));
  EXPECT_THAT(Section("memory"), HasSubstr("maxmemory_policy:noeviction\r\n"));
}

TEST_F(InfoOfTwoShards, VersionIsThatOfTheNewestShard) {
  Answer("redis_version:7.2.4\r\n", "redis_version:6.10.1\r\n");
  EXPECT_EQ(facts_.RedisVersion(), "6.10.1");
  Answer("redis_version:6.9.30\r\n", "redis_version:6.10.1\r\n");
  EXPECT_EQ(facts_.RedisVersion(), "6.9.30");
  Answer(nullptr, "nonsense\r\n");
  EXPECT_EQ(facts_.RedisVersion(), "");
}

TEST_F(InfoOfTwoShards, OneLoadingShardKeepsAllClientsWaiting) {
  Answer("loading:1\r\nrdb_last_bgsave_status:err\r\n", "loading:0\r\nrdb_last_bgsave_status:ok\r\n");
  EXPECT_THAT(Section("persistence"), HasSubstr("\r\nloading:0\r\nshards_loading:1\r\n"));
  EXPECT_THAT(Section("persistence"), HasSubstr("rdb_last_bgsave_status:err\r\n"));
}

TEST_F(InfoOfTwoShards, ALineHasNoNameOrNoValue) {
  Answer("used_memory:100\r\n", nullptr);
  std::string text = Section("everything");
  ASSERT_THAT(text, ::testing::EndsWith("\r\n"));
  while (!text.empty()) {
    const std::string line = text.substr(0, text.find("\r\n"));
    text.erase(0, line.size() + 2);
    if (line.empty() || line.starts_with("# ")) continue;
    EXPECT_GT(line.find(':'), 0U) << line;
    EXPECT_NE(line.find(':'), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
}

TEST(InfoText, ValuesBreakTheirLine) {
  std::string out;
  InfoText(out).Field("config_file", "/a\r\nrole:slave");
  InfoLine("errorstat_a:b#c").Add("name", "x,y=z\r\n").Add("count", 3).EndInto(out);
  EXPECT_EQ(out, "config_file:/a__role:slave\r\nerrorstat_a_b_c:name=x_y_z__,count=3\r\n");
}

TEST(InfoText, BytesAreShortenedOtherThanRedisDoes) {
  EXPECT_EQ(FormatBytes(0), "0B");
  EXPECT_EQ(FormatBytes(1023), "1023B");
  EXPECT_EQ(FormatBytes(970248), "947.51K");
  EXPECT_EQ(FormatBytes(7180288), "6.85M");
  EXPECT_EQ(FormatBytes(25276502016), "23.54G");
  EXPECT_EQ(FormatBytes(UINT64_MAX), "16384.00P");
}

TEST(RateSampler, RateIsWrongAfterAReset) {
  RateSampler rate;
  int64_t now = 5'000'000;
  rate.Sample(1000, now);
  EXPECT_EQ(rate.PerSecond(), 0U);
  uint64_t value = 1000;
  for (size_t i = 0; i < RateSampler::kSamples; ++i) rate.Sample(value += 50, now += 100'000);
  EXPECT_EQ(rate.PerSecond(), 500U);
  EXPECT_EQ(rate.Recent(), 800U);
  // Too soon for a sample.
  rate.Sample(value + 1'000'000, now + 10);
  EXPECT_EQ(rate.PerSecond(), 500U);
  rate.Sample(0, now += 100'000);
  EXPECT_EQ(rate.PerSecond(), 500U);
  for (size_t i = 0; i < RateSampler::kSamples; ++i) rate.Sample(0, now += 100'000);
  EXPECT_EQ(rate.PerSecond(), 0U);
  EXPECT_EQ(rate.Recent(), 0U);
}

}  // namespace
}  // namespace ringway::proxy
