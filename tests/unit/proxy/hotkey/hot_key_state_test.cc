// What workers know together of a hot key and of its copies.
#include <atomic>
#include <barrier>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "proxy/hotkey/hot_key.h"

namespace ringway::proxy {
namespace {

TEST(HotKeyState, CopiesAreReadBeforeTheLastWorkerHasSettled) {
  HotKey key(0, "k", 3);
  for (int workers = 3; workers > 0; --workers) {
    EXPECT_TRUE(key.state().written()) << workers << " are still to settle";
    key.EndWrite();
  }
  EXPECT_FALSE(key.state().written());
}

TEST(HotKeyState, AWriteThatEndsLeavesTheGenerationAsItWas) {
  HotKey key(0, "k", 0);
  const uint64_t before = key.state().generation();
  key.BeginWrite();
  EXPECT_TRUE(key.state().written());
  EXPECT_EQ(key.state().generation(), before) << "what it makes is not there yet";
  key.EndWrite();
  EXPECT_FALSE(key.state().written());
  EXPECT_EQ(key.state().generation(), before + 1);
}

TEST(HotKeyState, OneWriteEndsAnother) {
  HotKey key(0, "k", 0);
  key.BeginWrite();
  key.BeginWrite();
  key.EndWrite();
  EXPECT_TRUE(key.state().written());
  EXPECT_EQ(key.state().generation(), 1U);
  key.EndWrite();
  EXPECT_FALSE(key.state().written());
  EXPECT_EQ(key.state().generation(), 2U);
}

TEST(HotKeyState, AKeyThatHasCooledIsSpreadAgainByItsLastWrite) {
  HotKey key(0, "k", 1);
  key.BeginWrite();
  key.Retire();
  key.EndWrite();
  key.EndWrite();
  EXPECT_TRUE(key.state().written());
}

TEST(HotKeyState, ThreadsLoseCountOfWrites) {
  constexpr int kRounds = 1'000'000;
  HotKey key(0, "k", 0);
  std::barrier begin(2);
  const auto write = [&] {
    begin.arrive_and_wait();
    for (int i = 0; i < kRounds; ++i) {
      key.BeginWrite();
      key.EndWrite();
    }
  };
  std::thread other(write);
  write();
  other.join();
  EXPECT_FALSE(key.state().written());
  EXPECT_EQ(key.state().generation(), 2U * kRounds);
}

TEST(BucketCopy, AnEmptyBucketIsTakenForACopy) {
  BucketCopy bucket;
  EXPECT_FALSE(bucket.Get().has_value());
  bucket.Set({7, 3, 1'000});
  const auto copy = bucket.Get();
  ASSERT_TRUE(copy.has_value());
  EXPECT_EQ(copy->id, 7U);
  EXPECT_EQ(copy->generation, 3U);
  EXPECT_EQ(copy->until_usec, 1'000);
}

TEST(BucketCopy, ForgettingAnOldCopyForgetsTheNewOne) {
  BucketCopy bucket;
  bucket.Set({7, 3, 1'000});
  bucket.Set({8, 3, 2'000});
  bucket.Forget(7);
  ASSERT_TRUE(bucket.Get().has_value());
  EXPECT_EQ(bucket.Get()->id, 8U);
  bucket.Forget(8);
  EXPECT_FALSE(bucket.Get().has_value());
  bucket.Set({9, 4, 3'000});
  EXPECT_TRUE(bucket.Get().has_value());
}

TEST(BucketCopy, AReaderSeesAMixtureOfTwoCopies) {
  constexpr int kReads = 20'000'000;
  constexpr uint64_t kCopies = 1'000'000;
  BucketCopy bucket;
  std::atomic<bool> done{false};
  std::atomic<uint64_t> written{0};
  std::barrier begin(2);
  std::thread writer([&] {
    begin.arrive_and_wait();
    for (uint64_t id = 1; !done; ++id) {
      bucket.Set({id, 3 * id, static_cast<int64_t>(7 * id)});
      written.store(id, std::memory_order_relaxed);
    }
  });
  uint64_t mixtures = 0;
  uint64_t older = 0;
  uint64_t last = 0;
  begin.arrive_and_wait();
  for (int i = 0; i < kReads || written.load(std::memory_order_relaxed) < kCopies || last == 0; ++i) {
    const auto copy = bucket.Get();
    if (!copy.has_value()) continue;
    if (copy->generation != 3 * copy->id) ++mixtures;
    if (copy->until_usec != static_cast<int64_t>(7 * copy->id)) ++mixtures;
    if (copy->id < last) ++older;
    last = copy->id;
  }
  done = true;
  writer.join();
  EXPECT_EQ(mixtures, 0U);
  EXPECT_EQ(older, 0U);
  ASSERT_TRUE(bucket.Get().has_value());
  EXPECT_EQ(bucket.Get()->id, written.load());
}

TEST(CopyId, ANumberIsGivenOutTwiceOrMeansNothing) {
  constexpr size_t kIds = 10'000;
  std::vector<uint64_t> mine;
  std::vector<uint64_t> others;
  const auto take = [](std::vector<uint64_t>& ids) {
    for (size_t i = 0; i < kIds; ++i) ids.push_back(NextCopyId());
  };
  std::thread other([&] { take(others); });
  take(mine);
  other.join();
  std::set<uint64_t> all(mine.begin(), mine.end());
  all.insert(others.begin(), others.end());
  EXPECT_EQ(all.size(), 2 * kIds);
  EXPECT_EQ(all.count(0), 0U);
}

}  // namespace
}  // namespace ringway::proxy
