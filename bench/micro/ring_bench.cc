// What the ring costs a request, and what a change of shards costs the control thread.

#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include "ring/ring_diff.h"

namespace ringway::ring {
namespace {

std::vector<Member> Equal(int64_t count) {
  std::vector<Member> members;
  for (int64_t i = 0; i < count; ++i) members.push_back({"cache" + std::to_string(i), "", 1});
  return members;
}

RingOptions Capped() { return {}; }

RingOptions Plain() {
  RingOptions options;
  options.balance_cap = std::nullopt;
  return options;
}

RingOptions Twemproxy(Distribution distribution, HashFunction hash) {
  RingOptions options;
  options.distribution = distribution;
  options.hash = hash;
  return options;
}

// 20-byte keys one after the other, as requests in a read buffer: enough to touch all of a table.
constexpr size_t kKeys = 8192;
constexpr size_t kKeyBytes = 20;

std::string Keys() {
  std::string keys;
  for (size_t i = 0; i < kKeys; ++i) keys += "session:" + std::to_string(100000000000 + i * 7919);
  return keys;
}

std::string_view Key(const std::string& keys, size_t i) {
  return std::string_view(keys).substr((i % kKeys) * kKeyBytes, kKeyBytes);
}

void Locate(benchmark::State& state, const RingOptions& options) {
  const HashRing ring(Equal(state.range(0)), options);
  const std::string keys = Keys();
  size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(ring.Locate(Key(keys, i++)));
}

// Tag and hash without the look-up.
void Hash(benchmark::State& state, const RingOptions& options) {
  const HashRing ring(Equal(10), options);
  const std::string keys = Keys();
  size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(ring.Hash(Key(keys, i++)));
}

// The part after hashing, over hashes that follow no pattern.
void Owner(benchmark::State& state, const RingOptions& options) {
  const HashRing ring(Equal(state.range(0)), options);
  uint64_t hash = 1;
  for (auto _ : state) {
    hash = hash * 6364136223846793005u + 1442695040888963407u;
    benchmark::DoNotOptimize(ring.Owner(ring.hash_bits() == 64 ? hash : hash >> 32));
  }
}

void Build(benchmark::State& state, const RingOptions& options) {
  const std::vector<Member> members = Equal(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(HashRing(members, options));
}

void Diff(benchmark::State& state) {
  const HashRing from(Equal(state.range(0)), {});
  const HashRing to(Equal(state.range(0) + 1), {});
  for (auto _ : state) benchmark::DoNotOptimize(RingDiff(from, to));
}

void Moves(benchmark::State& state) {
  const RingDiff diff(HashRing(Equal(10), {}), HashRing(Equal(11), {}));
  uint64_t hash = 1;
  for (auto _ : state) {
    hash = hash * 6364136223846793005u + 1442695040888963407u;
    benchmark::DoNotOptimize(diff.Moves(hash));
  }
}

const RingOptions kKetamaFnv = Twemproxy(Distribution::kKetama, HashFunction::kFnv1a_64);
const RingOptions kKetamaMurmur = Twemproxy(Distribution::kKetama, HashFunction::kMurmur);
const RingOptions kKetamaMd5 = Twemproxy(Distribution::kKetama, HashFunction::kMd5);

BENCHMARK_CAPTURE(Locate, ring, Capped())->Arg(10)->Arg(1000);
BENCHMARK_CAPTURE(Locate, plain_ring, Plain())->Arg(10)->Arg(1000);
BENCHMARK_CAPTURE(Locate, ketama_fnv1a_64, kKetamaFnv)->Arg(10);
BENCHMARK_CAPTURE(Locate, ketama_murmur, kKetamaMurmur)->Arg(10);
BENCHMARK_CAPTURE(Locate, ketama_md5, kKetamaMd5)->Arg(10);
BENCHMARK_CAPTURE(Hash, xxh3, Capped());
BENCHMARK_CAPTURE(Hash, fnv1a_64, kKetamaFnv);
BENCHMARK_CAPTURE(Owner, ring, Capped())->Arg(10);
BENCHMARK_CAPTURE(Owner, plain_ring, Plain())->Arg(10);
BENCHMARK_CAPTURE(Owner, ketama, kKetamaFnv)->Arg(10);
BENCHMARK_CAPTURE(Build, ring, Capped())->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Build, plain_ring, Plain())->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Build, ketama, kKetamaFnv)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK(Diff)->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond);
BENCHMARK(Moves);

}  // namespace
}  // namespace ringway::ring
