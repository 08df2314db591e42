#include "ring/ring_diff.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ringway::ring {
namespace {

std::vector<Member> Equal(int count) {
  std::vector<Member> members;
  for (int i = 0; i < count; ++i) members.push_back({"cache" + std::to_string(i), "", 1});
  return members;
}

RingOptions With(Distribution distribution, HashFunction hash) {
  RingOptions options;
  options.distribution = distribution;
  options.hash = hash;
  return options;
}

RingOptions Plain() {
  RingOptions options;
  options.balance_cap = std::nullopt;
  return options;
}

// Shares of the moves between each pair, counted key by key.
std::map<std::pair<uint32_t, uint32_t>, double> CountMoves(const HashRing& from, const HashRing& to,
                                                           int keys) {
  std::map<std::pair<uint32_t, uint32_t>, double> counted;
  for (int i = 0; i < keys; ++i) {
    const std::string key = "key:" + std::to_string(i);
    const uint32_t source = from.Locate(key);
    const uint32_t target = to.Locate(key);
    if (from.Identifier(source) != to.Identifier(target)) counted[{source, target}] += 1.0 / keys;
  }
  return counted;
}

void ExpectDiffMatchesKeys(const HashRing& from, const HashRing& to) {
  const RingDiff diff(from, to);
  auto counted = CountMoves(from, to, 200000);
  double sum = 0;
  for (const Move& move : diff.pairs()) {
    EXPECT_NEAR(move.share, (counted[{move.from, move.to}]), 0.006) << move.from << " to " << move.to;
    counted.erase({move.from, move.to});
    EXPECT_GT(move.share, 0);
    sum += move.share;
  }
  EXPECT_TRUE(counted.empty()) << "keys move between shards that the diff does not pair";
  EXPECT_NEAR(diff.moving_share(), sum, 1e-12);
}

TEST(RingDiff, PairsAgreeWithKeysCounted) {
  for (const RingOptions& options : {RingOptions{}, Plain(), With(Distribution::kKetama, HashFunction::kMd5),
                                     With(Distribution::kModula, HashFunction::kMd5)}) {
    SCOPED_TRACE(Name(options.distribution));
    const HashRing from(Equal(4), options);
    ExpectDiffMatchesKeys(from, HashRing(Equal(5), options));
    ExpectDiffMatchesKeys(from, HashRing({{"cache3", "", 3}, {"new", "", 1}, {"cache0", "", 1}}, options));
  }
}

TEST(RingDiff, SwitchingTheCapOnIsAChangeLikeAnyOther) {
  ExpectDiffMatchesKeys(HashRing(Equal(4), Plain()), HashRing(Equal(4), {}));
}

TEST(RingDiff, NothingMovesWhenOnlyOrderOrAddressChanges) {
  const HashRing from({{"a", "h:1", 1}, {"b", "h:2", 2}}, {});
  const HashRing to({{"b", "x:2", 2}, {"a", "x:1", 1}}, {});
  const RingDiff diff(from, to);
  EXPECT_TRUE(diff.pairs().empty());
  EXPECT_TRUE(diff.arcs().empty());
  EXPECT_EQ(diff.moving_share(), 0);
  EXPECT_EQ(diff.least_possible_share(), 0);
  EXPECT_EQ(diff.NewIndex(0), 1u);
}

TEST(RingDiff, ARenamedShardMovesEverythingThatItHad) {
  const RingDiff diff(HashRing({{"a", "h:1", 1}}, {}), HashRing({{"b", "h:1", 1}}, {}));
  ASSERT_EQ(diff.pairs().size(), 1u);
  EXPECT_DOUBLE_EQ(diff.moving_share(), 1);
  EXPECT_DOUBLE_EQ(diff.least_possible_share(), 1);
  EXPECT_EQ(diff.NewIndex(0), HashRing::kNoShard);
  EXPECT_TRUE(diff.Moves(0));
  EXPECT_TRUE(diff.Moves(UINT64_MAX));
}

TEST(RingDiff, MovesFromAndToAgreeWithTheArcs) {
  const RingDiff diff(HashRing(Equal(10), {}), HashRing(Equal(11), {}));
  uint64_t next = 0;
  ASSERT_FALSE(diff.arcs().empty());
  for (const RingDiff::MovingArc& arc : diff.arcs()) {
    for (uint64_t hash : {arc.first, arc.last}) {
      ASSERT_TRUE(diff.Moves(hash));
      ASSERT_EQ(diff.From(hash), arc.from);
      ASSERT_EQ(diff.To(hash), arc.to);
    }
    if (arc.first > next) {
      ASSERT_FALSE(diff.Moves(next));
      ASSERT_FALSE(diff.Moves(arc.first - 1));
    }
    next = arc.last + 1;
  }
}

TEST(RingDiff, TheLeastPossibleFollowsTheWantedShares) {
  const HashRing ten(Equal(10), {});
  EXPECT_NEAR(RingDiff(ten, HashRing(Equal(11), {})).least_possible_share(), 1.0 / 11, 1e-12);
  EXPECT_NEAR(RingDiff(ten, HashRing(Equal(9), {})).least_possible_share(), 1.0 / 10, 1e-12);
  std::vector<Member> doubled = Equal(10);
  doubled[3].weight = 2;
  EXPECT_NEAR(RingDiff(ten, HashRing(doubled, {})).least_possible_share(), 2.0 / 11 - 1.0 / 10, 1e-12);
}

TEST(RingDiff, ModuloOfElevenInsteadOfTenMovesTenElevenths) {
  const RingOptions modula = With(Distribution::kModula, HashFunction::kMd5);
  std::vector<Member> ten;
  for (char c = 'a'; c < 'k'; ++c) ten.push_back({std::string(1, c), "", 1});
  std::vector<Member> eleven = ten;
  eleven.push_back({"k", "", 1});
  const RingDiff diff(HashRing(ten, modula), HashRing(eleven, modula));
  EXPECT_NEAR(diff.moving_share(), 10.0 / 11, 1e-12);
  EXPECT_TRUE(diff.arcs().empty());
}

TEST(RingDiff, AnEleventhShardMovesAtMostFivePerCentMoreThanItMust) {
  for (const char* prefix : {"cache", "shard", "redis-", "node", "s", "db", "server"}) {
    std::vector<Member> members;
    for (int i = 1; i <= 11; ++i) members.push_back({prefix + std::to_string(i), "", 1});
    const HashRing eleven(members, {});
    members.pop_back();
    const HashRing ten(members, {});
    for (const RingDiff& diff : {RingDiff(ten, eleven), RingDiff(eleven, ten)}) {
      EXPECT_LE(diff.moving_share(), 1.05 * diff.least_possible_share()) << prefix;
    }
  }
}

TEST(RingDiff, TheSeventeenthShardMovesNoMoreThanTheOthers) {
  // A table whose size grew here once moved five times what it had to.
  const RingDiff diff(HashRing(Equal(16), {}), HashRing(Equal(17), {}));
  EXPECT_LE(diff.moving_share(), 1.06 * diff.least_possible_share());
}

TEST(RingDiff, RingsThatHashDifferentlyCannotBeCompared) {
  const HashRing ring(Equal(2), {});
  RingOptions other_tag;
  other_tag.hash_tag = "$$";
  EXPECT_EQ(RingDiff::CheckComparable(ring, HashRing(Equal(2), other_tag)),
            "the hash tag changes from \"{}\" to \"$$\"");
  const HashRing ketama(Equal(2), With(Distribution::kKetama, HashFunction::kMd5));
  EXPECT_EQ(RingDiff::CheckComparable(ring, ketama), "the hash changes from xxh3 to md5");
  const HashRing modula(Equal(2), With(Distribution::kModula, HashFunction::kMd5));
  EXPECT_EQ(RingDiff::CheckComparable(ketama, modula), "the distribution changes from ketama to modula");
  EXPECT_DEATH(RingDiff(ring, ketama), "the hash changes");
}

}  // namespace
}  // namespace ringway::ring
