#include "protocol/command_keys.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/made_request.h"

namespace ringway::protocol {
namespace {

using test::MadeRequest;
using test::Words;
using ::testing::ElementsAre;

const CommandRow& RowOf(const RequestView& request) {
  const CommandRow* row = FindCommand(request[0]);
  if (HasSubcommands(*row)) row = FindSubcommand(*row, request[1]);
  return *row;
}

struct Found {
  KeyStatus status;
  std::vector<std::string> keys;
};

Found Find(std::string_view text) {
  const MadeRequest request(Words(text));
  KeyList list;
  Found found{FindKeys(RowOf(request.view()), request.view(), &list), {}};
  for (const uint32_t index : list) found.keys.emplace_back(request.view()[index]);
  EXPECT_EQ(found.status == KeyStatus::kOk, !found.keys.empty()) << text;
  return found;
}

TEST(CommandKeys, OneKey) {
  EXPECT_THAT(Find("GET k").keys, ElementsAre("k"));
  EXPECT_THAT(Find("set k v EX 10").keys, ElementsAre("k"));
  EXPECT_THAT(Find("OBJECT ENCODING k").keys, ElementsAre("k"));
  EXPECT_THAT(Find("MEMORY USAGE k SAMPLES 5").keys, ElementsAre("k"));
  EXPECT_THAT(Find("XGROUP CREATE k g $ MKSTREAM").keys, ElementsAre("k"));
}

TEST(CommandKeys, SeveralKeys) {
  EXPECT_THAT(Find("MGET a b c").keys, ElementsAre("a", "b", "c"));
  EXPECT_THAT(Find("MSET a 1 b 2").keys, ElementsAre("a", "b"));
  EXPECT_THAT(Find("SUNIONSTORE d a b").keys, ElementsAre("d", "a", "b"));
  EXPECT_THAT(Find("BITOP AND d a b").keys, ElementsAre("d", "a", "b"));
  EXPECT_THAT(Find("BLPOP a b 0").keys, ElementsAre("a", "b"));
  EXPECT_THAT(Find("LMOVE a b LEFT RIGHT").keys, ElementsAre("a", "b"));
}

TEST(CommandKeys, CountedKeys) {
  EXPECT_THAT(Find("EVAL script 2 a b arg").keys, ElementsAre("a", "b"));
  EXPECT_THAT(Find("ZUNIONSTORE d 2 a b WEIGHTS 1 2").keys, ElementsAre("d", "a", "b"));
  EXPECT_THAT(Find("BLMPOP 0 2 a b LEFT").keys, ElementsAre("a", "b"));
  EXPECT_THAT(Find("SINTERCARD 1 a LIMIT 3").keys, ElementsAre("a"));
}

TEST(CommandKeys, AScriptWithoutKeysRightlyHasNone) {
  EXPECT_EQ(Find("EVAL script 0").status, KeyStatus::kNoKeys);
  EXPECT_EQ(Find("FCALL f 0 arg").status, KeyStatus::kNoKeys);
  EXPECT_EQ(Find("ZUNION 0 a").status, KeyStatus::kInvalid);
}

TEST(CommandKeys, BrokenCountsGiveNoKeysAndReadNothingBeyondTheRequest) {
  for (const char* count : {"-1", "3", "x", "99999999999999999999", "2147483647", "2147483648", "-2147483648",
                            "9223372036854775807", "-9223372036854775808", "4294967295", "''"}) {
    EXPECT_EQ(Find("EVAL script " + std::string(count) + " a b").status, KeyStatus::kInvalid) << count;
    EXPECT_EQ(Find("ZUNIONSTORE d " + std::string(count) + " a b").status, KeyStatus::kInvalid) << count;
    EXPECT_EQ(Find("BZMPOP 0 " + std::string(count) + " a b").status, KeyStatus::kInvalid) << count;
  }
}

TEST(CommandKeys, StoreOptions) {
  EXPECT_THAT(Find("SORT k BY w_* GET # STORE d").keys, ElementsAre("k", "d"));
  EXPECT_THAT(Find("SORT k STORE a STORE b").keys, ElementsAre("k", "b"));
  EXPECT_THAT(Find("SORT k BY STORE LIMIT 0 STORE").keys, ElementsAre("k"));
  EXPECT_THAT(Find("SORT_RO k BY w_*").keys, ElementsAre("k"));
  EXPECT_THAT(Find("GEORADIUS k 1 2 3 m STORE d").keys, ElementsAre("k", "d"));
  EXPECT_THAT(Find("GEORADIUS k 1 2 3 m STOREDIST e store d").keys, ElementsAre("k", "d", "e"));
  EXPECT_THAT(Find("GEORADIUS k 1 2 3 m STORE store ASC").keys, ElementsAre("k", "store"));
  EXPECT_THAT(Find("GEORADIUSBYMEMBER k store 3 m STORE d").keys, ElementsAre("k", "d"));
  EXPECT_THAT(Find("GEORADIUS k 1 2 3 m STORE").keys, ElementsAre("k"));
}

// The server stores under the last name, so that name decides the shard too.
TEST(CommandKeys, EveryStoreOptionOfGeoradiusIsAKey) {
  EXPECT_THAT(Find("GEORADIUS k 1 2 3 m STORE a STORE b").keys, ElementsAre("k", "a", "b"));
}

TEST(CommandKeys, Streams) {
  EXPECT_THAT(Find("XREAD COUNT 2 STREAMS a b 0 0").keys, ElementsAre("a", "b"));
  EXPECT_THAT(Find("XREAD STREAMS streams 0").keys, ElementsAre("streams"));
  EXPECT_THAT(Find("XREADGROUP GROUP streams c STREAMS a >").keys, ElementsAre("a"));
  EXPECT_THAT(Find("XREADGROUP NOACK GROUP g streams STREAMS a >").keys, ElementsAre("a"));
  EXPECT_THAT(Find("XREAD STREAMS a b 0").keys, ElementsAre("a"));
  EXPECT_EQ(Find("XREAD STREAMS a").status, KeyStatus::kInvalid);
  EXPECT_EQ(Find("XREAD COUNT 1 BLOCK").status, KeyStatus::kInvalid);
}

TEST(CommandKeys, Migrate) {
  EXPECT_THAT(Find("MIGRATE h 1 k 0 5").keys, ElementsAre("k"));
  EXPECT_THAT(Find("MIGRATE h 1 '' 0 5 COPY REPLACE KEYS a b").keys, ElementsAre("a", "b"));
  EXPECT_THAT(Find("MIGRATE h 1 '' 0 5 AUTH keys KEYS a").keys, ElementsAre("a"));
  EXPECT_THAT(Find("MIGRATE h 1 '' 0 5 AUTH2 keys keys KEYS a").keys, ElementsAre("a"));
  EXPECT_THAT(Find("MIGRATE h 1 '' 0 5 AUTH AUTH2 KEYS a b").keys, ElementsAre("a", "b"));
  EXPECT_EQ(Find("MIGRATE h 1 k 0 5 KEYS a").status, KeyStatus::kInvalid);
}

TEST(CommandKeys, CommandsWithoutKeysHaveNone) {
  EXPECT_EQ(Find("PING").status, KeyStatus::kNoKeys);
  EXPECT_EQ(Find("SPUBLISH channel message").status, KeyStatus::kNoKeys);
  EXPECT_EQ(Find("CLIENT LIST").status, KeyStatus::kNoKeys);
}

// Arity is checked before, yet a mistake there must not become a read beyond the request.
TEST(CommandKeys, EveryCommandWithTooFewArgumentsIsAnswered) {
  KeyList keys;
  for (const CommandRow& row : AllCommands()) {
    for (size_t count = 1; count < 12; ++count) {
      for (const char* word : {"1", "STORE", "STREAMS", "KEYS", "5"}) {
        const MadeRequest request(std::vector<std::string>(count, word));
        const KeyStatus status = FindKeys(row, request.view(), &keys);
        EXPECT_EQ(status == KeyStatus::kOk, !keys.empty()) << row.name;
        for (const uint32_t index : keys) {
          ASSERT_GE(index, 1u) << row.name;
          ASSERT_LT(index, count) << row.name;
        }
      }
    }
  }
}

TEST(CommandKeys, TheListIsClearedAndKeepsItsMemory) {
  KeyList keys;
  std::vector<std::string> words(1001, "k");
  words[0] = "MGET";
  const MadeRequest many(words);
  FindKeys(*FindCommand("mget"), many.view(), &keys);
  EXPECT_EQ(keys.size(), 1000u);
  const uint32_t* memory = keys.begin();
  const MadeRequest one(Words("MGET k"));
  FindKeys(*FindCommand("mget"), one.view(), &keys);
  EXPECT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys.begin(), memory);
  FindKeys(*FindCommand("ping"), one.view(), &keys);
  EXPECT_TRUE(keys.empty());
}

TEST(CommandKeys, SortPatternsThatReadOtherKeysAreFound) {
  KeyList patterns;
  const MadeRequest request(Words("SORT k BY w_* LIMIT 0 10 GET # GET o_* STORE by*"));
  FindSortPatterns(request.view(), &patterns);
  EXPECT_THAT(std::vector<uint32_t>(patterns.begin(), patterns.end()), ElementsAre(3u, 10u));
  const MadeRequest plain(Words("SORT k BY nosort ALPHA"));
  FindSortPatterns(plain.view(), &patterns);
  EXPECT_TRUE(patterns.empty());
}

}  // namespace
}  // namespace ringway::protocol
