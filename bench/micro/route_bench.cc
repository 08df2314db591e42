// What a request costs between the read from its client and the write to it, without system calls: parse,
// route, match the reply, pass it on. The figures are per request (GET) or per MGET.
#include <cstring>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "tests/sim/core_world.h"

namespace ringway::proxy {
namespace {

struct Traffic {
  std::string requests;
  std::string replies[3];
};

void Turn(CoreWorld& world, FakeClient& client, const Traffic& traffic) {
  const ClientSession::ReadBuffer input = client.session().PrepareRead();
  std::memcpy(input.data, traffic.requests.data(), traffic.requests.size());
  client.session().OnBytesRead(traffic.requests.size());
  for (size_t shard = 0; shard < 3; ++shard) {
    if (traffic.replies[shard].empty()) continue;
    ShardSession& session = world.session(shard);
    session.output().Clear();
    const ShardSession::ReadBuffer read = session.PrepareRead();
    std::memcpy(read.data, traffic.replies[shard].data(), traffic.replies[shard].size());
    benchmark::DoNotOptimize(session.OnBytesRead(traffic.replies[shard].size()));
  }
  benchmark::DoNotOptimize(client.session().output().size());
  client.session().output().Clear();
  world.dirty_clients.FlushAll();
}

void RunTraffic(benchmark::State& state, CoreWorld& world, const Traffic& traffic, int64_t requests) {
  FakeClient client(world.environment, 1);
  for (auto _ : state) Turn(world, client, traffic);
  state.SetItemsProcessed(state.iterations() * requests);
}

// Argument: requests in one read.
void BM_Get(benchmark::State& state) {
  CoreWorld world;
  Traffic traffic;
  for (int64_t i = 0; i < state.range(0); ++i) {
    const auto shard = static_cast<size_t>(i % 3);
    traffic.requests += Command({"GET", world.KeyOn(shard, "memtier-" + std::to_string(i) + "-")});
    traffic.replies[shard] += Bulk(std::string(32, 'v'));
  }
  RunTraffic(state, world, traffic, state.range(0));
}
BENCHMARK(BM_Get)->Arg(1)->Arg(16)->Arg(100);

void BM_Set(benchmark::State& state) {
  CoreWorld world;
  Traffic traffic;
  for (int64_t i = 0; i < state.range(0); ++i) {
    const auto shard = static_cast<size_t>(i % 3);
    traffic.requests +=
        Command({"SET", world.KeyOn(shard, "memtier-" + std::to_string(i) + "-"), std::string(32, 'v')});
    traffic.replies[shard] += "+OK\r\n";
  }
  RunTraffic(state, world, traffic, state.range(0));
}
BENCHMARK(BM_Set)->Arg(16);

// Argument: keys, over three shards.
void BM_Mget(benchmark::State& state) {
  CoreWorld world;
  std::vector<std::string> request = {"MGET"};
  size_t count[3] = {};
  for (int64_t i = 0; i < state.range(0); ++i) {
    const auto shard = static_cast<size_t>(i % 3);
    request.push_back(world.KeyOn(shard, "memtier-" + std::to_string(i) + "-"));
    ++count[shard];
  }
  Traffic traffic;
  traffic.requests = Command(request);
  for (size_t shard = 0; shard < 3; ++shard) {
    traffic.replies[shard] = "*" + std::to_string(count[shard]) + "\r\n";
    for (size_t i = 0; i < count[shard]; ++i) traffic.replies[shard] += Bulk(std::string(32, 'v'));
  }
  RunTraffic(state, world, traffic, 1);
}
BENCHMARK(BM_Mget)->Arg(10)->Arg(100);

}  // namespace
}  // namespace ringway::proxy
