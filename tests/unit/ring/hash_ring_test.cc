#include "ring/hash_ring.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ring/virtual_nodes.h"

namespace ringway::ring {
namespace {

std::vector<Member> Equal(int count, const std::string& prefix = "cache") {
  std::vector<Member> members;
  for (int i = 0; i < count; ++i) members.push_back({prefix + std::to_string(i), "", 1});
  return members;
}

RingOptions Plain(uint32_t virtual_nodes = 4096) {
  RingOptions options;
  options.balance_cap = std::nullopt;
  options.virtual_nodes = virtual_nodes;
  return options;
}

// The owners of 100,000 keys as one number.
uint64_t Fingerprint(const HashRing& ring) {
  std::string owners;
  for (int i = 0; i < 100000; ++i) {
    owners += static_cast<char>('0' + ring.Locate("user:" + std::to_string(i)));
  }
  return Xxh3(owners);
}

TEST(HashRing, KeysStayWhereTheyAreFromVersionToVersion) {
  // Keys found on a running system must stay there. Whatever breaks this test loses everybody's data; the
  // numbers are those of the first release and never change.
  const std::vector<Member> weighted = {{"a", "", 1}, {"b", "", 2.5}, {"c", "", 0.3}};
  EXPECT_EQ(HashRing(Equal(10), {}).Hash("user:1000"), 18115801733967645855u);
  EXPECT_EQ(Fingerprint(HashRing(Equal(10), {})), 3266692686546404421u);
  EXPECT_EQ(Fingerprint(HashRing(Equal(10), Plain())), 2022201270148446247u);
  EXPECT_EQ(Fingerprint(HashRing(weighted, {})), 2020718070061907034u);
  EXPECT_EQ(Fingerprint(HashRing(Equal(40), {})), 8477573155592522245u);
}

TEST(HashRing, KeysOfOneTagShareAShard) {
  const HashRing ring(Equal(10), {});
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(ring.Locate("{a}" + std::to_string(i)), ring.Locate("a"));
  }
  RingOptions off;
  off.hash_tag = "";
  const HashRing untagged(Equal(10), off);
  std::set<uint32_t> owners;
  for (int i = 0; i < 1000; ++i) owners.insert(untagged.Locate("{a}" + std::to_string(i)));
  EXPECT_EQ(owners.size(), 10u);
}

TEST(HashRing, NeitherAddressNorOrderDecidesOwnership) {
  std::vector<Member> members = {{"a", "10.0.0.1:1", 1}, {"b", "10.0.0.2:1", 2.5}, {"c", "10.0.0.3:1", 0.3}};
  for (const RingOptions& options : {RingOptions{}, Plain()}) {
    const HashRing ring(members, options);
    const std::vector<Member> elsewhere = {{"c", "h:9", 0.3}, {"a", "h:7", 1}, {"b", "h:8", 2.5}};
    const HashRing other(elsewhere, options);
    for (int i = 0; i < 100000; ++i) {
      const std::string key = std::to_string(i);
      ASSERT_EQ(members[ring.Locate(key)].name, elsewhere[other.Locate(key)].name);
    }
  }
}

TEST(HashRing, OneShardOwnsEverything) {
  for (const RingOptions& options : {RingOptions{}, Plain(), Plain(1)}) {
    const HashRing ring({{"only", "", 0.5}}, options);
    for (uint64_t hash : {uint64_t{0}, uint64_t{1} << 63, UINT64_MAX}) EXPECT_EQ(ring.Owner(hash), 0u);
    EXPECT_DOUBLE_EQ(ring.Share(0), 1);
    EXPECT_DOUBLE_EQ(ring.balance().max_over_mean, 1);
    EXPECT_DOUBLE_EQ(ring.balance().stddev, 0);
  }
}

TEST(HashRing, WeightZeroOwnsNothing) {
  for (const RingOptions& options : {RingOptions{}, Plain()}) {
    const HashRing ring({{"a", "", 1}, {"leaving", "", 0}, {"b", "", 1}}, options);
    EXPECT_EQ(ring.Share(1), 0);
    EXPECT_EQ(ring.WantedShare(1), 0);
    EXPECT_EQ(ring.Points(1), 0u);
    for (int i = 0; i < 10000; ++i) EXPECT_NE(ring.Locate(std::to_string(i)), 1u);
    EXPECT_GT(ring.balance().min_over_mean, 0.9);
    // As if it were not there at all.
    const HashRing without({{"a", "", 1}, {"b", "", 1}}, options);
    for (int i = 0; i < 10000; ++i) {
      const std::string key = std::to_string(i);
      EXPECT_EQ(ring.members()[ring.Locate(key)].name, without.members()[without.Locate(key)].name);
    }
  }
}

TEST(HashRing, VirtualNodesFollowTheWeightAloneAndNeverVanish) {
  EXPECT_EQ(VirtualNodeCount(1, 4096), 4096u);
  EXPECT_EQ(VirtualNodeCount(0.5, 4096), 2048u);
  EXPECT_EQ(VirtualNodeCount(2.0001, 4096), 8192u);
  EXPECT_EQ(VirtualNodeCount(1e-9, 4096), 1u);
  EXPECT_EQ(VirtualNodeCount(0, 4096), 0u);
  EXPECT_EQ(VirtualNodeCount(0.5, 1), 1u);
  const HashRing ring({{"a", "", 1}, {"b", "", 0.5}}, {});
  EXPECT_EQ(ring.Points(0), 4096u);
  EXPECT_EQ(ring.Points(1), 2048u);
  EXPECT_EQ(ring.total_points(), 6144u);
}

std::vector<uint32_t> SuccessorsOf(const HashRing& ring, uint64_t hash, size_t count) {
  std::vector<uint32_t> found = {77};  // must not stay
  ring.Successors(hash, count, &found);
  return found;
}

TEST(HashRing, SuccessorsFollowTheCircleAndPassItsEnd) {
  // One point for each: their order on the circle is the order of succession, from wherever one begins.
  const HashRing ring({{"a", "", 1}, {"b", "", 1}, {"c", "", 1}, {"none", "", 0}}, Plain(1));
  const std::vector<HashRing::Arc> arcs = ring.Arcs();
  ASSERT_EQ(arcs.size(), 4u);  // the first owner's arc is cut at 0
  std::vector<uint32_t> clockwise;
  for (int i = 0; i < 3; ++i) clockwise.push_back(arcs[i].owner);
  EXPECT_EQ(SuccessorsOf(ring, 0, 3), clockwise);
  EXPECT_EQ(SuccessorsOf(ring, arcs[0].last, 3), clockwise);
  EXPECT_EQ(SuccessorsOf(ring, UINT64_MAX, 3), clockwise);
  std::rotate(clockwise.begin(), clockwise.begin() + 1, clockwise.end());
  EXPECT_EQ(SuccessorsOf(ring, arcs[1].first, 3), clockwise);
  EXPECT_EQ(SuccessorsOf(ring, arcs[1].last, 2), std::vector(clockwise.begin(), clockwise.begin() + 2));
}

TEST(HashRing, SuccessorsEndWhereNobodyElseOwnsAnything) {
  RingOptions modula;
  modula.distribution = Distribution::kModula;
  modula.hash = HashFunction::kMurmur;
  for (const RingOptions& options : {RingOptions{}, Plain(), modula}) {
    const HashRing ring({{"a", "", 1}, {"leaving", "", 0}, {"b", "", 1}}, options);
    const uint64_t hash = ring.Hash("key");
    EXPECT_EQ(SuccessorsOf(ring, hash, 0), std::vector<uint32_t>{});
    EXPECT_EQ(SuccessorsOf(ring, hash, 1), std::vector<uint32_t>{ring.Owner(hash)});
    const std::vector<uint32_t> both = {ring.Owner(hash), 2 - ring.Owner(hash)};
    EXPECT_EQ(SuccessorsOf(ring, hash, 2), both);
    EXPECT_EQ(SuccessorsOf(ring, hash, 3), both);
  }
}

TEST(HashRing, SuccessorsOfModulaAreTheNextSlots) {
  RingOptions options;
  options.distribution = Distribution::kModula;
  options.hash = HashFunction::kMurmur;
  const HashRing ring({{"a", "", 2}, {"b", "", 1}, {"c", "", 1}}, options);  // slots: a a b c
  EXPECT_EQ(SuccessorsOf(ring, 4, 3), (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(SuccessorsOf(ring, 5, 3), (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(SuccessorsOf(ring, 6, 3), (std::vector<uint32_t>{1, 2, 0}));
  EXPECT_EQ(SuccessorsOf(ring, 7, 3), (std::vector<uint32_t>{2, 0, 1}));
}

TEST(HashRing, AWeightOfLessThanASlotGetsOneSlotAtMost) {
  const HashRing ring({{"big", "", 1000}, {"tiny", "", 1e-6}}, {});
  EXPECT_LE(ring.Share(1), 1.0 / ring.slots().size());
}

TEST(HashRing, APlainRingObeysTheClockwiseRule) {
  std::vector<Member> members = {{"a", "", 1}, {"b", "", 3}, {"c", "", 0.5}};
  for (uint32_t virtual_nodes : {1u, 3u, 160u, 4096u}) {
    const HashRing ring(members, Plain(virtual_nodes));
    std::vector<Member> canonical;
    const std::vector<uint32_t> order = CanonicalOrder(members);
    for (uint32_t m : order) canonical.push_back(members[m]);
    const std::vector<Point> points = PlaceVirtualNodes(canonical, virtual_nodes);
    ASSERT_TRUE(std::is_sorted(points.begin(), points.end(),
                               [](const Point& a, const Point& b) { return a.position < b.position; }));
    const auto expected = [&](uint64_t hash) {
      const auto it = std::lower_bound(points.begin(), points.end(), hash,
                                       [](const Point& p, uint64_t h) { return p.position < h; });
      return order[(it == points.end() ? points.front() : *it).owner];
    };
    for (int i = 0; i < 10000; ++i) {
      const uint64_t hash = Xxh3(std::to_string(i));
      ASSERT_EQ(ring.Owner(hash), expected(hash));
    }
    for (const Point& point : points) {
      for (uint64_t hash : {point.position - 1, point.position, point.position + 1}) {
        ASSERT_EQ(ring.Owner(hash), expected(hash));
      }
    }
  }
}

TEST(HashRing, CapZeroSharesEvenlyToTheSlot) {
  RingOptions options;
  options.balance_cap = 0;
  const HashRing ring(Equal(8), options);
  for (uint32_t m = 0; m < 8; ++m) EXPECT_DOUBLE_EQ(ring.Share(m), 0.125);
  EXPECT_DOUBLE_EQ(ring.balance().max_over_mean, 1);
  EXPECT_DOUBLE_EQ(ring.balance().min_over_mean, 1);
}

TEST(HashRing, TheCapBindsWhereVirtualNodesAloneWouldNot) {
  RingOptions few;
  few.virtual_nodes = 8;
  const HashRing capped(Equal(10), few);
  EXPECT_LE(capped.balance().max_over_mean, 1.0103);
  const HashRing plain(Equal(10), Plain(8));
  EXPECT_GT(plain.balance().max_over_mean, 1.2);
}

TEST(HashRing, SharesAddUpAndMatchTheKeysCounted) {
  for (const RingOptions& options : {RingOptions{}, Plain()}) {
    const HashRing ring({{"a", "", 1}, {"b", "", 2}, {"c", "", 4}}, options);
    std::vector<double> counts(3, 0);
    constexpr int kKeys = 300000;
    for (int i = 0; i < kKeys; ++i) ++counts[ring.Locate("key:" + std::to_string(i))];
    double sum = 0;
    for (uint32_t m = 0; m < 3; ++m) {
      sum += ring.Share(m);
      EXPECT_NEAR(counts[m] / kKeys, ring.Share(m), 0.005);
      EXPECT_DOUBLE_EQ(ring.WantedShare(m), (1 << m) / 7.0);
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(HashRing, ArcsCoverEveryPositionOnceAndAgreeWithOwner) {
  RingOptions ketama;
  ketama.distribution = Distribution::kKetama;
  ketama.hash = HashFunction::kMurmur;
  for (const RingOptions& options : {RingOptions{}, Plain(), Plain(1), ketama}) {
    const HashRing ring(Equal(5), options);
    uint64_t next = 0;
    const std::vector<HashRing::Arc> arcs = ring.Arcs();
    ASSERT_FALSE(arcs.empty());
    for (const HashRing::Arc& arc : arcs) {
      ASSERT_EQ(arc.first, next);
      ASSERT_LE(arc.first, arc.last);
      ASSERT_EQ(ring.Owner(arc.first), arc.owner);
      ASSERT_EQ(ring.Owner(arc.last), arc.owner);
      ASSERT_EQ(ring.Owner(arc.first + (arc.last - arc.first) / 2), arc.owner);
      next = arc.last + 1;
    }
    EXPECT_EQ(arcs.back().last, ring.hash_bits() == 64 ? UINT64_MAX : UINT32_MAX);
  }
}

TEST(HashRing, AThousandShardsAllGetTheirShare) {
  const HashRing ring(Equal(1000), {});
  EXPECT_LE(ring.balance().max_over_mean, 1.011);
  EXPECT_GT(ring.balance().min_over_mean, 0.85);
  std::set<uint16_t> owners(ring.slots().begin(), ring.slots().end());
  EXPECT_EQ(owners.size(), 1000u);
}

TEST(HashRing, ACopyOutlivesTheOriginal) {
  auto original = std::make_unique<HashRing>(Equal(3), RingOptions{});
  const HashRing copy = *original;
  const uint32_t owner = original->Locate("key");
  const HashRing moved = std::move(*original);
  original.reset();
  EXPECT_EQ(copy.Locate("key"), owner);
  EXPECT_EQ(moved.Locate("key"), owner);
}

TEST(HashRingDeathTest, WhatCheckRingRefusesIsNeverBuilt) {
  EXPECT_DEATH(HashRing({}, RingOptions{}), "at least one shard");
  EXPECT_DEATH(HashRing({{"a", "", 1}, {"a", "", 1}}, RingOptions{}), "two shards are named a");
}

}  // namespace
}  // namespace ringway::ring
