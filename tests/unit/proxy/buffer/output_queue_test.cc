#include "proxy/buffer/output_queue.h"

#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ringway::proxy {
namespace {

// `size` bytes that differ from those of another `seed`.
std::string Pattern(size_t size, unsigned seed) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (i * 7 + seed) % 26);
  return text;
}

Slice SliceOf(BlockPool& pool, std::string_view text) {
  BlockRef block = pool.Take(text.size());
  std::memcpy(block->data(), text.data(), text.size());
  const char* data = block->data();
  return Slice{std::move(block), data, text.size()};
}

std::string Contents(const OutputQueue& queue) {
  std::vector<iovec> vectors(1024);
  const size_t count = queue.Peek(vectors);
  std::string all;
  for (size_t i = 0; i < count; ++i) {
    EXPECT_GT(vectors[i].iov_len, 0u) << "an entry without bytes";
    all.append(static_cast<const char*>(vectors[i].iov_base), vectors[i].iov_len);
  }
  EXPECT_EQ(all.size(), queue.size());
  return all;
}

size_t Entries(const OutputQueue& queue) {
  std::vector<iovec> vectors(1024);
  return queue.Peek(vectors);
}

TEST(OutputQueue, SmallPiecesShareOneEntry) {
  BlockPool pool;
  OutputQueue queue(pool);
  queue.Append(std::string_view("+OK\r\n"));
  queue.Append(std::string_view(":1\r\n"));
  EXPECT_EQ(Entries(queue), 1u);
  EXPECT_EQ(Contents(queue), "+OK\r\n:1\r\n");
}

TEST(OutputQueue, AnEmptyPieceOnAnEmptyQueueTouchesNothing) {
  BlockPool pool;
  OutputQueue queue(pool);
  queue.Append(std::string_view());
  queue.Append(Slice{});
  queue.AppendReference(Slice{});
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(Entries(queue), 0u);
  EXPECT_EQ(pool.bytes_in_use(), 0u);
}

TEST(OutputQueue, SlicesAreCopiedUpToTheLimitAndReferredToBeyond) {
  BlockPool pool;
  OutputQueue queue(pool);
  const Slice copied = SliceOf(pool, Pattern(OutputQueue::kMaxCopiedBytes, 1));
  const Slice referred = SliceOf(pool, Pattern(OutputQueue::kMaxCopiedBytes + 1, 2));
  queue.Append(copied);
  queue.Append(referred);
  EXPECT_EQ(copied.block->references, 1u);
  EXPECT_EQ(referred.block->references, 2u);
  EXPECT_EQ(Contents(queue), std::string(copied.view()) + std::string(referred.view()));
}

TEST(OutputQueue, LargeBytesWithoutABlockAreCopiedOverSeveralBlocks) {
  BlockPool pool;
  OutputQueue queue(pool);
  const std::string large = Pattern(BlockPool::kBlockBytes * 2 + 17, 3);
  queue.Append(large, nullptr);
  EXPECT_EQ(Contents(queue), large);
  EXPECT_EQ(pool.bytes_in_use(), 3 * BlockPool::kBlockBytes);
}

TEST(OutputQueue, TheOwnBlockIsGoneOnWithBehindAReference) {
  BlockPool pool;
  OutputQueue queue(pool);
  const Slice large = SliceOf(pool, Pattern(10'000, 4));
  std::string wanted;
  for (int i = 0; i < 3; ++i) {
    queue.Append(std::string_view("small"));
    queue.AppendReference(large);
    queue.AppendReference(large);
    wanted += "small" + std::string(large.view()) + std::string(large.view());
  }
  queue.Append(std::string_view("end"));
  EXPECT_EQ(Contents(queue), wanted + "end");
  EXPECT_EQ(pool.bytes_in_use(), BlockPool::kBlockBytes + large.block->capacity) << "one own block is enough";
}

TEST(OutputQueue, ABlockFilledToTheLastByteIsFollowedByANewOne) {
  BlockPool pool;
  OutputQueue queue(pool);
  const std::string full = Pattern(BlockPool::kBlockBytes, 5);
  queue.Append(full, nullptr);
  const Slice large = SliceOf(pool, Pattern(9'000, 6));
  queue.AppendReference(large);
  queue.Append(std::string_view("x"));
  EXPECT_EQ(Contents(queue), full + std::string(large.view()) + "x");
}

TEST(OutputQueue, ConsumeAtEveryBoundaryLeavesExactlyTheRest) {
  BlockPool pool;
  const Slice large = SliceOf(pool, Pattern(9'000, 7));
  const auto fill = [&](OutputQueue& queue) {
    queue.Append(std::string_view("abc"));
    queue.AppendReference(large);
    queue.Append(std::string_view("defgh"));
    queue.AppendReference(large);
  };
  OutputQueue whole(pool);
  fill(whole);
  const std::string all = Contents(whole);
  for (const size_t boundary : {size_t{3}, size_t{9'003}, size_t{9'008}, all.size()}) {
    for (int step = -2; step <= 2; ++step) {
      const size_t count = boundary + static_cast<size_t>(step);
      if (count > all.size()) continue;
      OutputQueue queue(pool);
      fill(queue);
      queue.Consume(count);
      EXPECT_EQ(Contents(queue), all.substr(count)) << count;
      queue.Append(std::string_view("more"));
      EXPECT_EQ(Contents(queue), all.substr(count) + "more") << count;
    }
  }
}

TEST(OutputQueue, ClearAndTheLastConsumeGiveAllMemoryBack) {
  BlockPool pool;
  OutputQueue queue(pool);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 100; ++i) {
      queue.Append(std::string_view("small"));
      queue.AppendReference(SliceOf(pool, Pattern(9'000, 8)));
    }
    if (round == 0) {
      queue.Clear();
    } else {
      queue.Consume(queue.size());
    }
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(pool.bytes_in_use(), 0u);
    queue.Append(std::string_view("usable"));
    EXPECT_EQ(Contents(queue), "usable");
    queue.Clear();
  }
}

TEST(OutputQueue, ReferencesAreGivenBackAsSoonAsTheirBytesAreTaken) {
  BlockPool pool;
  OutputQueue queue(pool);
  const Slice large = SliceOf(pool, Pattern(9'000, 9));
  queue.AppendReference(large);
  queue.AppendReference(large);
  queue.Consume(9'000);
  EXPECT_EQ(large.block->references, 2u);
  queue.Consume(9'000);
  EXPECT_EQ(large.block->references, 1u);
}

TEST(OutputQueue, PeekFillsNoMoreThanItIsGiven) {
  BlockPool pool;
  OutputQueue queue(pool);
  for (int i = 0; i < 5; ++i) queue.AppendReference(SliceOf(pool, Pattern(9'000, 10)));
  std::array<iovec, 3> vectors;
  EXPECT_EQ(queue.Peek(vectors), 3u);
  EXPECT_EQ(queue.Peek({}), 0u);
}

// Against a string that does the same.
TEST(OutputQueue, AnyMixtureKeepsTheBytesInOrder) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  BlockPool pool;
  OutputQueue queue(pool);
  std::string model;
  size_t model_begin = 0;
  for (unsigned i = 0; i < 5'000; ++i) {
    const size_t size = random() % 5 == 0 ? random() % 70'000 : random() % 300;
    const std::string text = Pattern(size, i);
    switch (random() % 5) {
      case 0:
        queue.Append(std::string_view(text));
        break;
      case 1:
        queue.Append(SliceOf(pool, text));
        break;
      case 2:
        queue.AppendReference(SliceOf(pool, text));
        break;
      default: {
        const size_t taken = random() % 8 == 0 ? queue.size() : random() % (queue.size() + 1);
        iovec front;
        if (queue.Peek({&front, 1}) == 1) {
          ASSERT_EQ(std::string_view(static_cast<char*>(front.iov_base), front.iov_len),
                    std::string_view(model).substr(model_begin, front.iov_len));
        }
        queue.Consume(taken);
        model_begin += taken;
        continue;
      }
    }
    model += text;
  }
  ASSERT_EQ(queue.size(), model.size() - model_begin);
  std::string rest;
  while (!queue.empty()) {
    iovec front;
    ASSERT_EQ(queue.Peek({&front, 1}), 1u);
    rest.append(static_cast<char*>(front.iov_base), front.iov_len);
    queue.Consume(front.iov_len);
  }
  EXPECT_EQ(rest, model.substr(model_begin));
  EXPECT_EQ(pool.bytes_in_use(), 0u);
}

}  // namespace
}  // namespace ringway::proxy
