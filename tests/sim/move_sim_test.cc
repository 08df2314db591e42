#include "tests/sim/move_sim.h"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "proxy/move/test_fault.h"

namespace ringway::proxy {
namespace {

uint64_t NumberFrom(const char* variable, uint64_t otherwise) {
  const char* given = std::getenv(variable);
  return given != nullptr ? std::stoull(given) : otherwise;
}

// Under the thread sanitizer, which finds nothing in a single thread, a few must do.
#if defined(__SANITIZE_THREAD__)
constexpr uint64_t kSeeds = 3;
#else
constexpr uint64_t kSeeds = 40;
#endif
// They end with the first one that sees it.
constexpr uint64_t kSeedsWithFault = 40;

MoveSim::Options OptionsFor(uint64_t seed) {
  MoveSim::Options options;
  options.seed = seed;
  options.workers = 1 + seed % 3;
  options.clients = 2 + seed % 3;
  options.mover = seed % 4 == 3 ? config::Mover::kRelay : config::Mover::kMigrate;
  options.steps = static_cast<int>(NumberFrom("RINGWAY_MOVE_SIM_STEPS", 3000));
  return options;
}

// RINGWAY_MOVE_SIM_SEED replays one run, RINGWAY_MOVE_SIM_SEEDS and RINGWAY_MOVE_SIM_STEPS make it longer.
TEST(MoveSim, KeysAreWhatOneServerWouldHaveMadeThem) {
  const bool replay = std::getenv("RINGWAY_MOVE_SIM_SEED") != nullptr;
  const uint64_t first = NumberFrom("RINGWAY_MOVE_SIM_SEED", std::random_device{}());
  const uint64_t seeds = replay && std::getenv("RINGWAY_MOVE_SIM_SEEDS") == nullptr
                             ? 1
                             : NumberFrom("RINGWAY_MOVE_SIM_SEEDS", kSeeds);
  size_t replies = 0;
  size_t errors = 0;
  MoveSimControl::Figures sum;
  for (uint64_t seed = first; seed < first + seeds; ++seed) {
    MoveSim sim(OptionsFor(seed));
    ASSERT_EQ(sim.Run(), "") << "replay with RINGWAY_MOVE_SIM_SEED=" << seed;
    replies += sim.replies();
    errors += sim.errors();
    sum.settled += sim.figures().settled;
    sum.aborted += sim.figures().aborted;
    sum.failed += sim.figures().failed;
    sum.holds_called_off += sim.figures().holds_called_off;
    sum.keys_on_access += sim.figures().keys_on_access;
    sum.keys_background += sim.figures().keys_background;
  }
  std::printf(
      "seed %llu: %zu replies (%zu errors), %zu moves settled, %zu turned back, %zu failed, %zu holds called "
      "off, %llu keys moved on access and %llu in the background\n",
      static_cast<unsigned long long>(first), replies, errors, sum.settled, sum.aborted, sum.failed,
      sum.holds_called_off, static_cast<unsigned long long>(sum.keys_on_access),
      static_cast<unsigned long long>(sum.keys_background));
  if (replay) return;
  EXPECT_GT(replies, seeds * 100);
  EXPECT_GT(sum.settled, 0u);
  EXPECT_GT(sum.keys_on_access, 0u);
  EXPECT_GT(sum.keys_background, 0u);
}

// What the promises rest on is left out: somebody must see it.
class MoveSimFault : public ::testing::TestWithParam<TestFault> {
 protected:
  ~MoveSimFault() override { SetTestFault(TestFault::kNone); }
};

TEST_P(MoveSimFault, IsSeen) {
  SetTestFault(GetParam());
  uint64_t seed = 1;
  while (seed <= kSeedsWithFault && MoveSim(OptionsFor(seed)).Run().empty()) ++seed;
  EXPECT_LE(seed, kSeedsWithFault) << "nobody has seen the fault";
}

INSTANTIATE_TEST_SUITE_P(Faults, MoveSimFault,
                         ::testing::Values(TestFault::kSkipHold, TestFault::kSkipPull, TestFault::kSkipFence,
                                           TestFault::kForgetOrder));

}  // namespace
}  // namespace ringway::proxy
