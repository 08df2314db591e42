// Steady traffic must not allocate: malloc is counted around session, router, shard session and back.
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "tests/sim/core_world.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {
thread_local size_t allocations = 0;
}  // namespace

// In place of the C library's, so that blocks (malloc) and operator new are seen alike.
extern "C" void* __libc_malloc(size_t size);
extern "C" void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}

namespace ringway::proxy {
namespace {

// Feeds `replies` for what the client has asked, and takes all output, without memory of its own.
void Turn(CoreWorld& world, FakeClient& client, std::string_view request, const std::string (&replies)[3]) {
  client.Send(request);
  for (size_t shard = 0; shard < 3; ++shard) {
    ShardSession& session = world.session(shard);
    session.output().Consume(session.output().size());
    ASSERT_TRUE(FakeShard::Feed(session, replies[shard]));
  }
  OutputQueue& output = client.session().output();
  ASSERT_FALSE(output.empty());
  output.Consume(output.size());
  client.session().OnOutputTaken();
  world.dirty_clients.FlushAll();
}

size_t AllocationsOf1000Turns(std::string_view request, const std::string (&replies)[3]) {
  CoreWorld world;
  FakeClient client(world.environment, 1);
  for (int i = 0; i < 100; ++i) Turn(world, client, request, replies);
  const size_t before = allocations;
  for (int i = 0; i < 1000; ++i) Turn(world, client, request, replies);
  return allocations - before;
}

TEST(Allocation, CountingSeesAllocations) {
  const size_t before = allocations;
  const std::string large(1000, 'x');
  BlockPool pool;
  const BlockRef block = pool.Take();
  EXPECT_EQ(allocations - before, 2u) << large.size();
}

TEST(Allocation, GetsAllocateNothing) {
  CoreWorld world;
  const std::string key = world.KeyOn(0);
  EXPECT_EQ(AllocationsOf1000Turns(Command({"GET", key}), {Bulk("value"), "", ""}), 0u);
}

TEST(Allocation, PipelinesOfGetsAllocateNothing) {
  CoreWorld world;
  std::string requests;
  std::string replies[3];
  for (int i = 0; i < 100; ++i) {
    requests += Command({"GET", world.KeyOn(static_cast<size_t>(i % 3))});
    replies[i % 3] += Bulk("value");
  }
  EXPECT_EQ(AllocationsOf1000Turns(requests, replies), 0u);
}

TEST(Allocation, MgetsOverThreeShardsAllocateNothing) {
  CoreWorld world;
  for (const size_t keys : {size_t{3}, size_t{10}, size_t{100}}) {
    std::vector<std::string> request = {"MGET"};
    size_t count[3] = {};
    for (size_t i = 0; i < keys; ++i) {
      request.push_back(world.KeyOn(i % 3, "key" + std::to_string(i) + "."));
      ++count[i % 3];
    }
    std::string replies[3];
    for (size_t shard = 0; shard < 3; ++shard) {
      replies[shard] = "*" + std::to_string(count[shard]) + "\r\n";
      for (size_t i = 0; i < count[shard]; ++i) replies[shard] += Bulk("value");
    }
    EXPECT_EQ(AllocationsOf1000Turns(Command(request), replies), 0u) << keys;
  }
}

TEST(Allocation, LargeSetsAndValuesAllocateNothingWithinABlock) {
  CoreWorld world;
  const std::string key = world.KeyOn(0);
  EXPECT_EQ(AllocationsOf1000Turns(Command({"SET", key, std::string(20'000, 'v')}), {"+OK\r\n", "", ""}), 0u);
  EXPECT_EQ(AllocationsOf1000Turns(Command({"GET", key}), {Bulk(std::string(20'000, 'v')), "", ""}), 0u);
}

}  // namespace
}  // namespace ringway::proxy

#endif
