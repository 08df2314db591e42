#include "proxy/shard/shard_session.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/client/client_session.h"
#include "tests/sim/core_world.h"

namespace ringway::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

// Notes what it is given, and whether it came in one piece.
class NotingCollector final : public ReplyCollector {
 public:
  explicit NotingCollector(std::vector<std::string>& log) : log_(log) {}
  void OnPart(Request&, uint32_t part, const Slice& reply) override {
    log_.push_back(std::to_string(part) + ":" + std::string(reply.view()));
  }
  void Finish(Request&, OutputQueue& out) override { out.Append(std::string_view("+merged\r\n")); }

 private:
  std::vector<std::string>& log_;
};

class ShardSessionTest : public ::testing::Test {
 protected:
  // Every request of the client takes a position on the one shard session.
  class Handler final : public RequestHandler {
   public:
    explicit Handler(ShardSessionTest& test) : test_(test) {}
    Outcome Handle(ClientSession& session, const protocol::RequestView& request,
                   const BlockRef* block) override {
      Request* sent = session.NewRequest(0);
      if (request[0] == "MERGE") sent->collector.reset(new NotingCollector(test_.parts));
      sent->parts_pending = 1;
      test_.shard.TakePosition(sent, 0);
      test_.shard.output().Append(request.frame(), block);
      return Outcome::kTaken;
    }

   private:
    ShardSessionTest& test_;
  };

  ~ShardSessionTest() override {
    client.reset();
    shard.FailAll("SHARDDOWN the test ends");
    environment.scratch.Reset();
    EXPECT_EQ(blocks.bytes_in_use(), 0u) << "a block leaks";
  }
  std::string Flushed() {
    dirty.FlushAll();
    return client->Take();
  }
  bool Feed(std::string_view bytes, size_t piece = std::numeric_limits<size_t>::max()) {
    return FakeShard::Feed(shard, bytes, piece);
  }

  int64_t now_usec = 1000;
  WorkerStats stats;
  ShardStats shard_stats;
  BlockPool blocks;
  RequestTable requests{blocks, stats, now_usec};
  ShardSession shard{requests, shard_stats};
  std::vector<std::string> parts;
  Handler handler{*this};
  FlushQueue dirty;
  SessionEnvironment environment{blocks, requests, handler, dirty, SessionLimits{}, BlockRef(), {}};
  std::unique_ptr<FakeClient> client = std::make_unique<FakeClient>(environment, 1);
};

TEST_F(ShardSessionTest, RepliesAreMatchedByPositionAtEverySplit) {
  const std::string replies =
      "+one\r\n$3\r\ntwo\r\n*2\r\n:3\r\n$-1\r\n%1\r\n+k\r\n|1\r\n+a\r\n:1\r\n+v\r\n-ERR five\r\n_\r\n";
  for (size_t piece = 1; piece <= replies.size(); ++piece) {
    client->Send("A\r\nB\r\nC\r\nD\r\nE\r\nF\r\n");
    ASSERT_EQ(shard.in_flight(), 6u);
    ASSERT_TRUE(Feed(replies, piece));
    ASSERT_EQ(Flushed(), replies) << piece;
    ASSERT_EQ(shard.in_flight(), 0u);
  }
  EXPECT_EQ(shard_stats.errors.Get(), replies.size());
  EXPECT_EQ(shard_stats.in_flight.Get(), 0u);
}

TEST_F(ShardSessionTest, AMergedReplyOfManyElementsIsCopiedForEachRead) {
  client->Send("MERGE\r\n");
  std::string reply = "*100000\r\n";
  for (int i = 0; i < 100'000; ++i) reply += "$1\r\nx\r\n";
  int moves = 0;
  const char* expected = nullptr;
  for (size_t at = 0; at < reply.size();) {
    const ShardSession::ReadBuffer buffer = shard.PrepareRead();
    if (buffer.data != expected) ++moves;
    const size_t count = std::min({buffer.size, size_t{1000}, reply.size() - at});
    std::memcpy(buffer.data, reply.data() + at, count);
    ASSERT_TRUE(shard.OnBytesRead(count));
    expected = buffer.data + count;
    at += count;
  }
  EXPECT_EQ(parts.size(), 1u);
  EXPECT_LE(moves, 15);
  Flushed();
}

TEST_F(ShardSessionTest, AReplyThatNobodyAskedForIsRefused) {
  EXPECT_FALSE(Feed("+OK\r\n"));
  client->Send("A\r\n");
  EXPECT_FALSE(Feed("+a\r\n+surplus\r\n"));
}

TEST_F(ShardSessionTest, BytesThatAreNoReplyAreRefused) {
  client->Send("A\r\n");
  EXPECT_FALSE(Feed("HTTP/1.1 200 OK\r\n"));
}

TEST_F(ShardSessionTest, FramesAreWrittenInTheOrderOfTheirPositions) {
  client->Send(Command({"A", "1"}) + Command({"B", std::string(20'000, 'b')}) + Command({"C", "3"}));
  FakeShard fake;
  const auto seen = fake.TakeRequests(shard);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_THAT(seen[0], ElementsAre("A", "1"));
  EXPECT_THAT(seen[1], ElementsAre("B", std::string(20'000, 'b')));
  EXPECT_THAT(seen[2], ElementsAre("C", "3"));
}

TEST_F(ShardSessionTest, ALateReplyReachesNobody) {
  client->Send("A\r\n");
  now_usec = 2000;
  client->Send("B\r\n");
  shard.FailSentBefore(1500, "SHARDTIMEOUT s did not answer in time");
  EXPECT_EQ(Flushed(), "-SHARDTIMEOUT s did not answer in time\r\n");
  EXPECT_EQ(shard.in_flight(), 2u) << "the place stays taken";
  ASSERT_TRUE(Feed("+late answer to a\r\n+b\r\n", 3));
  EXPECT_EQ(Flushed(), "+b\r\n");
}

TEST_F(ShardSessionTest, ALargeLateReplyIsThrownAwayAsItComes) {
  client->Send("A\r\nB\r\n");
  shard.FailSentBefore(now_usec + 1, "SHARDTIMEOUT");
  Flushed();
  const size_t before = blocks.bytes_in_use();
  const std::string payload(1'000'000, 'x');
  ASSERT_TRUE(Feed("$1000000\r\n" + payload.substr(0, 900'000), 10'000));
  EXPECT_LE(blocks.bytes_in_use(), before + BlockPool::kBlockBytes);
  ASSERT_TRUE(Feed(payload.substr(900'000) + "\r\n+late\r\n", 10'000));
  EXPECT_EQ(Flushed(), "");
  EXPECT_EQ(shard.in_flight(), 0u);
}

TEST_F(ShardSessionTest, TheDeadlineCutsExactlyBetweenOlderAndYounger) {
  for (int i = 0; i < 3; ++i) {
    client->Send("A\r\n");
    ++now_usec;
  }
  shard.FailSentBefore(1001, "SHARDTIMEOUT");
  EXPECT_EQ(Flushed(), "-SHARDTIMEOUT\r\n");
  shard.FailSentBefore(1001, "SHARDTIMEOUT");
  EXPECT_EQ(Flushed(), "") << "given up once only";
  shard.FailSentBefore(1003, "SHARDTIMEOUT");
  EXPECT_EQ(Flushed(), "-SHARDTIMEOUT\r\n-SHARDTIMEOUT\r\n");
}

TEST_F(ShardSessionTest, ALostConnectionAnswersAllAndForgetsHalfAReply) {
  client->Send("A\r\nB\r\nC\r\n");
  ASSERT_TRUE(Feed("+a\r\n$10\r\nabc"));
  shard.FailAll("SHARDDOWN s");
  EXPECT_EQ(Flushed(), "+a\r\n-SHARDDOWN s\r\n-SHARDDOWN s\r\n");
  EXPECT_TRUE(shard.output().empty());
  client->Send("D\r\n");
  ASSERT_TRUE(Feed("+d\r\n"));
  EXPECT_EQ(Flushed(), "+d\r\n");
}

TEST_F(ShardSessionTest, LargeRepliesArePassedOnWithoutBeingCollected) {
  client->Send("A\r\nB\r\n");
  const std::string large = "$3000000\r\n" + std::string(3'000'000, 'x') + "\r\n";
  std::string received;
  size_t most = 0;
  for (size_t i = 0; i < large.size(); i += 20'000) {
    ASSERT_TRUE(Feed(std::string_view(large).substr(i, 20'000)));
    most = std::max(most, blocks.bytes_in_use());
    received += Flushed();
  }
  EXPECT_EQ(received, large);
  // B's reply is still behind it.
  EXPECT_TRUE(shard.occupied());
  // What was received since the last flush, and the block that the next bytes go to.
  EXPECT_LE(most, 4 * BlockPool::kBlockBytes);
  ASSERT_TRUE(Feed("+b\r\n"));
  EXPECT_EQ(Flushed(), "+b\r\n");
  EXPECT_FALSE(shard.occupied());
}

TEST_F(ShardSessionTest, AClientWhoseStreamedReplyBreaksOffIsClosed) {
  client->Send("A\r\nB\r\n");
  ASSERT_TRUE(Feed("$100000\r\n" + std::string(50'000, 'x')));
  EXPECT_TRUE(shard.occupied());
  shard.FailAll("SHARDDOWN s");
  EXPECT_TRUE(client->closed);
  EXPECT_FALSE(client->session().WantsInput());
}

TEST_F(ShardSessionTest, ATimeoutDoesNotCutIntoAStreamedReply) {
  client->Send("A\r\nB\r\n");
  const std::string large = "$100000\r\n" + std::string(100'000, 'x') + "\r\n";
  ASSERT_TRUE(Feed(large.substr(0, 50'000)));
  shard.FailSentBefore(now_usec + 1, "SHARDTIMEOUT");
  ASSERT_TRUE(Feed(large.substr(50'000) + "+late\r\n"));
  EXPECT_EQ(Flushed(), large + "-SHARDTIMEOUT\r\n");
}

TEST_F(ShardSessionTest, AStreamIsBackedUpOnlyWhileItsClientDoesNotTakeIt) {
  client->take_limit = 0;
  client->Send("A\r\n");
  ASSERT_TRUE(Feed("$9000000\r\n" + std::string(ClientSession::kSoftOutputBytes - 100, 'x')));
  EXPECT_FALSE(shard.StreamIsBackedUp());
  ASSERT_TRUE(Feed(std::string(40'000, 'x')));
  EXPECT_TRUE(shard.StreamIsBackedUp());
  EXPECT_FALSE(shard.HasOthersBehindStream());
  // What the client itself asked behind it is no reason to hold more for it.
  client->Send("B\r\n");
  EXPECT_FALSE(shard.HasOthersBehindStream());
  client->take_limit = std::numeric_limits<size_t>::max();
  dirty.Add(client.get());
  Flushed();
  EXPECT_FALSE(shard.StreamIsBackedUp());
}

// A client that does not take its reply must not keep those waiting who wait for keys to be brought over.
TEST_F(ShardSessionTest, AStreamHoldsUpTheProxysOwnRequests) {
  client->Send("A\r\n");
  ASSERT_TRUE(Feed("$100000\r\n" + std::string(50'000, 'x')));
  ASSERT_FALSE(shard.HasOthersBehindStream());
  Request* own = requests.NewInternal(CollectorPtr(new NotingCollector(parts)));
  own->parts_pending = 1;
  shard.TakePosition(nullptr, 0);
  EXPECT_FALSE(shard.HasOthersBehindStream()) << "nobody waits for it";
  shard.TakePosition(own, 0);
  EXPECT_TRUE(shard.HasOthersBehindStream());
}

TEST_F(ShardSessionTest, AStreamHoldsUpADrain) {
  client->Send("A\r\n");
  ASSERT_TRUE(Feed("$100000\r\n" + std::string(50'000, 'x')));
  shard.MarkForDrain(DrainFor::kMove, false);
  EXPECT_TRUE(shard.drained(DrainFor::kMove)) << "it has been carried out";
  EXPECT_FALSE(shard.HasOthersBehindStream());
  shard.MarkForDrain(DrainFor::kMove, true);
  EXPECT_FALSE(shard.drained(DrainFor::kMove));
  EXPECT_TRUE(shard.HasOthersBehindStream());
  client->Send("B\r\n");
  shard.MarkForDrain(DrainFor::kMove, false);
  EXPECT_FALSE(shard.drained(DrainFor::kMove));
  EXPECT_TRUE(shard.HasOthersBehindStream());
  ASSERT_TRUE(Feed(std::string(50'000, 'x') + "\r\n+b\r\n"));
  EXPECT_TRUE(shard.drained(DrainFor::kMove));
}

TEST_F(ShardSessionTest, TheRestOfAStreamForAClientThatHasGoneIsThrownAway) {
  client->Send("A\r\n");
  ASSERT_TRUE(Feed("$100000\r\n" + std::string(50'000, 'x')));
  client.reset();
  ASSERT_TRUE(Feed(std::string(50'000, 'x') + "\r\n"));
  EXPECT_EQ(shard.in_flight(), 0u);
  client = std::make_unique<FakeClient>(environment, 2);
  client->Send("B\r\n");
  ASSERT_TRUE(Feed("+b\r\n"));
  EXPECT_EQ(Flushed(), "+b\r\n");
}

TEST_F(ShardSessionTest, AStreamToAClientThatHasGoneFreesItsRequestWhenTheConnectionBreaks) {
  client->Send("A\r\n");
  ASSERT_TRUE(Feed("$100000\r\n" + std::string(50'000, 'x')));
  client.reset();
  shard.FailAll("SHARDDOWN s");
  EXPECT_EQ(shard.in_flight(), 0u);
}

TEST_F(ShardSessionTest, AReplyThatIsMergedStaysInOnePieceAcrossBlocks) {
  const std::string large = "*2\r\n$200000\r\n" + std::string(200'000, 'm') + "\r\n:1\r\n";
  for (const size_t piece : {size_t{1'000}, size_t{16'384}, size_t{70'000}, large.size()}) {
    parts.clear();
    client->Send("MERGE\r\nB\r\n");
    ASSERT_TRUE(Feed(large, piece));
    ASSERT_THAT(parts, ElementsAre("0:" + large));
    ASSERT_TRUE(Feed("+b\r\n"));
    ASSERT_EQ(Flushed(), "+merged\r\n+b\r\n");
  }
}

TEST_F(ShardSessionTest, PushesBetweenRepliesTakeNoPosition) {
  client->Send("A\r\nB\r\n");
  const std::string push = ">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n";
  const std::string large_push = ">1\r\n$90000\r\n" + std::string(90'000, 'p') + "\r\n";
  const std::string bytes = push + "+a\r\n" + large_push + push + "+b\r\n" + push;
  ASSERT_TRUE(Feed(bytes, 7));
  EXPECT_EQ(Flushed(), "+a\r\n+b\r\n");
  client->Send("A\r\nB\r\n");
  ASSERT_TRUE(Feed(bytes));
  EXPECT_EQ(Flushed(), "+a\r\n+b\r\n");
}

TEST_F(ShardSessionTest, APingOfItsOwnTakesAPositionAndItsReplyIsThrownAway) {
  shard.TakePosition(nullptr, 0);
  client->Send("A\r\n");
  ASSERT_TRUE(Feed("+PONG\r\n+a\r\n"));
  EXPECT_EQ(Flushed(), "+a\r\n");
}

TEST_F(ShardSessionTest, AnIdleConnectionHoldsNoBlock) {
  client->Send("A\r\n");
  ASSERT_TRUE(Feed("$9000\r\n" + std::string(9'000, 'x') + "\r\n", 100));
  FakeShard().TakeRequests(shard);
  Flushed();
  environment.scratch.Reset();
  EXPECT_EQ(blocks.bytes_in_use(), 0u);
}

}  // namespace
}  // namespace ringway::proxy
