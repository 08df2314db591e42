#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/core_world.h"

namespace ringway::proxy {

// A router over three shards that the test plays, and one client.
class RouterTest : public ::testing::Test {
 protected:
  explicit RouterTest(const CoreWorld::Options& options = {}) : world(options) {}
  ~RouterTest() override {
    client.reset();
    world.pool.Close();
    world.environment.scratch.Reset();
    EXPECT_EQ(world.blocks.bytes_in_use(), 0u) << "a block leaks";
  }

  // Sends a request and ends the turn; answers what the client has received by now.
  std::string Ask(const std::vector<std::string>& args) {
    client->Send(Command(args));
    world.EndTurn();
    return client->Take();
  }
  // Lets a shard answer, and says what the client has received by then.
  std::string Reply(size_t shard, std::string_view bytes) {
    world.Reply(shard, bytes);
    return client->Take();
  }
  size_t in_flight() {
    size_t sum = 0;
    for (uint32_t i = 0; i < world.pool.shards(); ++i) sum += world.session(i).in_flight();
    return sum;
  }

  CoreWorld world;
  std::unique_ptr<FakeClient> client = std::make_unique<FakeClient>(world.environment, 7);
};

}  // namespace ringway::proxy
