// SCAN's walk in a world of servers, workers that learn of topologies late, and keys that move at any moment.
#include "proxy/route/scan_walk.h"

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringway::proxy {
namespace {

using Part = ScanCursor::Part;
using Phase = Topology::Phase;

constexpr int kKeys = 24;
constexpr int kBuckets = 3;  // pages that a server's walk takes
constexpr size_t kWorkers = 3;

// Where keys are to be, and where they were.
struct Plan {
  std::vector<uint32_t> from;  // by key
  std::vector<uint32_t> to;
  bool Moves(size_t key) const { return from[key] != to[key]; }
};

struct Published {
  ScanFacts facts;
  Plan plan;  // of kHolding and kMoving
};

// The control side, servers and workers of one run. Everything happens in single steps, in an order that the
// seed decides.
class World {
 public:
  World(uint64_t seed, int changes) : random_(seed), changes_left_(changes) {
    for (int key = 0; key < kKeys; ++key) place_.push_back(Pick(3));
    Publish(Phase::kStable, {});
  }

  // Something happens: a worker adopts, a key moves, the control side goes on.
  void Step() {
    switch (Pick(4)) {
      case 0: {
        size_t& view = views_[Pick(kWorkers)];
        view = std::min(view + 1, published_.size() - 1);
        break;
      }
      case 1:
        Control();
        break;
      default:
        MoveOne();
    }
  }
  const Published& View(size_t worker) const { return published_[views_[worker]]; }
  uint32_t Pick(size_t below) { return static_cast<uint32_t>(random_() % below); }

  // The keys in one page of a server, and the cursor that follows.
  std::vector<size_t> Page(uint32_t server, uint64_t inner, uint64_t* next) const {
    std::vector<size_t> keys;
    for (size_t key = 0; key < place_.size(); ++key) {
      if (place_[key] == server && (key * 7 + server) % kBuckets == inner) keys.push_back(key);
    }
    *next = inner + 1 < kBuckets ? inner + 1 : 0;
    return keys;
  }
  uint32_t place(size_t key) const { return place_[key]; }

 private:
  const Published& last() const { return published_.back(); }

  void Publish(Phase phase, Plan plan) {
    Published next{{phase, generation_, {}}, std::move(plan)};
    std::set<uint32_t> ids(place_.begin(), place_.end());
    ids.insert(next.plan.from.begin(), next.plan.from.end());
    ids.insert(next.plan.to.begin(), next.plan.to.end());
    for (const uint32_t id : ids) next.facts.servers.push_back({id, false});
    for (ScanFacts::Server& server : next.facts.servers) {
      for (size_t key = 0; phase == Phase::kMoving && key < place_.size(); ++key) {
        server.target |= next.plan.Moves(key) && next.plan.to[key] == server.id;
      }
    }
    published_.push_back(std::move(next));
  }
  bool AllHave(size_t index) const {
    return std::all_of(views_.begin(), views_.end(), [index](size_t view) { return view >= index; });
  }
  bool AllMoved(const Plan& plan) const {
    for (size_t key = 0; key < place_.size(); ++key) {
      if (plan.Moves(key) && place_[key] != plan.to[key]) return false;
    }
    return true;
  }

  void Control() {
    const Plan plan = last().plan;
    switch (last().facts.phase) {
      case Phase::kHolding:
        if (!AllHave(published_.size() - 1)) return;
        if (Pick(3) == 0) {  // cancelled: back to what was before
          Publish(published_[published_.size() - 2].facts.phase, published_[published_.size() - 2].plan);
        } else {
          ++generation_;
          Publish(Phase::kMoving, plan);
        }
        return;
      case Phase::kMoving:
        if (AllMoved(plan) && Pick(3) > 0) {
          ++generation_;
          Publish(Phase::kStable, {});
        } else if (changes_left_ > 0 && Pick(8) == 0) {
          --changes_left_;
          Publish(Phase::kHolding, Plan{plan.to, plan.from});
        }
        return;
      default:
        if (changes_left_ == 0) return;
        --changes_left_;
        Publish(Phase::kHolding, NewPlan());
    }
  }

  Plan NewPlan() {
    Plan plan{place_, place_};
    const bool joins = Pick(2) == 0;
    for (uint32_t& to : plan.to) {
      if (Pick(3) > 0) continue;
      to = joins ? next_server_ : Pick(next_server_);
    }
    if (joins) ++next_server_;
    return plan;
  }

  // By the mover, which knows the last topology, or by a worker, which may still know the one before.
  void MoveOne() {
    const Published& view = Pick(2) == 0 ? last() : View(Pick(kWorkers));
    if (!view.facts.moving()) return;
    const size_t key = Pick(kKeys);
    if (view.plan.Moves(key) && place_[key] == view.plan.from[key]) place_[key] = view.plan.to[key];
  }

  std::mt19937_64 random_;
  int changes_left_;
  std::vector<uint32_t> place_;  // by key
  std::vector<Published> published_;
  std::vector<size_t> views_ = std::vector<size_t>(kWorkers, 0);  // by worker: index into published_
  uint64_t generation_ = 0;
  uint32_t next_server_ = 4;
};

// What a mutant changes.
struct Rules {
  std::function<ScanFacts(const ScanFacts&)> facts = [](const ScanFacts& given) { return given; };
  std::function<std::optional<ScanCursor>(const ScanCursor& before, std::optional<ScanCursor> given)> next =
      [](const ScanCursor&, std::optional<ScanCursor> given) { return given; };
};

// Walks to the end, each call on another worker, while the world goes on; answers what was returned.
// Nothing if it does not end.
std::optional<std::set<size_t>> Walk(World& world, uint64_t cursor, const Rules& rules) {
  std::set<size_t> seen;
  for (int call = 0; call < 20'000; ++call) {
    const int steps = static_cast<int>(world.Pick(4));
    for (int i = 0; i < steps; ++i) world.Step();
    const uint32_t worker = world.Pick(kWorkers);
    ScanFacts facts = rules.facts(world.View(worker).facts);
    if (cursor == 0 && facts.holding()) continue;
    const auto position = cursor == 0 ? BeginWalk(facts) : CheckedPosition(ScanCursor::Decode(cursor), facts);
    if (!position.has_value()) return seen;
    if (position->shard_id == ScanCursor::kBehindLast) {
      EXPECT_TRUE(facts.holding());
      continue;
    }
    uint64_t inner = 0;
    const auto keys = world.Page(position->shard_id, position->inner, &inner);
    if (world.Pick(2) == 0) world.Step();
    facts = rules.facts(world.View(worker).facts);
    const Plan& plan = world.View(worker).plan;
    for (const size_t key : keys) {
      if (WantsMovingKeysOnly(*position, facts) && !(plan.Moves(key) && plan.to[key] == position->shard_id)) {
        continue;
      }
      seen.insert(key);
    }
    std::optional<ScanCursor> next = *position;
    next->inner = inner;
    if (inner == 0) next = rules.next(*position, NextPosition(*position, facts));
    if (!next.has_value()) return seen;
    cursor = next->Encode();
    EXPECT_NE(cursor, 0u);
  }
  return std::nullopt;
}

// Walks that miss a key, of `walks` with different seeds.
int WalksThatMiss(int walks, uint64_t seed, const Rules& rules = {}) {
  int misses = 0;
  for (int i = 0; i < walks; ++i) {
    World world(seed + static_cast<uint64_t>(i), 3);
    const uint32_t late = world.Pick(30);
    for (uint32_t step = 0; step < late; ++step) world.Step();
    const auto seen = Walk(world, 0, rules);
    if (!seen.has_value()) ADD_FAILURE() << "the walk with seed " << seed + i << " does not end";
    if (seen.has_value() && seen->size() < kKeys) ++misses;
  }
  return misses;
}

uint64_t Seed() {
  const uint64_t seed = std::random_device{}();
  ::testing::Test::RecordProperty("seed", std::to_string(seed));
  std::cout << "seed " << seed << std::endl;
  return seed;
}

TEST(ScanWalk, AWalkMissesAKeyThatMovesMeanwhile) {
  const uint64_t seed = Seed();
  EXPECT_EQ(WalksThatMiss(20'000, seed), 0) << "seed " << seed;
}

// The model must be able to see each fault that the rules are there for.
TEST(ScanWalk, TheModelDoesNotNoticeThatTheSecondPartIsLeftOut) {
  Rules rules;
  rules.next = [](const ScanCursor& before, std::optional<ScanCursor> next) {
    const bool enters = next.has_value() && next->part == Part::kSecond && before.part != Part::kSecond;
    return enters ? std::nullopt : next;
  };
  EXPECT_GT(WalksThatMiss(5'000, Seed(), rules), 0);
}

TEST(ScanWalk, TheModelDoesNotNoticeWalksThatEndWhileOthersMayMoveKeys) {
  Rules rules;
  rules.facts = [](ScanFacts facts) {
    if (facts.holding()) facts.phase = Phase::kStable;
    return facts;
  };
  EXPECT_GT(WalksThatMiss(5'000, Seed(), rules), 0);
}

// A walk that begins while keys move, called one that began before, would take their way back for their
// first.
TEST(ScanWalk, TheModelDoesNotNoticeWalksThatTakeAMoveBackForTheFirstOne) {
  int misses = 0;
  const uint64_t seed = Seed();
  for (uint64_t i = 0; i < 20'000; ++i) {
    World world(seed + i, 4);
    for (int step = 0; step < 100 && !world.View(0).facts.moving(); ++step) world.Step();
    if (!world.View(0).facts.moving()) continue;
    ScanCursor begin = BeginWalk(world.View(0).facts);
    begin.part = Part::kFirst;
    const auto seen = Walk(world, begin.Encode(), {});
    if (seen.has_value() && seen->size() < kKeys) ++misses;
  }
  EXPECT_GT(misses, 0);
}

TEST(ScanWalk, ACursorThatWasMadeUpCrashesOrNeverEnds) {
  std::mt19937_64 random(Seed());
  for (uint64_t i = 0; i < 5'000; ++i) {
    World world(random(), 2);
    ScanCursor made_up = ScanCursor::Decode(random());
    if (random() % 2 == 0) made_up.shard_id %= 6;
    made_up.inner %= kBuckets;
    EXPECT_TRUE(Walk(world, made_up.Encode(), {}).has_value()) << made_up.Encode();
  }
}

ScanFacts Facts(Phase phase, uint64_t generation) {
  return {phase, generation, {{0, false}, {1, phase == Phase::kMoving}, {4, false}}};
}

TEST(ScanWalk, AWalkWithoutAMoveIsMadeTwice) {
  const ScanFacts facts = Facts(Phase::kStable, 5);
  ScanCursor position = BeginWalk(facts);
  EXPECT_EQ(position, (ScanCursor{0, Part::kFirst, ScanCursor::MarkOf(5), 0}));
  position = NextPosition(position, facts).value();
  EXPECT_EQ(position.shard_id, 1u);
  position = NextPosition(position, facts).value();
  EXPECT_EQ(position.shard_id, 4u);
  EXPECT_FALSE(NextPosition(position, facts).has_value());
}

TEST(ScanWalk, AWalkIntoAMoveIsMadeTwiceAsAWhole) {
  ScanCursor position = NextPosition(BeginWalk(Facts(Phase::kStable, 6)), Facts(Phase::kMoving, 7)).value();
  position = NextPosition(position, Facts(Phase::kMoving, 7)).value();
  position = NextPosition(position, Facts(Phase::kMoving, 7)).value();
  EXPECT_EQ(position, (ScanCursor{1, Part::kSecond, ScanCursor::MarkOf(7), 0})) << "the target alone";
  EXPECT_FALSE(NextPosition(position, Facts(Phase::kMoving, 7)).has_value());
  // The move has settled during the second part: the servers that are left, whatever they were in the move.
  position = NextPosition(position, Facts(Phase::kStable, 8)).value();
  EXPECT_EQ(position.shard_id, 4u);
  EXPECT_FALSE(NextPosition(position, Facts(Phase::kStable, 8)).has_value());
}

TEST(ScanWalk, AMoveWithoutTargetsKeepsAWalkFromEnding) {
  ScanFacts facts = Facts(Phase::kMoving, 3);
  facts.servers[1].target = false;  // everything that would move has been given up
  EXPECT_FALSE(NextPosition({4, Part::kFirstMoving, ScanCursor::MarkOf(3), 0}, facts).has_value());
}

TEST(ScanCursorTest, TheNextCursorIsTakenForAnother) {
  for (const uint64_t inner : {uint64_t{0}, uint64_t{77}, ScanCursor::kMaxInner}) {
    for (const uint64_t generation : {0, 1, 126, 127, 128}) {
      const ScanCursor cursor{16'382, Part::kSecond, ScanCursor::MarkOf(generation), inner};
      EXPECT_EQ(ScanCursor::Decode(cursor.Encode()), cursor);
      EXPECT_LT(cursor.Encode(), uint64_t{1} << 63);
      EXPECT_NE((ScanCursor{0, Part::kFirst, cursor.mark, 0}.Encode()), 0u) << "it would end the walk";
      EXPECT_EQ(ScanCursor::Before(ScanCursor::MarkOf(generation + 1)), cursor.mark);
    }
  }
  const ScanCursor usual{16'382, Part::kUnknown, 127, (uint64_t{1} << 30) - 1};
  EXPECT_LT(usual.Encode(), uint64_t{1} << 53) << "clients that keep it in a double would change it";
}

}  // namespace
}  // namespace ringway::proxy
