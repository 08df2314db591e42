#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/move/drain.h"
#include "tests/unit/proxy/route/router_fixture.h"

namespace ringway::proxy {

// A router over the shards 0, 1 and 2 that is told of moves, mostly to a shard 3 that joins. Indices of
// shards are the same before and after.
class MoveTest : public RouterTest {
 protected:
  using Frame = std::vector<std::string>;
  using Frames = std::vector<Frame>;

  MoveTest() : RouterTest({.shards = 4, .down = {}, .hash_tag = "{}"}) { world.Adopt({0, 1, 2}); }
  ~MoveTest() override {
    client.reset();
    world.pool.Close();
    EXPECT_EQ(world.requests.in_use(), 0u) << "a request leaks";
  }

  // As a worker adopts it.
  void Adopt(std::shared_ptr<const Topology> topology) {
    drain.Begin(world.router.epoch_token());
    world.Adopt(std::move(topology));
    if (client != nullptr && client->session().stopped()) client->session().MarkResumable();
    world.EndTurn();
  }
  void Hold(std::shared_ptr<const MovePlan> next) {
    plan = std::move(next);
    Adopt(HoldingTopology(++epoch, 0, plan));
  }
  void Move(std::shared_ptr<const MovePlan> next) {
    plan = std::move(next);
    Adopt(MovingTopology(++epoch, 1, plan));
  }
  bool Drained() {
    const Topology& topology = world.router.topology();
    return drain.Ended(topology.ServersInMotion(), topology.phase == Topology::Phase::kLeaving);
  }

  // A key that moves between these shards.
  std::string MovingKey(uint32_t from, uint32_t to = 3, const std::string& prefix = "k") const {
    for (int i = 0;; ++i) {
      std::string key = prefix + std::to_string(i);
      const uint64_t hash = plan->diff().from().Hash(key);
      if (plan->Moves(hash) && plan->FromIndex(hash) == from && plan->ToIndex(hash) == to) return key;
    }
  }
  std::vector<std::string> MovingKeys(size_t count, uint32_t from, uint32_t to = 3) const {
    std::vector<std::string> keys;
    for (size_t i = 0; i < count; ++i) keys.push_back(MovingKey(from, to, "n" + std::to_string(i) + "."));
    return keys;
  }
  std::string StillKey(uint32_t shard) const {
    for (int i = 0;; ++i) {
      std::string key = "still" + std::to_string(i);
      const uint64_t hash = plan->diff().from().Hash(key);
      if (!plan->Moves(hash) && plan->FromIndex(hash) == shard) return key;
    }
  }

  // What a source is sent to move these keys.
  static Frames BatchOf(const std::vector<std::string>& keys, uint32_t target = 3,
                        const std::string& db = "0", const std::string& timeout = "1000") {
    Frame exists = {"EXISTS"};
    exists.insert(exists.end(), keys.begin(), keys.end());
    Frames frames = {{"MULTI"}, exists};
    for (const std::string& key : keys) frames.push_back({"MEMORY", "USAGE", key});
    Frame migrate = {"MIGRATE", "s" + std::to_string(target) + ".invalid", "6379", "", db, timeout, "REPLACE",
                     "KEYS"};
    migrate.insert(migrate.end(), keys.begin(), keys.end());
    frames.insert(frames.end(), {migrate, exists, {"EXEC"}});
    return frames;
  }
  // Its replies: all `keys` were there and none is there any more, unless MIGRATE's own is an error.
  static std::string BatchReply(size_t keys, const std::string& migrate = "+OK\r\n", uint64_t bytes = 100) {
    const std::string count = ":" + std::to_string(keys) + "\r\n";
    std::string reply = "+OK\r\n";
    for (size_t i = 0; i < keys + 3; ++i) reply += "+QUEUED\r\n";
    reply += "*" + std::to_string(keys + 3) + "\r\n" + count;
    for (size_t i = 0; i < keys; ++i) reply += ":" + std::to_string(bytes) + "\r\n";
    return reply + migrate + (migrate.front() == '-' ? count : ":0\r\n");
  }
  const MoveFigures::Pair& Figures(size_t pair = 0) const { return plan->figures().pairs[pair]; }

  const std::vector<size_t> three = {0, 1, 2};
  const std::vector<size_t> four = {0, 1, 2, 3};
  Drain drain{world.pool};
  std::shared_ptr<const MovePlan> plan;
  uint64_t epoch = 1;
};

}  // namespace ringway::proxy
