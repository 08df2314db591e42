// How buckets get their copies.
#include "proxy/hotkey/copy_registry.h"
#include "tests/unit/proxy/route/hot_fixture.h"

namespace ringway::proxy {
namespace {

using ::testing::_;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

using Frames = std::vector<std::vector<std::string>>;

// A key of shard 0 with empty buckets on shards 1 and 2.
class HotFillTest : public HotFixture<RouterTest> {
 protected:
  explicit HotFillTest(const CoreWorld::Options& options = {}) : HotFixture(options) { hot.Burden(0); }

  static constexpr const char* kRead = "$1\r\nv\r\n";
  // Two reads for each place of the key.
  static constexpr int kReads = 6;

  // Reads until the key is asked for its size, and answers that.
  void AskSize(const std::string& size = ":100\r\n") {
    for (int i = 1; i < kReads; ++i) {
      Ask({"GET", key});
      ASSERT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("GET", key)));
      Reply(0, kRead);
    }
    Ask({"GET", key});
    ASSERT_THAT(world.TakeRequests(0),
                ElementsAre(ElementsAre("MEMORY", "USAGE", key), ElementsAre("GET", key)));
    Reply(0, size + kRead);
  }
  void AskValue(const std::string& dump = "$4\r\ndump\r\n", const std::string& lifetime = ":-1\r\n") {
    AskSize();
    ASSERT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("DUMP", key), ElementsAre("PTTL", key)));
    Reply(0, dump + lifetime);
  }
  // Fills again when that is due.
  void FillOnce() {
    world.now_usec += 2'000'000;
    for (size_t shard = 0; shard < 3; ++shard) world.TakeRequests(shard);
    Ask({"GET", key});
    ASSERT_THAT(world.TakeRequests(0),
                ElementsAre(ElementsAre("MEMORY", "USAGE", key), ElementsAre("GET", key)));
    Reply(0, std::string(":1\r\n") + kRead);
    Reply(0, "$4\r\ndump\r\n:-1\r\n");
  }
  void FillAfterWrite() {
    placement->key->BeginWrite();
    placement->key->EndWrite();
    world.now_usec += BucketFill::kLeastPauseUsec;
    for (size_t shard = 0; shard < 3; ++shard) world.TakeRequests(shard);
    AskValue();
  }
  void AnswerStores() {
    for (const size_t shard : {1u, 2u}) {
      while (world.session(shard).in_flight() > 0) Reply(shard, "+OK\r\n");
    }
  }
  // The name of the copy that a shard is sent, if it is sent one and nothing else.
  std::string StoredIn(size_t shard, const std::string& life = "1000") {
    const Frames frames = world.TakeRequests(shard);
    EXPECT_THAT(frames, ElementsAre(ElementsAre("RESTORE", _, life, "dump")));
    return frames.size() == 1 && frames[0].size() == 4 ? frames[0][1] : "";
  }
  bool filling() const { return placement->filling.load(); }
  bool HasCopy(size_t bucket) const { return placement->buckets[bucket]->copy.Get().has_value(); }
  void ExpectNothingStored() {
    EXPECT_THAT(world.TakeRequests(1), IsEmpty());
    EXPECT_THAT(world.TakeRequests(2), IsEmpty());
    EXPECT_FALSE(filling());
    EXPECT_FALSE(HasCopy(0));
    EXPECT_FALSE(HasCopy(1));
    EXPECT_EQ(world.stats.bucket_fills.Get(), 0u);
  }

  const std::string key = world.KeyOn(0, "hot");
  const std::shared_ptr<HotPlacement> placement = hot.Make(key, {1, 2});
};

TEST_F(HotFillTest, BucketsStayEmpty) {
  AskValue();
  const std::string first = StoredIn(1);
  const std::string second = StoredIn(2);
  EXPECT_TRUE(IsBucketName(first));
  EXPECT_TRUE(first.starts_with(key + "\x1fringway:01234567:")) << first;
  EXPECT_NE(first, second) << "a name is used once";
  EXPECT_FALSE(HasCopy(0)) << "it is not there yet";
  Reply(1, "+OK\r\n");
  EXPECT_TRUE(HasCopy(0)) << "others may take their time";
  EXPECT_FALSE(HasCopy(1));
  Reply(2, "+OK\r\n");
  EXPECT_TRUE(HasCopy(1));
  EXPECT_FALSE(filling());
  EXPECT_EQ(world.stats.bucket_fills.Get(), 2u);
  hot.Burden(2);
  hot.ReadByOthers(key, 30);
  const Frames reads = world.TakeRequests(1);
  EXPECT_THAT(reads, Not(IsEmpty()));
  EXPECT_THAT(reads, Each(ElementsAre("GET", first)));
}

TEST_F(HotFillTest, TooFewReadsPayForAFill) {
  hot.ReadByOthers(key, kReads - 1);
  EXPECT_FALSE(filling());
  placement->key->BeginWrite();
  hot.ReadByOthers(key, kReads);
  placement->key->EndWrite();
  hot.ReadByOthers(key, kReads - 1);
  EXPECT_FALSE(filling()) << "reads before and during a write do not count";
  hot.ReadByOthers(key, 1);
  EXPECT_TRUE(filling());
}

TEST_F(HotFillTest, KeysOfOtherDatabasesAreCopiedIntoTheFirst) {
  const auto other = hot.Make(key, {1}, 4);
  hot.ReadByOthers(key, 4, 4);
  EXPECT_THAT(world.TakeRequests(0, 4), SizeIs(5));
  FakeShard::Feed(world.session(0, 4), std::string(kRead) + kRead + kRead + ":5\r\n" + kRead);
  EXPECT_THAT(world.TakeRequests(0, 4), ElementsAre(ElementsAre("DUMP", key), ElementsAre("PTTL", key)));
  FakeShard::Feed(world.session(0, 4), "$4\r\ndump\r\n:-1\r\n");
  EXPECT_THAT(world.TakeRequests(1, 4), ElementsAre(ElementsAre("RESTORE", _, "1000", "dump")));
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  FakeShard::Feed(world.session(1, 4), "+OK\r\n");
  EXPECT_TRUE(other->buckets[0]->copy.Get().has_value());
  world.EndTurn();
}

// --- how long a copy lives ---

TEST_F(HotFillTest, ACopyOutlivesItsKey) {
  AskValue("$4\r\ndump\r\n", ":300\r\n");
  StoredIn(1, "300");
  StoredIn(2, "300");
  AnswerStores();
  EXPECT_EQ(placement->buckets[0]->copy.Get()->until_usec, world.now_usec + 300'000);
}

TEST_F(HotFillTest, ACopyLivesOnAfterItsKeyForAsLongAsTheAnswerTook) {
  AskSize();
  world.now_usec += 7'001;
  Reply(0, "$4\r\ndump\r\n:300\r\n");
  StoredIn(1, "292");
  AnswerStores();
  EXPECT_EQ(placement->buckets[0]->copy.Get()->until_usec, world.now_usec - 7'001 + 300'000);
  EXPECT_TRUE(placement->buckets[0]->copy.Get()->expires);
}

TEST_F(HotFillTest, AFillUnderWayKeepsToALimitThatHasBeenLowered) {
  AskValue();
  StoredIn(1, "1000");
  hot.SetLimits(250, 1000);
  AnswerStores();
  EXPECT_EQ(placement->buckets[0]->copy.Get()->until_usec, world.now_usec + 250'000);
}

// A connection that many share never rests, so all of its reads follow the first.
TEST_F(HotFillTest, ReadsThatFollowOneOfTheKeyPayForNoFill) {
  for (int i = 1; i < kReads; ++i) Ask({"GET", key});
  EXPECT_EQ(world.TakeRequests(0).size(), size_t{kReads - 1});
  Ask({"GET", key});
  EXPECT_EQ(world.TakeRequests(0).front(), (std::vector<std::string>{"MEMORY", "USAGE", key}));
}

TEST_F(HotFillTest, ACopyIsStalerThanAllowed) {
  hot.SetLimits(250, 1000);
  AskValue("$4\r\ndump\r\n", ":300\r\n");
  StoredIn(1, "250");
  AnswerStores();
  EXPECT_EQ(placement->buckets[0]->copy.Get()->until_usec, world.now_usec + 250'000);
  EXPECT_FALSE(placement->buckets[0]->copy.Get()->expires) << "the key lives longer";
}

TEST_F(HotFillTest, CopiesThatNobodyRemembersStayForEver) {
  hot.SetLimits(3'600'000, 1000);
  AskValue();
  StoredIn(1, "60000");
  AnswerStores();
}

TEST_F(HotFillTest, ACopysTimeBeginsWhenItIsStored) {
  AskSize();
  const int64_t asked = world.now_usec;
  world.now_usec += 100'000;
  Reply(0, "$4\r\ndump\r\n:-1\r\n");
  world.now_usec += 100'000;
  AnswerStores();
  EXPECT_EQ(placement->buckets[0]->copy.Get()->until_usec, asked + 1'000'000);
}

TEST_F(HotFillTest, AKeyThatIsAboutToExpireIsCopied) {
  AskValue("$4\r\ndump\r\n", ":19\r\n");
  ExpectNothingStored();
}

TEST_F(HotFillTest, AKeyThatLivesJustLongEnoughIsNotCopied) {
  AskValue("$4\r\ndump\r\n", ":20\r\n");
  StoredIn(1, "20");
  AnswerStores();
  EXPECT_TRUE(HasCopy(0));
}

TEST_F(HotFillTest, ALowLimitOfStalenessStopsAllFills) {
  hot.SetLimits(10, 1000);
  AskValue();
  StoredIn(1, "10");
  AnswerStores();
  EXPECT_TRUE(HasCopy(0));
}

// --- keys that are not copied ---

TEST_F(HotFillTest, AKeyThatIsTooLargeIsCopied) {
  hot.SetLimits(1000, 5000);
  AskSize(":5001\r\n");
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
  ExpectNothingStored();
  // Nor is it asked again at once.
  world.now_usec += BucketFill::kRestUsec - 1;
  hot.ReadByOthers(key, 1);
  EXPECT_THAT(world.TakeRequests(0), SizeIs(1));
  world.now_usec += 1;
  hot.ReadByOthers(key, 1);
  EXPECT_THAT(world.TakeRequests(0), SizeIs(2));
}

// MEMORY USAGE only estimates.
TEST_F(HotFillTest, AValueThatIsLargerThanTheServerToldIsCopied) {
  hot.SetLimits(1000, 5000);
  AskValue(Bulk(std::string(5001, 'x')));
  ExpectNothingStored();
}

TEST_F(HotFillTest, OldCopiesOfAKeyThatHasGrownAreRead) {
  AskValue();
  AnswerStores();
  EXPECT_TRUE(HasCopy(0));
  hot.SetLimits(1000, 50);
  world.now_usec += 600'000;
  hot.ReadByOthers(key, 1);
  ASSERT_TRUE(filling());
  Reply(0, ":100\r\n");
  EXPECT_FALSE(HasCopy(0));
  EXPECT_FALSE(HasCopy(1));
}

TEST_F(HotFillTest, AKeyOfJustTheLargestSizeIsNotCopied) {
  hot.SetLimits(1000, 5000);
  AskSize(":5000\r\n");
  EXPECT_THAT(world.TakeRequests(0), SizeIs(2));
}

TEST_F(HotFillTest, AMissingKeyIsAskedForItsValue) {
  AskSize("$-1\r\n");
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
  ExpectNothingStored();
}

TEST_F(HotFillTest, AKeyThatVanishesIsCopied) {
  AskValue("$-1\r\n", ":-2\r\n");
  ExpectNothingStored();
}

TEST_F(HotFillTest, AnErrorIsCopied) {
  AskValue("-ERR unknown command 'DUMP'\r\n", ":-1\r\n");
  ExpectNothingStored();
}

TEST_F(HotFillTest, AServerThatDoesNotTellALifetimeHasItsKeysCopied) {
  AskValue("$4\r\ndump\r\n", "-ERR\r\n");
  ExpectNothingStored();
}

TEST_F(HotFillTest, AShardThatIsLostInAFillBlocksFillsForEver) {
  AskSize();
  world.session(0).FailAll("SHARDDOWN s0 is unreachable");
  world.EndTurn();
  ExpectNothingStored();
}

// --- writes ---

TEST_F(HotFillTest, AKeyIsAskedForItsValueWhileItIsWritten) {
  hot.ReadByOthers(key, kReads);
  ASSERT_TRUE(filling());
  Ask({"SET", key, "new"});
  world.TakeRequests(0);
  for (int i = 1; i < kReads; ++i) Reply(0, kRead);
  Reply(0, ":100\r\n");
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
  ExpectNothingStored();
  Reply(0, std::string(kRead) + "+OK\r\n");
}

TEST_F(HotFillTest, WhatWasReadBeforeAWriteIsStored) {
  AskSize();
  Ask({"SET", key, "new"});
  Reply(0, "$4\r\ndump\r\n:-1\r\n");
  ExpectNothingStored();
  Reply(0, "+OK\r\n");
}

TEST_F(HotFillTest, WhatWasReadBeforeAWriteThatHasEndedIsStored) {
  AskSize();
  placement->key->BeginWrite();
  placement->key->EndWrite();
  Reply(0, "$4\r\ndump\r\n:-1\r\n");
  ExpectNothingStored();
}

TEST_F(HotFillTest, ACopyThatAWriteHasOvertakenIsRead) {
  AskValue();
  placement->key->BeginWrite();
  placement->key->EndWrite();
  AnswerStores();
  world.TakeRequests(1);
  world.TakeRequests(2);
  hot.ReadByOthers(key, 10);
  EXPECT_THAT(world.TakeRequests(1), IsEmpty());
  EXPECT_THAT(world.TakeRequests(2), IsEmpty());
}

// --- one at a time, and again ---

TEST_F(HotFillTest, TwoFillsAreUnderWay) {
  AskSize();
  world.TakeRequests(0);
  world.now_usec += 2'000'000;
  hot.ReadByOthers(key, 3 * kReads);
  EXPECT_THAT(world.TakeRequests(0), SizeIs(3 * kReads)) << "no further MEMORY USAGE";
}

TEST_F(HotFillTest, TwoWorkersFillAtATime) {
  placement->filling = true;
  hot.ReadByOthers(key, 3 * kReads);
  EXPECT_THAT(world.TakeRequests(0), SizeIs(3 * kReads));
  placement->filling = false;
}

TEST_F(HotFillTest, CopiesExpireBeforeTheyAreMadeAnew) {
  AskValue();
  AnswerStores();
  world.TakeRequests(1);
  world.TakeRequests(2);
  world.now_usec += 499'999;
  hot.ReadByOthers(key, 2 * kReads);
  EXPECT_THAT(world.TakeRequests(0), IsEmpty());
  world.now_usec += 1;
  hot.ReadByOthers(key, 1);
  EXPECT_THAT(world.TakeRequests(0), ElementsAre(ElementsAre("MEMORY", "USAGE", key)));
}

TEST_F(HotFillTest, AKeyThatIsWrittenIsFilledWithoutAPause) {
  AskValue();
  AnswerStores();
  placement->key->BeginWrite();
  placement->key->EndWrite();
  world.now_usec += BucketFill::kLeastPauseUsec - 1;
  hot.ReadByOthers(key, 2 * kReads);
  EXPECT_THAT(world.TakeRequests(0), SizeIs(2 * kReads));
  world.now_usec += 1;
  hot.ReadByOthers(key, 1);
  EXPECT_THAT(world.TakeRequests(0), SizeIs(2));
}

TEST_F(HotFillTest, OldCopiesPileUp) {
  CopyRegistry copies;
  hot.SetLimits(1000, 1000, &copies);
  AskValue();
  const std::string first = StoredIn(1);
  EXPECT_THAT(copies.Names(0, 1, world.now_usec), ElementsAre(first)) << "before it is there";
  AnswerStores();
  FillAfterWrite();
  const std::string second = StoredIn(1);
  AnswerStores();
  FillAfterWrite();
  const Frames frames = world.TakeRequests(1);
  ASSERT_THAT(frames, ElementsAre(ElementsAre("RESTORE", _, "1000", "dump"), ElementsAre("UNLINK", first)));
  EXPECT_THAT(copies.Names(0, 1, world.now_usec), UnorderedElementsAre(second, frames[0][1]));
  AnswerStores();
  EXPECT_TRUE(HasCopy(0));
  EXPECT_EQ(world.stats.bucket_fills.Get(), 6u) << "the UNLINK's answer concerns no copy";
  FillAfterWrite();
  EXPECT_THAT(world.TakeRequests(1), ElementsAre(_, ElementsAre("UNLINK", second)));
  AnswerStores();
  hot.SetLimits(1000, 1000);
}

TEST_F(HotFillTest, ACopyThatIsNotRemovedSpoilsTheNewOne) {
  AskValue();
  AnswerStores();
  FillOnce();
  AnswerStores();
  FillOnce();
  Reply(1, "+OK\r\n-ERR unknown command 'UNLINK'\r\n");
  AnswerStores();
  EXPECT_TRUE(HasCopy(0));
}

TEST_F(HotFillTest, LargeCopiesAreMadeAsOftenAsSmallOnes) {
  hot.SetLimits(1000, 1'000'000);
  AskSize(":960000\r\n");
  Reply(0, "$4\r\ndump\r\n:-1\r\n");
  AnswerStores();
  EXPECT_EQ(placement->bytes.load(), 960'000);
  placement->key->BeginWrite();
  placement->key->EndWrite();
  world.TakeRequests(0);
  // Three times that, in all places, at 32 a microsecond.
  world.now_usec += 89'999;
  hot.ReadByOthers(key, kReads);
  EXPECT_THAT(world.TakeRequests(0), SizeIs(kReads));
  world.now_usec += 1;
  hot.ReadByOthers(key, 1);
  EXPECT_THAT(world.TakeRequests(0), SizeIs(2));
}

// --- shards in trouble ---

TEST_F(HotFillTest, AShardThatIsSilentKeepsOthersFromTheirCopies) {
  AskValue();
  Reply(1, "+OK\r\n");
  const int64_t until_usec = placement->buckets[0]->copy.Get()->until_usec;
  world.TakeRequests(2);
  FillOnce();
  Reply(1, "+OK\r\n");
  EXPECT_GT(placement->buckets[0]->copy.Get()->until_usec, until_usec);
  EXPECT_THAT(world.TakeRequests(2), IsEmpty()) << "what it is sent would pile up";
  EXPECT_FALSE(HasCopy(1));
  Reply(2, "+OK\r\n");
  FillOnce();
  StoredIn(2);
}

TEST_F(HotFillTest, ACopyThatCouldNotBeStoredIsRead) {
  AskValue();
  Reply(1, "-OOM command not allowed when used memory > 'maxmemory'.\r\n");
  Reply(2, "+OK\r\n");
  EXPECT_FALSE(HasCopy(0));
  EXPECT_TRUE(HasCopy(1));
  EXPECT_EQ(world.stats.bucket_fills.Get(), 1u);
}

TEST_F(HotFillTest, AShardThatDoesNotAnswerTheStoreHasACopy) {
  AskValue();
  Reply(2, "+OK\r\n");
  world.session(1).FailAll("SHARDDOWN s1 is unreachable");
  world.EndTurn();
  EXPECT_FALSE(HasCopy(0));
  EXPECT_TRUE(HasCopy(1));
  FillOnce();
  StoredIn(1);
}

TEST_F(HotFillTest, AFullShardIsSentACopy) {
  AskSize();
  Ask({"GET", world.KeyOn(2)});
  world.TakeRequests(2);
  world.shard_environment.settings.in_flight = 1;
  Reply(0, "$4\r\ndump\r\n:-1\r\n");
  StoredIn(1);
  EXPECT_THAT(world.TakeRequests(2), IsEmpty());
}

TEST_F(HotFillTest, ShardsThatTakeNoCopiesAreAskedAgainAtOnce) {
  AskValue();
  Reply(1, "-OOM\r\n");
  Reply(2, "-OOM\r\n");
  placement->key->BeginWrite();
  placement->key->EndWrite();
  world.now_usec += BucketFill::kRestUsec - 1;
  hot.ReadByOthers(key, kReads);
  EXPECT_FALSE(filling());
  world.now_usec += 1;
  hot.ReadByOthers(key, 1);
  EXPECT_TRUE(filling());
}

struct HotFillDownTest : HotFillTest {
  HotFillDownTest() : HotFillTest({.shards = 3, .down = {2}, .hash_tag = "{}"}) {}
};

TEST_F(HotFillDownTest, AShardThatIsDownGetsACopyOrKeepsOthersFromIt) {
  AskValue();
  EXPECT_EQ(world.session(2).in_flight(), 0u);
  StoredIn(1);
  Reply(1, "+OK\r\n");
  EXPECT_TRUE(HasCopy(0));
  EXPECT_FALSE(HasCopy(1));
  EXPECT_FALSE(filling());
}

}  // namespace
}  // namespace ringway::proxy
