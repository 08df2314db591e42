// Properties of rings over many random sets of shards. RapidCheck prints the seed of a failing run; RC_PARAMS
// ="seed=..." replays it.

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ring/ring_diff.h"

namespace ringway::ring {
namespace {

// Building a ring takes milliseconds, so random cases are fewer than RapidCheck's hundred.
constexpr int kRuns = 30;

std::vector<Member> RandomNames(int count) {
  const uint64_t salt = *rc::gen::arbitrary<uint64_t>();
  std::vector<Member> members;
  for (int i = 0; i < count; ++i) {
    members.push_back({"cache" + std::to_string(i) + "-" + std::to_string(salt), "", 1});
  }
  return members;
}

std::vector<Member> RandomMembers() {
  std::vector<Member> members = RandomNames(*rc::gen::inRange(1, 25));
  for (Member& member : members) member.weight = *rc::gen::inRange(1, 40) / 8.0;
  return members;
}

RingOptions RandomOptions() {
  RingOptions options;
  options.virtual_nodes = *rc::gen::element(16u, 160u, 1024u, 4096u);
  options.balance_cap = *rc::gen::element<std::optional<double>>(std::nullopt, 0.0, 0.01, 0.02, 0.5);
  return options;
}

RingOptions RandomTwemproxyOptions() {
  RingOptions options;
  options.distribution = *rc::gen::element(Distribution::kKetama, Distribution::kModula);
  options.hash = *rc::gen::element(HashFunction::kFnv1a_64, HashFunction::kMurmur, HashFunction::kCrc16);
  return options;
}

bool Eighths(int probability) { return *rc::gen::inRange(0, 8) < probability; }

// Any distribution, with weights it can take.
HashRing RandomRing() {
  std::vector<Member> members = RandomMembers();
  if (Eighths(5)) return HashRing(members, RandomOptions());
  for (Member& member : members) member.weight = std::ceil(member.weight);
  return HashRing(members, RandomTwemproxyOptions());
}

// A change of the kind an operator makes: some leave, some change weight, some come.
std::vector<Member> RandomChange(const HashRing& ring) {
  std::vector<Member> changed;
  for (const Member& member : ring.members()) {
    if (Eighths(1)) continue;
    changed.push_back(member);
    if (Eighths(1)) changed.back().weight = *rc::gen::inRange(0, 5);
  }
  const int added = *rc::gen::inRange(0, 3);
  for (int i = 0; i < added; ++i) changed.push_back({"new" + std::to_string(i), "", 1});
  changed.push_back({"always", "", 1});
  return changed;
}

std::string RandomKey() {
  if (Eighths(4)) return *rc::gen::string<std::string>();
  // Braces often enough to meet every shape of a tag.
  return *rc::gen::container<std::string>(rc::gen::element('{', '}', 'a', 'b', '\0', '\xff'));
}

std::vector<Member> Shuffled(std::vector<Member> members) {
  for (size_t i = members.size(); i > 1; --i) {
    std::swap(members[i - 1], members[*rc::gen::inRange<size_t>(0, i)]);
  }
  return members;
}

// Checks `property` kRuns times.
template <typename Property>
void Check(const std::string& description, Property property) {
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess = kRuns;
  params.maxSize = 60;
  rc::detail::TestMetadata metadata;
  metadata.description = description;
  const auto result = rc::detail::checkTestable(std::move(property), metadata, params);
  if (!result.template is<rc::detail::SuccessResult>()) {
    std::ostringstream text;
    rc::detail::printResultMessage(result, text);
    FAIL() << text.str() << "\nRC_PARAMS=seed=" << params.seed;
  }
}

TEST(RingProperty, OwnershipDependsOnNeitherOrderNorAddressNorHistory) {
  Check("order, address and history do not matter", [] {
    const HashRing ring = RandomRing();
    std::vector<Member> shuffled = Shuffled(ring.members());
    for (Member& member : shuffled) member.address = "elsewhere:" + std::to_string(*rc::gen::inRange(1, 9));
    const HashRing other(shuffled, ring.options());
    for (int i = 0; i < 1000; ++i) {
      const std::string key = std::to_string(i);
      RC_ASSERT(ring.Hash(key) == other.Hash(key));
      RC_ASSERT(ring.members()[ring.Locate(key)].name == other.members()[other.Locate(key)].name);
    }
    RC_ASSERT(RingDiff(ring, other).moving_share() == 0);
  });
}

TEST(RingProperty, NoShareExceedsItsCap) {
  Check("shares stay under the cap", [] {
    RingOptions options = RandomOptions();
    options.balance_cap = options.balance_cap.value_or(0.03);
    const HashRing ring(RandomMembers(), options);
    const double one_slot = 1.0 / static_cast<double>(ring.slots().size());
    double sum = 0;
    for (uint32_t m = 0; m < ring.members().size(); ++m) {
      RC_ASSERT(ring.Share(m) <= (1 + *options.balance_cap) * ring.WantedShare(m) + one_slot);
      sum += ring.Share(m);
    }
    RC_ASSERT(std::abs(sum - 1) < 1e-9);
  });
}

TEST(RingProperty, SharesAddUpToOneInEveryDistribution) {
  Check("shares add up", [] {
    const HashRing ring = RandomRing();
    double sum = 0;
    uint64_t points = 0;
    for (uint32_t m = 0; m < ring.members().size(); ++m) {
      sum += ring.Share(m);
      points += ring.Points(m);
    }
    RC_ASSERT(std::abs(sum - 1) < 1e-9);
    RC_ASSERT(points == ring.total_points());
  });
}

// The figures a user is promised.
void CheckPromisedBalance(std::vector<double> weights) {
  std::vector<Member> members = RandomNames(static_cast<int>(weights.size()));
  for (size_t i = 0; i < weights.size(); ++i) members[i].weight = weights[i];
  const HashRing ring(members, {});
  RC_ASSERT(ring.balance().max_over_mean <= 1.011);
  // Not capped: 4096 points a shard stray by 1.6 %, and this is five times that.
  RC_ASSERT(ring.balance().min_over_mean >= 0.92);
}

TEST(RingProperty, TenEqualShardsKeepThePromisedBalance) {
  Check("ten equal", [] { CheckPromisedBalance(std::vector<double>(10, 1)); });
}

TEST(RingProperty, WeightsOneTwoFourKeepThePromisedBalance) {
  Check("weights 1, 2, 4", [] { CheckPromisedBalance({1, 2, 4}); });
}

TEST(RingProperty, AnEleventhShardMovesLittleMoreThanItMust) {
  // Over many names: 1.014 of the least possible on average, 1.041 in the worst 1 %.
  double sum = 0;
  int changes = 0;
  Check("ten to eleven and back", [&] {
    std::vector<Member> members = RandomNames(11);
    const HashRing eleven(members, {});
    members.pop_back();
    const HashRing ten(members, {});
    for (const RingDiff& diff : {RingDiff(ten, eleven), RingDiff(eleven, ten)}) {
      const double ratio = diff.moving_share() / diff.least_possible_share();
      RC_ASSERT(ratio <= 1.08);
      sum += ratio;
      ++changes;
    }
  });
  EXPECT_LE(sum / changes, 1.03);
}

TEST(RingProperty, APlainRingMovesKeysOnlyToTheNewShard) {
  Check("plain ring, one more", [] {
    RingOptions plain = RandomOptions();
    plain.balance_cap = std::nullopt;
    std::vector<Member> members = RandomMembers();
    const HashRing before(members, plain);
    const uint32_t added = static_cast<uint32_t>(members.size());
    members.push_back({"new", "", 1});
    const RingDiff diff(before, HashRing(members, plain));
    for (const Move& move : diff.pairs()) RC_ASSERT(move.to == added);
    RC_ASSERT(std::abs(diff.moving_share() - diff.to().Share(added)) < 1e-9);
  });
}

TEST(RingProperty, DiffAgreesWithLocateOnRandomKeys) {
  Check("diff and Locate agree", [] {
    const HashRing before = RandomRing();
    const HashRing after(RandomChange(before), before.options());
    const RingDiff diff(before, after);
    for (int i = 0; i < 300; ++i) {
      const std::string key = RandomKey();
      const uint64_t hash = before.Hash(key);
      RC_ASSERT(after.Hash(key) == hash);
      const uint32_t from = before.Locate(key);
      const uint32_t to = after.Locate(key);
      RC_ASSERT(diff.Moves(hash) == (before.Identifier(from) != after.Identifier(to)));
      RC_ASSERT(diff.From(hash) == from);
      RC_ASSERT(diff.To(hash) == to);
      if (!diff.Moves(hash)) continue;
      RC_ASSERT(std::any_of(diff.pairs().begin(), diff.pairs().end(),
                            [&](const Move& move) { return move.from == from && move.to == to; }));
    }
  });
}

TEST(RingProperty, PairsAccountForTheChangeOfEveryShare) {
  Check("shares before + moves = shares after", [] {
    const HashRing before = RandomRing();
    const HashRing after(RandomChange(before), before.options());
    const RingDiff diff(before, after);
    std::vector<double> shares(after.members().size(), 0);
    for (uint32_t m = 0; m < before.members().size(); ++m) {
      if (diff.NewIndex(m) != HashRing::kNoShard) shares[diff.NewIndex(m)] = before.Share(m);
    }
    for (const Move& move : diff.pairs()) {
      shares[move.to] += move.share;
      if (diff.NewIndex(move.from) != HashRing::kNoShard) shares[diff.NewIndex(move.from)] -= move.share;
    }
    for (uint32_t m = 0; m < shares.size(); ++m) RC_ASSERT(std::abs(shares[m] - after.Share(m)) < 1e-9);
  });
}

TEST(RingProperty, SuccessorsAreTheNextDifferentOwnersOfTheArcs) {
  Check("successors", [] {
    const HashRing ring = RandomRing();
    size_t owning = 0;
    for (uint32_t m = 0; m < ring.members().size(); ++m) owning += ring.Share(m) > 0 ? 1 : 0;
    const std::vector<HashRing::Arc> arcs = ring.Arcs();
    for (int i = 0; i < 20; ++i) {
      const uint64_t hash = ring.Hash(RandomKey());
      const auto count = *rc::gen::inRange<size_t>(0, 30);
      std::vector<uint32_t> found;
      ring.Successors(hash, count, &found);
      RC_ASSERT(found.size() == std::min(count, owning));
      if (found.empty()) continue;
      RC_ASSERT(found[0] == ring.Owner(hash));
      RC_ASSERT(std::set<uint32_t>(found.begin(), found.end()).size() == found.size());
      if (arcs.empty()) continue;  // modula
      std::vector<uint32_t> expected;
      auto arc = std::find_if(arcs.begin(), arcs.end(), [&](const auto& a) { return hash <= a.last; });
      while (expected.size() < found.size()) {
        if (std::find(expected.begin(), expected.end(), arc->owner) == expected.end()) {
          expected.push_back(arc->owner);
        }
        if (++arc == arcs.end()) arc = arcs.begin();
      }
      RC_ASSERT(found == expected);
    }
  });
}

// The rule of hash tags in its plainest form.
std::string_view TagByDefinition(std::string_view key) {
  for (size_t open = 0; open < key.size(); ++open) {
    if (key[open] != '{') continue;
    for (size_t close = open + 1; close < key.size(); ++close) {
      if (key[close] == '}') return close == open + 1 ? key : key.substr(open + 1, close - open - 1);
    }
    return key;
  }
  return key;
}

RC_GTEST_PROP(HashTagProperty, EveryKeyHasTheTagOfTheDefinition, ()) {
  for (int i = 0; i < 20; ++i) {
    const std::string key = RandomKey();
    RC_ASSERT(HashTag("{}").Of(key) == TagByDefinition(key));
  }
}

}  // namespace
}  // namespace ringway::ring
