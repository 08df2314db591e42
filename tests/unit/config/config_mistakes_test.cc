// Each mistake a person can make in the file, with the line it is reported at and what is said.
#include <gtest/gtest.h>

#include "config/config_file.h"
#include "config/values.h"

namespace ringway::config {
namespace {

constexpr const char* kShard = "shards: [{name: a, address: 'h:1'}]\n";

Result<std::string> NoSecrets(const std::string& path) {
  return Result<std::string>::Failure({{path, "cannot be opened"}});
}

// All problems, one a line.
std::string Problems(std::string_view yaml) {
  const Result<Config> config = ParseConfig(yaml, "f", NoSecrets);
  std::string text;
  for (const Problem& problem : config.problems())
    text.append(text.empty() ? "" : "\n").append(problem.ToString());
  return text;
}

TEST(ConfigMistakes, UnknownOptionIsNamedWithTheNearestOne) {
  EXPECT_EQ(Problems(std::string(kShard) + "lisen: 1\n"),
            "f:2: there is no option \"lisen\"; did you mean listen?");
  EXPECT_EQ(Problems(std::string(kShard) + "limits:\n  client: 5\n"),
            "f:3: there is no option \"limits.client\"; did you mean limits.clients?");
  EXPECT_EQ(Problems(std::string(kShard) + "zzzzzzzz: 1\n"), "f:2: there is no option \"zzzzzzzz\"");
  EXPECT_EQ(Problems(std::string(kShard) + "limits.clients: 5\n"),
            "f:2: there is no option \"limits.clients\"; expected a map for its section");
  EXPECT_EQ(Problems("shards:\n- {name: a, address: 'h:1', wieght: 2}\n"),
            "f:2: a shard has no option \"wieght\"; did you mean weight?");
}

TEST(ConfigMistakes, WrongTypeSaysWhatWasExpected) {
  EXPECT_EQ(Problems(std::string(kShard) + "threads: many\n"),
            "f:2: threads: expected a whole number from 1 to 256, or auto, found \"many\"");
  EXPECT_EQ(Problems(std::string(kShard) + "threads: [1]\n"),
            "f:2: threads: expected a whole number from 1 to 256, or auto, found a list");
  EXPECT_EQ(Problems(std::string(kShard) + "threads:\n"),
            "f:2: threads: expected a whole number from 1 to 256, or auto, found nothing");
  EXPECT_EQ(Problems(std::string(kShard) + "limits: 7\n"),
            "f:2: limits: expected a map of options, found \"7\"");
  EXPECT_EQ(Problems(std::string(kShard) + "hot_keys: {detect: maybe}\n"),
            "f:2: hot_keys.detect: expected true or false, found \"maybe\"");
  EXPECT_EQ(Problems(std::string(kShard) + "? [a]\n: b\n"),
            "f:2: expected the name of an option, found a list");
  EXPECT_EQ(Problems(std::string(kShard) + "requirepass: {a: b}\n"),
            "f:2: requirepass: expected a text, found a map");
}

TEST(ConfigMistakes, TopThatIsNoMapIsRefused) {
  EXPECT_EQ(Problems("[a]\n"), "f:1: expected a map of options at the top, found a list");
  EXPECT_EQ(Problems("hello\n"), "f:1: expected a map of options at the top, found \"hello\"");
}

TEST(ConfigMistakes, NumberOutOfRangeOrTooLargeForAnyTypeIsRefused) {
  const std::string expected = "f:2: limits.clients: expected a whole number from 1 to 1000000, found ";
  for (const std::string& number :
       std::vector<std::string>{"0", "-1", "1000001", "9223372036854775808", "1e3", "0x10", "1.0"}) {
    EXPECT_EQ(Problems(std::string(kShard) + "limits: {clients: " + number + "}\n"),
              expected + "\"" + number + "\"");
  }
  EXPECT_EQ(Problems(std::string(kShard) + "limits: {clients: 1000000}\n"), "");
}

TEST(ConfigMistakes, DurationWithoutUnitIsAskedForOne) {
  EXPECT_EQ(Problems(std::string(kShard) + "timeouts: {request: 200}\n"),
            "f:2: timeouts.request: expected a duration from 1ms to 1h, or off, with its unit (us, ms, s, m, "
            "h, d), "
            "found \"200\"");
  EXPECT_EQ(Problems(std::string(kShard) + "timeouts: {request: 250us}\n"),
            "f:2: timeouts.request: expected a duration from 1ms to 1h, or off, found \"250us\"");
  EXPECT_EQ(Problems(std::string(kShard) + "limits: {request_bytes: 512mib}\n"),
            "f:2: limits.request_bytes: expected a size from 1mb to 1024gb, found \"512mib\"");
}

TEST(ConfigMistakes, KeySetTwiceNamesBothLines) {
  EXPECT_EQ(Problems(std::string(kShard) + "threads: 1\nlog: {level: info}\nthreads: 2\n"),
            "f:4: threads is already set in line 2");
  EXPECT_EQ(Problems(std::string(kShard) + "log:\n  level: info\n  level: warn\n"),
            "f:4: log.level is already set in line 3");
  EXPECT_EQ(Problems("shards:\n- name: a\n  address: h:1\n  name: b\n"),
            "f:4: name is already set for this shard in line 2");
}

TEST(ConfigMistakes, BadAddressIsReportedAtItsItem) {
  EXPECT_EQ(Problems(std::string(kShard) + "listen:\n  - 127.0.0.1:1\n  - 127.0.0.1\n"),
            "f:4: listen: expected host:port, [v6]:port or unix:/path, found \"127.0.0.1\"");
  EXPECT_EQ(Problems(std::string(kShard) + "listen: []\n"),
            "f:2: listen: expected host:port or unix:/path, or a list of these, found an empty list");
  EXPECT_EQ(Problems(std::string(kShard) + "listen: [a:1, a:1]\n"),
            "f:2: listen: this address is already in the list, found \"a:1\"");
  EXPECT_EQ(Problems(std::string(kShard) + "http: ::1:80\n"),
            "f:2: http: an IPv6 address is written as [address]:port, or off, found \"::1:80\"");
}

TEST(ConfigMistakes, MissingShardsAreAskedFor) {
  const std::string expected =
      "no shards: expected a list under shards:, --shard name=address or --dev-shards N";
  EXPECT_EQ(Problems(""), "f: " + expected);
  EXPECT_EQ(Problems("threads: 1\nshards: []\n"), "f:2: " + expected);
  EXPECT_EQ(Problems("shards:\n"), "f:1: " + expected);
  EXPECT_EQ(Problems("dev_shards: 2\n"), "");
  EXPECT_EQ(Problems("dev_shards: 2\n" + std::string(kShard)),
            "f:2: shards and dev_shards are both given; expected one of them");
}

TEST(ConfigMistakes, StateOfShardsThatAreGoneIsKept) {
  const Result<Config> dev = ParseConfig("dev_shards: 2\nstate_file: /s\n", "f");
  ASSERT_TRUE(dev.ok());
  EXPECT_EQ(dev.value().state_file, "");
  ASSERT_EQ(dev.warnings().size(), 1u);
  EXPECT_EQ(dev.warnings()[0].ToString(),
            "state_file is not used with dev_shards, which are new at each start");
  const Result<Config> own = ParseConfig(std::string(kShard) + "state_file: /s\n", "f");
  EXPECT_EQ(own.value().state_file, "/s");
  EXPECT_TRUE(own.warnings().empty());
}

TEST(ConfigMistakes, BadShardIsReportedAtItsLine) {
  EXPECT_EQ(Problems("shards:\n- {address: 'h:1'}\n- {name: b}\n"),
            "f:2: this shard has no name\nf:3: this shard has no address");
  EXPECT_EQ(Problems("shards: {a: 'h:1'}\n"), "f:1: shards: expected a list of shards, found a map");
  EXPECT_EQ(Problems("shards: [h:1]\n"),
            "f:1: shards: expected {name: ..., address: host:port}, found \"h:1\"");
  EXPECT_EQ(Problems("shards:\n- name: a\n  address: h:0\n"),
            "f:3: address: expected a port from 1 to 65535 after the last colon, found \"h:0\"");
  EXPECT_EQ(Problems("shards:\n- name: a\n  address: h:1\n  weight: -1\n"),
            "f:4: weight: expected a number from 0 to 1000000, found \"-1\"");
  EXPECT_EQ(Problems("shards:\n- name: a\n  address: h:1\n  weight: [1]\n"),
            "f:4: weight: expected a single value, found a list");
}

TEST(ConfigMistakes, TwoShardsOfOneNameOrAddressAreNoticedThoughOneIsWrongOtherwise) {
  EXPECT_EQ(Problems("shards:\n- {name: a, address: 'h:1'}\n- {name: a, address: 'h:2', weight: x}\n"
                     "- {name: b, address: 'H:1'}\n"),
            "f:3: weight: expected a number from 0 to 1000000, found \"x\"\n"
            "f:3: the name \"a\" is already taken at f:2\n"
            "f:4: the address \"H:1\" is already that of the shard at f:2");
}

TEST(ConfigMistakes, ImpossibleRingIsRefused) {
  EXPECT_EQ(Problems("shards: [{name: a, address: 'h:1', weight: 0}]\n"),
            "f:1: ring: every shard has weight 0, so no shard would own a key");
  EXPECT_EQ(Problems(std::string(kShard) + "ring: {hash: murmur}\n").rfind("f:2: ring: ", 0), 0u);
  EXPECT_EQ(
      Problems(std::string(kShard) + "ring: {distribution: ketama, hash: xxh3}\n").rfind("f:2: ring: ", 0),
      0u);
  EXPECT_EQ(Problems(std::string(kShard) + "ring: {hash_tag: '{'}\n").rfind("f:2: ring: ", 0), 0u);
}

TEST(ConfigMistakes, SecretThatCannotBeReadNamesTheFile) {
  EXPECT_EQ(Problems(std::string(kShard) + "requirepass_file: /x\n"),
            "f:2: requirepass_file: /x: cannot be opened");
  EXPECT_EQ(Problems(std::string(kShard) + "requirepass_file: [a]\n"),
            "f:2: requirepass_file: expected the path of a file, found a list");
  EXPECT_EQ(Problems("shards:\n- name: a\n  address: h:1\n  password: p\n  password_file: /x\n"),
            "f:5: password_file: cannot be opened, found \"/x\"\n"
            "f:5: password and password_file are both set for this shard; expected one");
  EXPECT_EQ(Problems(std::string(kShard) + "shard_auth: {user: u}\n"),
            "f:1: shard_auth has a user but no password");
  EXPECT_EQ(Problems("shards: [{name: a, address: 'h:1', user: u}]\n"),
            "f:1: this shard has a user but no password");
}

TEST(ConfigMistakes, NoMessageHoldsASecret) {
  const std::string secret(5000, 'S');
  for (const std::string& yaml :
       std::vector<std::string>{std::string(kShard) + "requirepass: " + secret + "\n",
                                "shards: [{name: a, address: 'h:1', password: " + secret + "}]\n",
                                std::string(kShard) + "shard_auth: {password: " + secret + "}\n",
                                std::string(kShard) + "requirepass: \"SSSS\\x01\"\n"}) {
    const std::string problems = Problems(yaml);
    EXPECT_NE(problems, "");
    EXPECT_EQ(problems.find("SSS"), std::string::npos) << problems;
  }
}

TEST(ConfigMistakes, EverythingIsReportedInOneGoInTheOrderOfTheFile) {
  EXPECT_EQ(Problems("threads: x\n"
                     "shards:\n"
                     "- {name: a, address: 'h:1'}\n"
                     "- {name: a, address: h}\n"
                     "- {name: a, address: 'h:3'}\n"
                     "ring:\n"
                     "  distribution: rung\n"
                     "limits: {clients: 0, pipelin: 3}\n"),
            "f:1: threads: expected a whole number from 1 to 256, or auto, found \"x\"\n"
            "f:4: address: expected host:port, [v6]:port or unix:/path, found \"h\"\n"
            "f:5: the name \"a\" is already taken at f:3\n"
            "f:7: ring.distribution: expected one of ring, ketama, modula, found \"rung\"\n"
            "f:8: limits.clients: expected a whole number from 1 to 1000000, found \"0\"\n"
            "f:8: there is no option \"limits.pipelin\"; did you mean limits.pipeline?");
}

TEST(ConfigMistakes, FileOverTheSizeLimitIsNotParsed) {
  const std::string comment =
      "# " + std::string(kMaxConfigBytes - std::string(kShard).size() - 3, 'x') + "\n";
  EXPECT_EQ(Problems(kShard + comment), "");
  EXPECT_EQ(Problems(kShard + comment + " ").rfind("f: expected at most 4mb", 0), 0u);
}

}  // namespace
}  // namespace ringway::config
