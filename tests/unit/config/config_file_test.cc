#include "config/config_file.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "config/config_fields.h"

namespace ringway::config {
namespace {

// A folder of its own that goes away with the test.
class ConfigFile : public testing::Test {
 protected:
  ConfigFile() {
    std::string pattern = testing::TempDir() + "/ringway-config-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~ConfigFile() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text, mode_t mode = 0600) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }

  std::string folder_;
};

Config Parse(std::string_view yaml) {
  const Result<Config> config = ParseConfig(yaml, "f");
  EXPECT_TRUE(config.ok()) << config.problems().front().ToString();
  return config.ok() ? config.value() : Config();
}

TEST_F(ConfigFile, EveryOptionOfTheExampleArrivesInItsPlace) {
  const Config config = Parse(R"(
listen: [127.0.0.1:6380, unix:/run/ringway/ringway.sock]
threads: 2
http: 127.0.0.1:9380
state_file: /var/lib/ringway/state.yaml
ring:
  distribution: ring
  hash: xxh3
  virtual_nodes: 512
  balance_cap: off
  hash_tag: "[]"
  multi_key: same_shard
shards:
  - {name: cache1, address: 10.0.0.1:6379, weight: 1.5}
  - {name: cache2, address: "unix:/run/redis/2.sock", user: u, password: 123}
shard_auth: {password: common}
timeouts: {connect: 2s, request: 0, idle_client: 5m, drain: 1s}
limits: {clients: 5, request_bytes: 1mb, client_output: 2mb, pipeline: 6, in_flight_per_shard: 7}
hot_keys: {detect: off, buckets: 4, threshold: 0.5, min_rate: 9, max_staleness: 2s, patterns: ["a*", b],
           never: "s*", max_bytes: 64kb}
migration: {mover: relay, keys_per_second: 8, max_source_busy: 0.5, purge_target: yes}
slowlog: {log_slower_than: 250us, max_len: 3}
log: {level: debug, file: /tmp/log}
requirepass: "pass word"
databases: 3
)");
  EXPECT_EQ(Get(config, *FindField("listen")), "127.0.0.1:6380 unix:/run/ringway/ringway.sock");
  EXPECT_EQ(config.threads, 2);
  EXPECT_EQ(config.http->ToString(), "127.0.0.1:9380");
  EXPECT_EQ(config.state_file, "/var/lib/ringway/state.yaml");
  EXPECT_EQ(config.ring.virtual_nodes, 512u);
  EXPECT_EQ(config.ring.balance_cap, std::nullopt);
  EXPECT_EQ(config.ring.hash_tag, "[]");
  EXPECT_EQ(config.multi_key, MultiKey::kSameShard);
  ASSERT_EQ(config.shards.size(), 2u);
  EXPECT_EQ(config.shards[0].weight, 1.5);
  EXPECT_EQ(config.shards[0].user, "");
  EXPECT_EQ(config.shards[0].password, "common");
  EXPECT_EQ(config.shards[1].path, "/run/redis/2.sock");
  EXPECT_EQ(config.shards[1].user, "u");
  EXPECT_EQ(config.shards[1].password, "123");
  EXPECT_EQ(config.timeouts.request_ms, 0);
  EXPECT_EQ(config.timeouts.idle_client_ms, 300'000);
  EXPECT_EQ(config.limits.client_output_bytes, 2 << 20);
  EXPECT_FALSE(config.hot_keys.detect);
  EXPECT_EQ(config.hot_keys.patterns, (std::vector<std::string>{"a*", "b"}));
  EXPECT_EQ(config.hot_keys.never, (std::vector<std::string>{"s*"}));
  EXPECT_EQ(config.hot_keys.max_bytes, 64 * 1024);
  EXPECT_EQ(config.migration.mover, Mover::kRelay);
  EXPECT_TRUE(config.migration.purge_target);
  EXPECT_EQ(config.slowlog.log_slower_than_usec, 250);
  EXPECT_EQ(config.log.level, LogLevel::kDebug);
  EXPECT_EQ(config.requirepass, "pass word");
  EXPECT_EQ(config.databases, 3);
}

TEST_F(ConfigFile, OptionsThatAreAbsentKeepTheirDefaults) {
  const Config config = Parse("shards: [{name: a, address: 'h:1'}]\nlimits:\n");
  for (const Field& field : Fields()) EXPECT_TRUE(SameValue(config, Config(), field)) << field.path;
}

TEST_F(ConfigFile, ListenTakesASingleAddressToo) {
  const Config config = Parse("dev_shards: 1\nlisten: '[::1]:0'\n");
  ASSERT_EQ(config.listen.size(), 1u);
  EXPECT_EQ(config.listen[0].host, "::1");
}

TEST_F(ConfigFile, KetamaWithoutHashTakesTwemproxysDefault) {
  const std::string shard = "shards: [{name: a, address: 'h:1'}]\n";
  EXPECT_EQ(Parse(shard + "ring: {distribution: ketama}\n").ring.hash, ring::HashFunction::kFnv1a_64);
  EXPECT_EQ(Parse(shard + "ring: {distribution: ketama, hash: md5}\n").ring.hash, ring::HashFunction::kMd5);
  EXPECT_EQ(Parse(shard + "ring: {distribution: ring}\n").ring.hash, ring::HashFunction::kXxh3);
}

TEST_F(ConfigFile, UnevenPairOfHashAndDistributionIsTakenWithAWarning) {
  const auto warnings = [](const char* distribution, const char* hash) {
    const Result<Config> config = ParseConfig(
        "dev_shards: 2\nring: {distribution: " + std::string(distribution) + ", hash: " + hash + "}\n", "f");
    EXPECT_TRUE(config.ok());
    for (const Problem& warning : config.warnings()) EXPECT_EQ(warning.where, "f:2");
    return config.warnings().size();
  };
  EXPECT_EQ(warnings("ketama", "crc32"), 1u);
  EXPECT_EQ(warnings("ketama", "fnv1_64"), 1u);
  EXPECT_EQ(warnings("modula", "fnv1a_64"), 1u);
  EXPECT_EQ(warnings("ketama", "fnv1a_64"), 0u);
  EXPECT_EQ(warnings("modula", "murmur"), 0u);
}

TEST_F(ConfigFile, PasswordsComeFromFilesWithoutTheirLineEnding) {
  const std::string one = Write("one", "first\n");
  const std::string two = Write("two", "se cond\r\n");
  const Config config = Parse(
      "requirepass_file: " + one + "\nshard_auth: {password_file: " + one +
      "}\nshards:\n- {name: a, address: 'h:1'}\n- {name: b, address: 'h:2', password_file: " + two + "}\n");
  EXPECT_EQ(config.requirepass, "first");
  ASSERT_EQ(config.shards.size(), 2u);
  EXPECT_EQ(config.shards[0].password, "first");
  EXPECT_EQ(config.shards[1].password, "se cond");
}

TEST_F(ConfigFile, SecretFileThatIsEmptyLongOrOpenToAllIsNoticed) {
  EXPECT_FALSE(ReadSecretFile(Write("empty", "\n")).ok());
  EXPECT_FALSE(ReadSecretFile(Write("lines", "a\nb\n")).ok());
  EXPECT_FALSE(ReadSecretFile(folder_).ok());
  EXPECT_FALSE(ReadSecretFile(folder_ + "/none").ok());
  EXPECT_TRUE(ReadSecretFile(Write("longest", std::string(kMaxSecretBytes, 's'))).ok());
  EXPECT_FALSE(ReadSecretFile(Write("longer", std::string(kMaxSecretBytes + 1, 's'))).ok());
  EXPECT_EQ(ReadSecretFile(Write("open", "s", 0644)).warnings().size(), 1u);
  EXPECT_EQ(ReadSecretFile(Write("closed", "s", 0640)).warnings().size(), 0u);
}

TEST_F(ConfigFile, FileOnDiskIsReadAndNamedInItsProblems) {
  const std::string good = Write("good.yaml", "dev_shards: 3\n");
  EXPECT_TRUE(LoadConfigFile(good).ok());
  const std::string bad = Write("bad.yaml", "dev_shards: 3\nthreads: 0.5\n");
  const Result<Config> config = LoadConfigFile(bad);
  ASSERT_EQ(config.problems().size(), 1u);
  EXPECT_EQ(config.problems()[0].where, bad + ":2");
  EXPECT_EQ(LoadConfigFile(folder_ + "/none").problems().size(), 1u);
  EXPECT_EQ(LoadConfigFile(folder_).problems().at(0).what, "expected a file, found a folder");
}

TEST_F(ConfigFile, ThousandShardsAreTakenAndMoreThanTheRingHoldsAreNot) {
  const auto shards = [](size_t count) {
    std::string text = "ring: {virtual_nodes: 16}\nshards:\n";
    for (size_t i = 0; i < count; ++i) {
      text += "- {name: s" + std::to_string(i) + ", address: 'h:" + std::to_string(i + 1) + "'}\n";
    }
    return text;
  };
  EXPECT_EQ(Parse(shards(1000)).shards.size(), 1000u);
  EXPECT_EQ(Parse(shards(4096)).shards.size(), 4096u);
  EXPECT_EQ(ParseConfig(shards(4097), "f").problems().size(), 1u);
}

// Nobody should believe that it works, nor be kept from starting by an option that is to come.
TEST_F(ConfigFile, HttpPageIsBelievedToBeServed) {
  const Result<Config> with = ParseConfig("http: 127.0.0.1:9380\nshards: [{name: a, address: 'h:1'}]\n", "f");
  ASSERT_TRUE(with.ok());
  ASSERT_EQ(with.warnings().size(), 1u);
  EXPECT_EQ(with.warnings()[0].ToString(),
            "http is not served in this version: nothing listens on 127.0.0.1:9380");
  const Result<Config> off = ParseConfig("http: off\nshards: [{name: a, address: 'h:1'}]\n", "f");
  ASSERT_TRUE(off.ok());
  EXPECT_TRUE(off.warnings().empty());
}

}  // namespace
}  // namespace ringway::config
