#include "proxy/buffer/block.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ringway::proxy {
namespace {

TEST(BlockRef, CopiesAreCountedAndTheLastOneGivesTheBlockBack) {
  BlockPool pool;
  BlockRef first = pool.Take();
  EXPECT_TRUE(first.IsSole());
  {
    const BlockRef second = first;
    EXPECT_FALSE(first.IsSole());
    EXPECT_EQ(first->references, 2u);
  }
  EXPECT_TRUE(first.IsSole());
  EXPECT_EQ(pool.bytes_in_use(), BlockPool::kBlockBytes);
  first.Reset();
  EXPECT_EQ(pool.bytes_in_use(), 0u);
  EXPECT_FALSE(first);
}

TEST(BlockRef, MovesAndAssignmentsNeitherLeakNorFreeTwice) {
  BlockPool pool;
  BlockRef a = pool.Take();
  BlockRef b = pool.Take();
  a = std::move(b);
  EXPECT_EQ(pool.bytes_in_use(), BlockPool::kBlockBytes);
  BlockRef& same = a;
  a = same;
  EXPECT_TRUE(a.IsSole());
  BlockRef c = std::move(a);
  EXPECT_FALSE(a);
  EXPECT_TRUE(c.IsSole());
  c = BlockRef();
  EXPECT_EQ(pool.bytes_in_use(), 0u);
}

TEST(BlockPool, OrdinaryBlocksAreUsedAgainAndOthersAreNot) {
  BlockPool pool;
  Block* ordinary = pool.Take().get();
  EXPECT_EQ(pool.Take().get(), ordinary);
  const BlockRef large = pool.Take(BlockPool::kBlockBytes * 3);
  EXPECT_GE(large->capacity, BlockPool::kBlockBytes * 3);
  EXPECT_EQ(pool.bytes_in_use(), large->capacity);
}

TEST(BlockPool, TrimLeavesBlocksInUseAndThoseNeededMeanwhile) {
  BlockPool pool;
  {
    std::vector<BlockRef> burst;
    for (int i = 0; i < 10; ++i) burst.push_back(pool.Take());
  }
  pool.Trim();
  const BlockRef used = pool.Take();
  Block* needed = pool.Take().get();
  pool.Trim();
  EXPECT_EQ(pool.Take().get(), needed);
  pool.Trim();
  pool.Trim();
  const BlockRef fresh = pool.Take();
  fresh.get()->data()[BlockPool::kBlockBytes - 1] = 'x';
  EXPECT_EQ(pool.bytes_in_use(), 2 * BlockPool::kBlockBytes);
}

TEST(BlockPool, KeepsNoMoreFreeBlocksThanItsLimit) {
  BlockPool pool;
  std::vector<BlockRef> taken;
  for (size_t i = 0; i < BlockPool::kMaxFreeBlocks + 2; ++i) taken.push_back(pool.Take());
  taken.clear();  // the leak check of the sanitizer sees those beyond the limit if they were not freed
  EXPECT_EQ(pool.bytes_in_use(), 0u);
}

}  // namespace
}  // namespace ringway::proxy
