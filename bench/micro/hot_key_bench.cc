// What looking for hot keys costs each request: Note as the router calls it, and Add, which one in 16 pays.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "proxy/hotkey/key_sampler.h"
#include "tests/support/zipf.h"

namespace ringway::proxy {
namespace {

// 65,536 requests on keys of 20 bytes. Argument of the benchmarks: ten times Zipf's exponent; 0: each key as
// often as any.
std::vector<std::string> Requests(int64_t exponent) {
  std::mt19937 random(1);
  const test::Zipf zipf(1'000'000, static_cast<double>(exponent) / 10);
  std::vector<std::string> keys;
  for (int i = 0; i < 65'536; ++i) {
    std::string key = std::to_string(zipf(random));
    keys.push_back("key:" + std::string(16 - key.size(), '0') + key);
  }
  return keys;
}

void BM_Add(benchmark::State& state) {
  const std::vector<std::string> keys = Requests(state.range(0));
  const auto hitters = std::make_unique<HeavyHitters>();
  size_t i = 0;
  for (auto _ : state) hitters->Add(0, keys[i++ % keys.size()], true);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Add)->Arg(0)->Arg(9)->Arg(12);

void BM_Note(benchmark::State& state) {
  const std::vector<std::string> keys = Requests(state.range(0));
  const auto sampler = std::make_unique<KeySampler>(1);
  sampler->set_enabled(state.range(1) != 0);
  size_t i = 0;
  for (auto _ : state) {
    sampler->Note(0, keys[i++ % keys.size()], true);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Note)->ArgNames({"zipf", "on"})->Args({0, 1})->Args({9, 1})->Args({12, 1})->Args({12, 0});

void BM_Report(benchmark::State& state) {
  const std::vector<std::string> keys = Requests(12);
  const auto sampler = std::make_unique<KeySampler>(1);
  for (auto _ : state) {
    state.PauseTiming();
    for (const std::string& key : keys) sampler->Note(0, key, true);
    state.ResumeTiming();
    benchmark::DoNotOptimize(sampler->TakeReport());
  }
}
BENCHMARK(BM_Report)->Iterations(200);

}  // namespace
}  // namespace ringway::proxy
