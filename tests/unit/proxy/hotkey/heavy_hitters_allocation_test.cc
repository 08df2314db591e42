// Counting is on the path of requests, so it must not allocate: operator new is counted here.
#include <cstdlib>
#include <new>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "proxy/hotkey/heavy_hitters.h"

namespace {
thread_local size_t allocations = 0;
}  // namespace

// None is inlined: a compiler that sees one half of a pair takes the other for a mistake.
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace ringway::proxy {
namespace {

TEST(HeavyHitters, CountersInUseTakeNoMemory) {
  HeavyHitters hitters;
  std::string key;
  key.reserve(100);
  std::mt19937 random(1);
  const auto add = [&](size_t number) {
    key.assign(64, 'k');
    for (; number > 0; number /= 10) key.push_back(static_cast<char>('0' + number % 10));
    key.resize(80, '-');
    hitters.Add(0, key, true);
  };
  for (size_t i = 0; i < HeavyHitters::kCounters; ++i) add(i);
  ASSERT_GT(allocations, HeavyHitters::kCounters);  // they are counted
  const size_t before = allocations;
  for (int i = 0; i < 100'000; ++i) {
    add(random() % 10'000);
    if (i % 1000 == 0) hitters.Halve();
  }
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace ringway::proxy
