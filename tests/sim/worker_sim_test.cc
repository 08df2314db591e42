#include "tests/sim/worker_sim.h"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace ringway::proxy {
namespace {

// RINGWAY_SIM_SEED replays one run.
uint64_t FirstSeed() {
  const char* given = std::getenv("RINGWAY_SIM_SEED");
  return given != nullptr ? std::stoull(given) : std::random_device{}();
}

// Under the thread sanitizer, which finds nothing in a single thread, a few must do.
#if defined(__SANITIZE_THREAD__)
constexpr uint64_t kSeeds = 6;
#else
constexpr uint64_t kSeeds = 60;
#endif

TEST(WorkerSim, EveryClientGetsItsOwnRepliesInOrder) {
  const bool replay = std::getenv("RINGWAY_SIM_SEED") != nullptr;
  const uint64_t first = FirstSeed();
  size_t replies = 0;
  size_t errors = 0;
  size_t left = 0;
  size_t died = 0;
  for (uint64_t seed = first; seed < first + (replay ? 1 : kSeeds); ++seed) {
    WorkerSim sim({.seed = seed, .clients = 2 + seed % 12, .shards = 1 + seed % 4, .steps = 3000});
    const std::string problem = sim.Run();
    ASSERT_EQ(problem, "") << "replay with RINGWAY_SIM_SEED=" << seed;
    replies += sim.replies_checked();
    errors += sim.errors_seen();
    left += sim.clients_left();
    died += sim.shards_died();
  }
  std::printf("seed %llu: %zu replies (%zu errors), %zu clients left, %zu shards died\n",
              static_cast<unsigned long long>(first), replies, errors, left, died);
  EXPECT_GT(replies, 100u);
}

TEST(WorkerSim, AShardThatSkipsAReplyIsSeen) {
  int seen = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    WorkerSim sim({.seed = seed, .clients = 6, .shards = 2, .steps = 3000, .drops_a_reply = true});
    seen += sim.Run().empty() ? 0 : 1;
  }
  // A shard that dies right after it, or a client that leaves, may cover a fault up.
  EXPECT_GE(seen, 5);
}

}  // namespace
}  // namespace ringway::proxy
