#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ring/hash_ring.h"
#include "ring/ketama_ring.h"
#include "tests/unit/ring/golden_file.h"

namespace ringway::ring {
namespace {

std::vector<Member> OnPorts(std::vector<double> weights) {
  std::vector<Member> members;
  for (size_t i = 0; i < weights.size(); ++i) {
    members.push_back({"", "127.0.0.1:" + std::to_string(6379 + i), weights[i]});
  }
  return members;
}

std::vector<Member> OnHosts(int first, int count, int port) {
  std::vector<Member> members;
  for (int i = first; i < first + count; ++i) {
    members.push_back({"", "10.0.0." + std::to_string(i) + ":" + std::to_string(port), 1});
  }
  return members;
}

// The servers behind the titles of the golden file, already in twemproxy's order.
std::vector<Member> GoldenMembers(const std::string& title) {
  if (title == "3 equal") return OnPorts({1, 1, 1});
  if (title == "3 named") return {{"server1", "", 1}, {"server2", "", 1}, {"server3", "", 1}};
  if (title == "3 port 11211 (host only)") return OnHosts(1, 3, 11211);
  if (title == "weights 1,2,3") return OnPorts({1, 2, 3});
  if (title == "3 equal, #2 ejected") return OnPorts({1, 1, 0});
  if (title == "w 1,2,3, #2 ejected") return OnPorts({1, 2, 0});
  if (title == "10 equal") return OnHosts(0, 10, 6379);
  if (title == "100 equal") return OnHosts(0, 100, 6379);
  ADD_FAILURE() << "no members known for " << title;
  return {};
}

RingOptions Twemproxy(Distribution distribution, HashFunction hash = HashFunction::kFnv1a_64) {
  RingOptions options;
  options.distribution = distribution;
  options.hash = hash;
  return options;
}

TEST(Ketama, EveryGoldenCircleHasTwemproxysPoints) {
  const GoldenFile golden = ReadGoldenFile();
  ASSERT_EQ(golden.ketama.size(), 8u);
  for (const auto& [title, expected] : golden.ketama) {
    SCOPED_TRACE(title);
    const std::vector<Member> members = GoldenMembers(title);
    const std::vector<Point> points = PlaceKetamaPoints(members);
    ASSERT_EQ(points.size(), expected.points);
    ASSERT_FALSE(expected.first_points.empty());
    for (size_t i = 0; i < expected.first_points.size(); ++i) {
      EXPECT_EQ(points[i].position, expected.first_points[i].first);
      EXPECT_EQ(points[i].owner, expected.first_points[i].second);
    }
    const HashRing ring(members, Twemproxy(Distribution::kKetama));
    EXPECT_EQ(ring.total_points(), expected.points);
    for (uint32_t m = 0; m < expected.points_per_server.size(); ++m) {
      EXPECT_EQ(ring.Points(m), expected.points_per_server[m]) << m;
    }
    EXPECT_EQ(ring.Locate("user:1000"), expected.owner_of_user_1000);
  }
}

TEST(Ketama, OwnershipIgnoresTheOrderOfTheList) {
  std::vector<Member> members = OnHosts(0, 100, 6379);
  const HashRing ring(members, Twemproxy(Distribution::kKetama));
  std::reverse(members.begin(), members.end());
  const HashRing reversed(members, Twemproxy(Distribution::kKetama));
  for (int i = 0; i < 10000; ++i) {
    const std::string key = "user:" + std::to_string(i);
    ASSERT_EQ(ring.Locate(key), 99 - reversed.Locate(key));
  }
}

TEST(Ketama, SinglePrecisionCostsSomeServerCountsFourPoints) {
  const GoldenFile golden = ReadGoldenFile();
  ASSERT_EQ(golden.short_counts.size(), 20u);
  uint32_t total = 0;
  for (uint32_t servers = 1; servers <= 1024; ++servers) {
    const uint32_t points = KetamaPointCount(1, servers, servers);
    if (points != 160) ++total;
    if (servers > golden.short_counts.rbegin()->first) continue;
    const auto exception = golden.short_counts.find(servers);
    EXPECT_EQ(points, exception == golden.short_counts.end() ? 160 : exception->second) << servers;
  }
  EXPECT_EQ(total, golden.short_counts_total);
}

// Load of ten servers under user:0 .. user:99999, as printed to three digits.
struct Load {
  double max = 0;
  double min = 0;
  int used = 0;
};

Load MeasureLoad(const RingOptions& options) {
  const HashRing ring(OnHosts(0, 10, 6379), options);
  std::vector<int> counts(10, 0);
  for (int i = 0; i < 100000; ++i) ++counts[ring.Locate("user:" + std::to_string(i))];
  Load load;
  load.max = *std::max_element(counts.begin(), counts.end()) / 10000.0;
  load.min = *std::min_element(counts.begin(), counts.end()) / 10000.0;
  load.used = static_cast<int>(std::count_if(counts.begin(), counts.end(), [](int n) { return n > 0; }));
  return load;
}

TEST(Ketama, EachHashLoadsTenServersAsTwemproxyDoes) {
  const GoldenFile golden = ReadGoldenFile();
  ASSERT_EQ(golden.ranges.size(), 12u);
  for (const auto& [name, expected] : golden.ranges) {
    SCOPED_TRACE(name);
    const Load load = MeasureLoad(Twemproxy(Distribution::kKetama, *ParseHashFunction(name)));
    EXPECT_NEAR(load.max, expected.ketama_max, 0.00051);
    EXPECT_NEAR(load.min, expected.ketama_min, 0.00051);
    EXPECT_EQ(load.used, expected.ketama_servers_used);
  }
}

TEST(Modula, EachHashLoadsTenServersAsTwemproxyDoes) {
  const GoldenFile golden = ReadGoldenFile();
  for (const auto& [name, expected] : golden.ranges) {
    SCOPED_TRACE(name);
    const Load load = MeasureLoad(Twemproxy(Distribution::kModula, *ParseHashFunction(name)));
    EXPECT_NEAR(load.max, expected.modula_max, 0.00051);
    EXPECT_NEAR(load.min, expected.modula_min, 0.00051);
  }
}

TEST(Modula, SlotsFollowTwemproxysOrderAndWeights) {
  const std::vector<Member> members = {{"long", "", 1}, {"b", "", 2}, {"a", "", 1}, {"zz", "", 0}};
  EXPECT_EQ(ModulaSlots(members), (std::vector<uint16_t>{2, 1, 1, 0}));
  const HashRing ring(members, Twemproxy(Distribution::kModula, HashFunction::kCrc16));
  EXPECT_EQ(ring.Owner(0), 2u);
  EXPECT_EQ(ring.Owner(1), 1u);
  EXPECT_EQ(ring.Owner(2), 1u);
  EXPECT_EQ(ring.Owner(3), 0u);
  EXPECT_EQ(ring.Owner(4294967295u), 0u);
  EXPECT_DOUBLE_EQ(ring.Share(1), 0.5);
  EXPECT_DOUBLE_EQ(ring.Share(3), 0);
}

TEST(TwemproxyIdentifier, AddressStandsInForAMissingName) {
  EXPECT_EQ(TwemproxyIdentifier({"cache1", "10.0.0.1:6379", 3}), "cache1");
  EXPECT_EQ(TwemproxyIdentifier({"", "10.0.0.1:6379", 3}), "10.0.0.1:6379");
  EXPECT_EQ(TwemproxyIdentifier({"", "10.0.0.1:11211", 1}), "10.0.0.1");
  EXPECT_EQ(TwemproxyIdentifier({"", "10.0.0.1:112110", 1}), "10.0.0.1:112110");
  EXPECT_EQ(TwemproxyIdentifier({"", "/run/redis.sock", 1}), "/run/redis.sock:");
}

TEST(TwemproxyOrder, ShorterIdentifiersComeFirst) {
  const std::vector<Member> members = {{"server10", "", 1}, {"server9", "", 1}, {"server1", "", 1}};
  EXPECT_EQ(TwemproxyOrder(members), (std::vector<uint32_t>{2, 1, 0}));
}

TEST(Ketama, OneServerOwnsEverythingAndTheEmptyKeyHashesToZero) {
  for (Distribution distribution : {Distribution::kKetama, Distribution::kModula}) {
    const HashRing one({{"only", "", 1}}, Twemproxy(distribution));
    for (const char* key : {"", "a", "user:1000"}) EXPECT_EQ(one.Locate(key), 0u);
    EXPECT_EQ(one.Hash(""), 0u);
    EXPECT_DOUBLE_EQ(one.Share(0), 1);
  }
  const HashRing three(OnPorts({1, 1, 1}), Twemproxy(Distribution::kKetama));
  EXPECT_EQ(three.Locate(""), 0u);  // the first golden point belongs to server 0
}

TEST(Ketama, AHashOnAPointBelongsToItAndPastTheLastItWrapsToTheFirst) {
  const std::vector<Member> members = OnPorts({1, 1, 1});
  const std::vector<Point> points = PlaceKetamaPoints(members);
  const HashRing ring(members, Twemproxy(Distribution::kKetama));
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(ring.Owner(points[i].position), points[i].owner);
    EXPECT_EQ(ring.Owner(points[i].position + 1), points[(i + 1) % points.size()].owner);
  }
  EXPECT_EQ(ring.Owner(UINT32_MAX), points.front().owner);
  EXPECT_EQ(ring.Owner(0), points.front().owner);
}

}  // namespace
}  // namespace ringway::ring
