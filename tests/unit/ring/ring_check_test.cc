#include "ring/ring_check.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ring/hash_ring.h"

namespace ringway::ring {
namespace {

RingOptions With(Distribution distribution, HashFunction hash) {
  RingOptions options;
  options.distribution = distribution;
  options.hash = hash;
  return options;
}

std::string Problem(std::vector<Member> members, RingOptions options = {}) {
  return CheckRing(members, options).value_or("");
}

TEST(CheckRing, SoundRingsPass) {
  EXPECT_EQ(Problem({{"a", "", 1}}), "");
  EXPECT_EQ(Problem({{"a", "", 0}, {"b", "", 0.25}}), "");
  EXPECT_EQ(Problem({{"", "h:1", 1}, {"", "h:2", 3}}, With(Distribution::kKetama, HashFunction::kMd5)), "");
  EXPECT_EQ(Problem({{"a", "", 1}}, With(Distribution::kModula, HashFunction::kCrc16)), "");
}

TEST(CheckRing, AnEmptyRingIsRefused) { EXPECT_EQ(Problem({}), "a ring needs at least one shard"); }

TEST(CheckRing, DuplicateNamesAreRefused) {
  EXPECT_EQ(Problem({{"a", "h:1", 1}, {"b", "h:2", 1}, {"a", "h:3", 1}}), "two shards are named a");
  EXPECT_EQ(Problem({{"", "h:1", 1}, {"", "h:1", 2}}, With(Distribution::kKetama, HashFunction::kMd5)),
            "two shards are named h:1");
}

TEST(CheckRing, AMissingNameIsRefusedWhereItDecides) {
  EXPECT_EQ(Problem({{"", "h:1", 1}}), "shard h:1 has no name, and the name decides its place on the ring");
  EXPECT_EQ(Problem({{"", "", 1}}, With(Distribution::kKetama, HashFunction::kMd5)),
            "shard number 1 has neither a name nor an address");
}

TEST(CheckRing, UselessWeightsAreRefused) {
  EXPECT_EQ(Problem({{"a", "", -1}}), "shard a has a negative weight, -1");
  EXPECT_EQ(Problem({{"a", "", std::nan("")}}), "shard a has a weight that is not a number");
  EXPECT_EQ(Problem({{"a", "", std::numeric_limits<double>::infinity()}}),
            "shard a has weight inf; the largest is 1e+06");
  EXPECT_EQ(Problem({{"a", "", 1000001}}), "shard a has weight 1e+06; the largest is 1e+06");
  EXPECT_EQ(Problem({{"a", "", 0}, {"b", "", 0}}), "every shard has weight 0, so no shard would own a key");
}

TEST(CheckRing, FractionalWeightsAreRefusedForTwemproxysDistributions) {
  EXPECT_EQ(Problem({{"a", "", 1.5}}, With(Distribution::kKetama, HashFunction::kMd5)),
            "shard a has weight 1.5, but distribution ketama knows whole weights only");
  EXPECT_NE(Problem({{"a", "", 0.5}}, With(Distribution::kModula, HashFunction::kMd5)), "");
  EXPECT_EQ(Problem({{"a", "", 1.5}}), "");
}

TEST(CheckRing, EachHashFitsItsDistributionOnly) {
  for (HashFunction hash : AllHashFunctions()) {
    const bool xxh3 = hash == HashFunction::kXxh3;
    EXPECT_EQ(Problem({{"a", "", 1}}, With(Distribution::kRing, hash)).empty(), xxh3) << Name(hash);
    EXPECT_EQ(Problem({{"a", "", 1}}, With(Distribution::kKetama, hash)).empty(), !xxh3) << Name(hash);
    EXPECT_EQ(Problem({{"a", "", 1}}, With(Distribution::kModula, hash)).empty(), !xxh3) << Name(hash);
  }
}

TEST(CheckRing, VirtualNodesHaveLimitsOnBothSides) {
  RingOptions options;
  for (auto [count, sound] : {std::pair{0u, false},
                              {1u, true},
                              {kMaxVirtualNodes, true},
                              {kMaxVirtualNodes + 1, false},
                              {UINT32_MAX, false}}) {
    options.virtual_nodes = count;
    EXPECT_EQ(Problem({{"a", "", 1}}, options).empty(), sound) << count;
  }
}

TEST(CheckRing, TheTotalOfVirtualNodesHasALimitOnBothSides) {
  RingOptions options;
  options.virtual_nodes = 4096;
  EXPECT_EQ(Problem({{"a", "", 4095}, {"b", "", 1}}, options), "");
  EXPECT_NE(Problem({{"a", "", 4096}, {"b", "", 1}}, options), "");
  options.virtual_nodes = kMaxVirtualNodes;
  EXPECT_NE(Problem({{"a", "", kMaxWeight}}, options), "");
  const RingOptions modula = With(Distribution::kModula, HashFunction::kMd5);
  std::vector<Member> members;
  for (int i = 0; i < 17; ++i) members.push_back({"s" + std::to_string(i), "", kMaxWeight});
  EXPECT_NE(Problem(members, modula), "");
  members.pop_back();
  EXPECT_EQ(Problem(members, modula), "");
}

TEST(CheckRing, TheNumberOfShardsHasALimitOnBothSides) {
  std::vector<Member> members;
  for (uint32_t i = 0; i < kMaxMembers; ++i) members.push_back({"s" + std::to_string(i), "", 1});
  EXPECT_EQ(Problem(members), "");
  members.push_back({"one more", "", 1});
  EXPECT_EQ(Problem(members), "a ring holds at most 4096 shards, not 4097");
}

TEST(CheckRing, TheCapHasLimitsOnBothSides) {
  RingOptions options;
  for (double cap : {0.0, 0.01, 1.0}) {
    options.balance_cap = cap;
    EXPECT_EQ(Problem({{"a", "", 1}}, options), "");
  }
  for (double cap : {-0.01, 1.01, std::nan("")}) {
    options.balance_cap = cap;
    EXPECT_NE(Problem({{"a", "", 1}}, options), "");
  }
}

TEST(CheckRing, AHashTagIsTwoCharactersOrNone) {
  RingOptions options;
  for (const char* tag : {"", "{}", "$$"}) {
    options.hash_tag = tag;
    EXPECT_EQ(Problem({{"a", "", 1}}, options), "");
  }
  for (const char* tag : {"{", "{}}"}) {
    options.hash_tag = tag;
    EXPECT_NE(Problem({{"a", "", 1}}, options), "");
  }
}

TEST(RingWarning, ThePairsThatSpreadBadlyAreNamedAndOnlyThose) {
  int warnings = 0;
  for (Distribution distribution : AllDistributions()) {
    for (HashFunction hash : AllHashFunctions()) {
      if (RingWarning(With(distribution, hash))) ++warnings;
    }
  }
  EXPECT_EQ(warnings, 3);
  EXPECT_TRUE(RingWarning(With(Distribution::kKetama, HashFunction::kCrc32)));
  EXPECT_TRUE(RingWarning(With(Distribution::kKetama, HashFunction::kFnv1_64)));
  EXPECT_TRUE(RingWarning(With(Distribution::kModula, HashFunction::kFnv1a_64)));
}

TEST(Names, ReadBackAsWritten) {
  for (Distribution distribution : AllDistributions()) {
    EXPECT_EQ(ParseDistribution(Name(distribution)), distribution);
  }
  for (HashFunction hash : AllHashFunctions()) EXPECT_EQ(ParseHashFunction(Name(hash)), hash);
  EXPECT_EQ(AllHashFunctions().size(), 13u);
  EXPECT_EQ(Name(HashFunction::kJenkins), "jenkins");
  for (const char* wrong : {"", "Ring", "ketama ", "random", "xxh64"}) {
    EXPECT_EQ(ParseDistribution(wrong), std::nullopt);
    EXPECT_EQ(ParseHashFunction(wrong), std::nullopt);
  }
}

}  // namespace
}  // namespace ringway::ring
