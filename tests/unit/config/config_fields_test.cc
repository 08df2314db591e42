#include "config/config_fields.h"

#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "config/field_values.h"
#include "config/values.h"

namespace ringway::config {
namespace {

const Field& At(std::string_view name) {
  const Field* field = FindField(name);
  EXPECT_NE(field, nullptr) << name;
  return field != nullptr ? *field : Fields().front();
}

// Another value than the default, for every row.
const std::map<std::string_view, std::string>& OtherValues() {
  static const std::map<std::string_view, std::string> values = {
      {"listen", "0.0.0.0:7000 [::]:7000 unix:/run/x.sock"},
      {"threads", "4"},
      {"http", "127.0.0.1:9380"},
      {"state_file", "/var/lib/ringway/state.yaml"},
      {"databases", "1"},
      {"requirepass", "s3cret"},
      {"dev_shards", "3"},
      {"ring.distribution", "ketama"},
      {"ring.hash", "fnv1a_64"},
      {"ring.virtual_nodes", "160"},
      {"ring.balance_cap", "off"},
      {"ring.hash_tag", "[]"},
      {"ring.multi_key", "same_shard"},
      {"shard_auth.user", "proxy"},
      {"shard_auth.password", "s3cret"},
      {"timeouts.connect", "250ms"},
      {"timeouts.request", "off"},
      {"timeouts.idle_client", "5m"},
      {"timeouts.drain", "0"},
      {"limits.clients", "1"},
      {"limits.request_bytes", "1mb"},
      {"limits.client_output", "64kb"},
      {"limits.pipeline", "1"},
      {"limits.in_flight_per_shard", "1"},
      {"limits.own_connections", "1"},
      {"hot_keys.detect", "false"},
      {"hot_keys.buckets", "8"},
      {"hot_keys.threshold", "0.001"},
      {"hot_keys.min_rate", "1"},
      {"hot_keys.max_staleness", "50ms"},
      {"hot_keys.patterns", "user:* config?"},
      {"hot_keys.never", "session:*"},
      {"hot_keys.max_bytes", "64kb"},
      {"migration.mover", "relay"},
      {"migration.keys_per_second", "5000"},
      {"migration.max_source_busy", "1"},
      {"migration.purge_target", "true"},
      {"slowlog.log_slower_than", "250us"},
      {"slowlog.max_len", "0"},
      {"log.level", "error"},
      {"log.file", "/var/log/ringway.log"},
  };
  return values;
}

TEST(ConfigFields, EveryRowIsReadBackAsItWasSet) {
  for (const Field& field : Fields()) {
    const auto other = OtherValues().find(field.path);
    ASSERT_NE(other, OtherValues().end()) << "no test value for " << field.path;
    const Config defaults;
    Config config;
    ASSERT_EQ(Set(&config, field, other->second), std::nullopt) << field.path;
    EXPECT_FALSE(SameValue(config, defaults, field)) << field.path;
    if (field.is_secret()) {
      EXPECT_EQ(Get(config, field), kHiddenSecret) << field.path;
    } else {
      EXPECT_EQ(Get(config, field), other->second) << field.path;
    }
    if (!field.is_secret()) {
      ASSERT_EQ(Set(&config, field, Get(defaults, field)), std::nullopt) << field.path;
      EXPECT_TRUE(SameValue(config, defaults, field)) << field.path;
    }
  }
  EXPECT_EQ(OtherValues().size(), Fields().size());
}

TEST(ConfigFields, TwoRowsNeverShareAPlaceOrAName) {
  std::set<std::string_view> names;
  for (const Field& field : Fields()) {
    EXPECT_TRUE(names.insert(field.path).second) << field.path;
    if (!field.redis_name.empty() && field.redis_name != field.path) {
      EXPECT_TRUE(names.insert(field.redis_name).second) << field.redis_name;
    }
    Config config;
    ASSERT_EQ(Set(&config, field, OtherValues().at(field.path)), std::nullopt);
    for (const Field& other : Fields()) {
      EXPECT_EQ(SameValue(config, Config(), other), &other != &field) << field.path << " and " << other.path;
    }
  }
}

TEST(ConfigFields, EachLimitHoldsOnBothSides) {
  for (const Field& field : Fields()) {
    if (field.unit == Unit::kNone) continue;
    const bool ratio = field.unit == Unit::kRatio;
    const auto text = [&](double value) {
      if (ratio) return FormatDecimal(value);
      std::string number = std::to_string(std::llround(value));
      if (field.unit == Unit::kMilliseconds && number != "0") number.append("ms");
      if (field.unit == Unit::kMicroseconds && number != "0") number.append("us");
      return number;
    };
    Config config;
    EXPECT_EQ(Set(&config, field, text(field.min)), std::nullopt) << field.path << " " << text(field.min);
    EXPECT_EQ(Set(&config, field, text(field.max)), std::nullopt) << field.path << " " << text(field.max);
    const double step = ratio ? 1e-6 : 1;
    const Config before = config;
    EXPECT_NE(Set(&config, field, text(field.max + step)), std::nullopt) << field.path;
    const double below = field.min - step;
    const bool below_is_word = !field.word.empty() && below == static_cast<double>(field.word_value);
    if (below >= 0 && !below_is_word) {
      EXPECT_NE(Set(&config, field, text(below)), std::nullopt) << field.path;
    }
    EXPECT_NE(Set(&config, field, "-5"), std::nullopt) << field.path;
    EXPECT_TRUE(SameValue(config, before, field)) << field.path << " changed by a value that was refused";
  }
}

TEST(ConfigFields, NonsenseIsRefusedWithWhatWasExpected) {
  for (const Field& field : Fields()) {
    // Any text is a pattern.
    const auto slot_is_text = field.Expected().find("text") != std::string::npos ||
                              field.path == "hot_keys.patterns" || field.path == "hot_keys.never";
    if (slot_is_text) continue;
    Config config;
    const auto error = Set(&config, field, "!nonsense!");
    ASSERT_NE(error, std::nullopt) << field.path;
    EXPECT_EQ(error->rfind("expected ", 0), 0) << *error;
  }
}

TEST(ConfigFields, TextWithControlCharactersOrWithoutEndIsRefused) {
  Config config;
  EXPECT_NE(Set(&config, At("log.file"), "/tmp/a\nb"), std::nullopt);
  EXPECT_EQ(Set(&config, At("log.file"), std::string(kMaxTextBytes, 'x')), std::nullopt);
  EXPECT_NE(Set(&config, At("log.file"), std::string(kMaxTextBytes + 1, 'x')), std::nullopt);
}

TEST(ConfigFields, SecretIsNeverShown) {
  Config config;
  EXPECT_EQ(Get(config, At("requirepass")), "");
  ASSERT_EQ(Set(&config, At("requirepass"), "hunter2"), std::nullopt);
  EXPECT_EQ(Get(config, At("requirepass")), kHiddenSecret);
  EXPECT_EQ(GetAs(config, At("requirepass"), "requirepass"), kHiddenSecret);
  // A tool that writes back what it has read must not replace the password by stars.
  EXPECT_NE(Set(&config, At("requirepass"), kHiddenSecret), std::nullopt);
  EXPECT_EQ(config.requirepass, "hunter2");
  ASSERT_EQ(Set(&config, At("requirepass"), ""), std::nullopt);
  EXPECT_EQ(config.requirepass, "");
}

TEST(ConfigFields, RedisNameCountsInRedisUnit) {
  Config config;
  ASSERT_EQ(SetAs(&config, At("timeout"), "TIMEOUT", "300"), std::nullopt);
  EXPECT_EQ(config.timeouts.idle_client_ms, 300'000);
  EXPECT_EQ(GetAs(config, At("timeout"), "timeout"), "300");
  EXPECT_EQ(GetAs(config, At("timeout"), "timeouts.idle_client"), "5m");
  ASSERT_EQ(SetAs(&config, At("timeout"), "timeouts.idle_client", "1500ms"), std::nullopt);
  EXPECT_EQ(GetAs(config, At("timeout"), "timeout"), "2");
  ASSERT_EQ(SetAs(&config, At("proto-max-bulk-len"), "proto-max-bulk-len", "1gb"), std::nullopt);
  EXPECT_EQ(GetAs(config, At("proto-max-bulk-len"), "proto-max-bulk-len"), "1073741824");
  ASSERT_EQ(SetAs(&config, At("slowlog-log-slower-than"), "slowlog-log-slower-than", "-1"), std::nullopt);
  EXPECT_EQ(Get(config, At("slowlog.log_slower_than")), "off");
  EXPECT_EQ(GetAs(config, At("slowlog.log_slower_than"), "slowlog-log-slower-than"), "-1");
  for (const char* bad : {"", "x", "-1", "1s", "9223372036854775807", "99999999999"}) {
    EXPECT_NE(SetAs(&config, At("timeout"), "timeout", bad), std::nullopt) << bad;
  }
  EXPECT_NE(SetAs(&config, At("maxclients"), "maxclients", "0"), std::nullopt);
  EXPECT_EQ(config.limits.clients, 10000);
}

TEST(ConfigFields, FieldIsFoundInEitherCaseAndUnknownNamesAreNot) {
  EXPECT_EQ(FindField("MaxClients"), FindField("limits.clients"));
  EXPECT_EQ(FindField("LIMITS.CLIENTS"), FindField("limits.clients"));
  EXPECT_EQ(FindField(""), nullptr);
  EXPECT_EQ(FindField("limits"), nullptr);
  EXPECT_EQ(FindField("shards"), nullptr);
}

TEST(ConfigFields, ListKeepsItsOldItemsWhenOneItemIsRefused) {
  Config config;
  EXPECT_NE(Set(&config, At("listen"), "127.0.0.1:1 nonsense"), std::nullopt);
  EXPECT_EQ(Get(config, At("listen")), "127.0.0.1:6380");
  EXPECT_NE(Set(&config, At("listen"), "127.0.0.1:1 127.0.0.1:1"), std::nullopt);
  EXPECT_EQ(Set(&config, At("listen"), "127.0.0.1:0 127.0.0.1:0"), std::nullopt);
  EXPECT_NE(Set(&config, At("listen"), " "), std::nullopt);
  EXPECT_EQ(Set(&config, At("hot_keys.patterns"), ""), std::nullopt);
  std::string many;
  for (size_t i = 0; i < kMaxListItems; ++i) many.append("p").append(std::to_string(i)).append(" ");
  EXPECT_EQ(Set(&config, At("hot_keys.patterns"), many), std::nullopt);
  EXPECT_NE(Set(&config, At("hot_keys.patterns"), many + "one_more"), std::nullopt);
  EXPECT_EQ(config.hot_keys.patterns.size(), kMaxListItems);
}

TEST(ConfigFields, HotKeysAreSteeredWithoutARestart) {
  size_t found = 0;
  for (const Field& field : Fields()) {
    if (!field.path.starts_with("hot_keys.")) continue;
    EXPECT_TRUE(field.is_live()) << field.path;
    ++found;
  }
  EXPECT_EQ(found, 8u);
}

}  // namespace
}  // namespace ringway::config
