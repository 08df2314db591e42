// RingQueue and FlushQueue.
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/flush_queue.h"
#include "proxy/ring_queue.h"

namespace ringway::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RingQueue, GrowingWhileWrappedRoundKeepsTheOrder) {
  RingQueue<int> queue;
  for (int i = 0; i < 16; ++i) queue.push_back(i);
  for (int i = 0; i < 10; ++i) queue.pop_front();
  for (int i = 16; i < 60; ++i) queue.push_back(i);
  ASSERT_EQ(queue.size(), 50u);
  for (int i = 10; i < 60; ++i) {
    EXPECT_EQ(queue[0], i);
    EXPECT_EQ(queue.front(), i);
    queue.pop_front();
  }
  EXPECT_TRUE(queue.empty());
}

TEST(RingQueue, CanBeUsedAfterItGaveItsMemoryBack) {
  RingQueue<int> queue;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < static_cast<int>(RingQueue<int>::kMaxIdle) + 1; ++i) queue.push_back(i);
    for (int i = 0; !queue.empty(); ++i) {
      ASSERT_EQ(queue.front(), i);
      queue.pop_front();
    }
  }
}

TEST(RingQueue, AnySequenceEqualsADeque) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  RingQueue<unsigned> queue;
  std::deque<unsigned> model;
  for (unsigned i = 0; i < 200'000; ++i) {
    const bool grows = (i / 10'000) % 2 == 0;
    if (random() % 4 < (grows ? 3u : 1u)) {
      queue.push_back(i);
      model.push_back(i);
    } else if (!model.empty()) {
      queue.pop_front();
      model.pop_front();
    }
    ASSERT_EQ(queue.size(), model.size());
    if (model.empty()) continue;
    const size_t at = random() % model.size();
    ASSERT_EQ(queue[at], model[at]);
  }
}

// Notes its name, then does what the test wants.
class Item final : public Flushable {
 public:
  Item(std::vector<std::string>& log, std::string name) : log_(log), name_(std::move(name)) {}
  void Flush() override {
    log_.push_back(name_);
    if (on_flush) on_flush();
  }
  std::function<void()> on_flush;

 private:
  std::vector<std::string>& log_;
  std::string name_;
};

TEST(FlushQueue, AnItemAddedTwiceIsFlushedOnce) {
  std::vector<std::string> log;
  FlushQueue queue;
  Item a(log, "a");
  queue.Add(&a);
  queue.Add(&a);
  EXPECT_EQ(queue.FlushAll(), 1u);
  EXPECT_THAT(log, ElementsAre("a"));
  EXPECT_TRUE(queue.empty());
}

TEST(FlushQueue, WhatIsAddedMeanwhileIsFlushedInTheSameTurn) {
  std::vector<std::string> log;
  FlushQueue queue;
  Item a(log, "a");
  Item b(log, "b");
  a.on_flush = [&] {
    queue.Add(&b);
    if (log.size() < 3) queue.Add(&a);
  };
  queue.Add(&a);
  queue.FlushAll();
  EXPECT_THAT(log, ElementsAre("a", "b", "a", "b"));
}

TEST(FlushQueue, OneThatDiesBeforeItsTurnIsNotTouched) {
  std::vector<std::string> log;
  FlushQueue queue;
  auto dying = std::make_unique<Item>(log, "dying");
  Item killer(log, "killer");
  killer.on_flush = [&] {
    queue.Remove(dying.get());
    dying.reset();
  };
  queue.Add(&killer);
  queue.Add(dying.get());
  queue.FlushAll();
  EXPECT_THAT(log, ElementsAre("killer"));
  Item never_added(log, "never");
  queue.Remove(&never_added);
  EXPECT_TRUE(queue.empty());
}

TEST(FlushQueue, OneThatWasRemovedCanBeAddedAgain) {
  std::vector<std::string> log;
  FlushQueue queue;
  Item a(log, "a");
  queue.Add(&a);
  queue.Remove(&a);
  queue.FlushAll();
  EXPECT_THAT(log, IsEmpty());
  queue.Add(&a);
  queue.FlushAll();
  EXPECT_THAT(log, ElementsAre("a"));
}

}  // namespace
}  // namespace ringway::proxy
