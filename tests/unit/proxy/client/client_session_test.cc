#include "proxy/client/client_session.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/route/request_table.h"
#include "tests/sim/core_world.h"

namespace ringway::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// A handler whose requests are answered by the test, at any time and in any order.
class ManualHandler final : public RequestHandler {
 public:
  explicit ManualHandler(RequestTable& requests) : requests_(requests) {}

  Outcome Handle(ClientSession& session, const protocol::RequestView& request,
                 const BlockRef* block) override {
    if (stalls) return Outcome::kStall;
    if (request[0] == "ALONE" && session.pending() > 0) {
      session.StallUntilAnswered();
      return Outcome::kStall;
    }
    seen.emplace_back(request[0]);
    if (request[0] == "PING") {
      session.Reply(0, "+PONG\r\n");
    } else if (request[0] == "OFF") {
      session.state().reply_mode = SessionState::ReplyMode::kOff;
    } else if (request[0] == "SKIP") {
      session.state().reply_mode = SessionState::ReplyMode::kSkipNext;
    } else {
      had_block = block != nullptr;
      Request* sent = session.NewRequest(0);
      sent->parts_pending = 1;
      waiting.push_back(sent);
    }
    return Outcome::kTaken;
  }

  // A part of the reply to the i-th request that waits.
  void Piece(size_t i, std::string_view bytes) {
    requests_.OnReply(waiting[i], 0, requests_.Copy(bytes), false);
  }
  void Answer(size_t i, std::string_view bytes) {
    requests_.OnReply(waiting[i], 0, requests_.Copy(bytes), true);
  }

  bool stalls = false;
  bool had_block = false;
  std::vector<std::string> seen;
  std::vector<Request*> waiting;

 private:
  RequestTable& requests_;
};

class ClientSessionTest : public ::testing::Test {
 protected:
  ~ClientSessionTest() override {
    client.reset();
    environment.scratch.Reset();
    EXPECT_EQ(blocks.bytes_in_use(), 0u) << "a block leaks";
  }
  ClientSession& session() { return client->session(); }
  // What the client has by now.
  std::string Flushed() {
    environment.dirty_clients.FlushAll();
    return client->Take();
  }
  // As between turns.
  void ResumeAll() {
    std::vector<ClientSession*> resumable;
    resumable.swap(environment.resumable);
    for (ClientSession* one : resumable) one->Resume();
  }

  int64_t now_usec = 0;
  WorkerStats stats;
  BlockPool blocks;
  RequestTable requests{blocks, stats, now_usec};
  ManualHandler handler{requests};
  FlushQueue dirty;
  SessionEnvironment environment{blocks, requests, handler, dirty, SessionLimits{}, BlockRef(), {}};
  std::unique_ptr<FakeClient> client = std::make_unique<FakeClient>(environment, 1);
};

TEST_F(ClientSessionTest, RepliesKeepTheOrderOfRequestsWhenShardsAnswerOutOfOrder) {
  client->Send("A\r\nB\r\nC\r\nPING\r\nD\r\n");
  handler.Answer(2, "+c\r\n");
  handler.Answer(1, "+b\r\n");
  EXPECT_EQ(Flushed(), "");
  handler.Answer(0, "+a\r\n");
  EXPECT_EQ(Flushed(), "+a\r\n+b\r\n+c\r\n+PONG\r\n");
  EXPECT_EQ(session().pending(), 1u);
  handler.Answer(3, "+d\r\n");
  EXPECT_EQ(Flushed(), "+d\r\n");
  EXPECT_EQ(session().unsent_bytes(), 0u);
}

// Counts how often what has been received moves to other memory.
TEST_F(ClientSessionTest, ARequestOfManySmallArgumentsIsCopiedForEachOfThem) {
  constexpr size_t kArguments = 100'000;
  std::string bytes = "*" + std::to_string(kArguments) + "\r\n";
  for (size_t i = 0; i < kArguments; ++i) bytes += "$1\r\nx\r\n";
  int moves = 0;
  const char* expected = nullptr;
  for (size_t at = 0; at < bytes.size();) {
    const ClientSession::ReadBuffer buffer = session().PrepareRead();
    if (buffer.data != expected) ++moves;
    const size_t count = std::min({buffer.size, size_t{1000}, bytes.size() - at});
    std::memcpy(buffer.data, bytes.data() + at, count);
    session().OnBytesRead(count);
    expected = buffer.data + count;
    at += count;
  }
  EXPECT_THAT(handler.seen, ElementsAre("x"));
  // From 4 KiB to 700 KiB by half each time are 13 steps.
  EXPECT_LE(moves, 20);
  handler.Answer(0, "+a\r\n");
}

TEST_F(ClientSessionTest, PiecesOfAStreamedReplyWaitForOlderOnesAndThenPassAtOnce) {
  client->Send("A\r\nB\r\nC\r\n");
  handler.Piece(1, "$6\r\nab");
  handler.Piece(1, "cd");
  handler.Answer(2, "+c\r\n");
  EXPECT_EQ(Flushed(), "");
  EXPECT_EQ(session().unsent_bytes(), 12u);
  handler.Answer(0, "+a\r\n");
  EXPECT_EQ(Flushed(), "+a\r\n$6\r\nabcd");
  handler.Piece(1, "e");
  EXPECT_EQ(Flushed(), "e");
  handler.Answer(1, "f\r\n");
  EXPECT_EQ(Flushed(), "f\r\n+c\r\n");
}

// What is held waits for the oldest reply: were that one to wait for it, neither would ever come.
TEST_F(ClientSessionTest, HeldRepliesStopTheStreamThatTheyWaitFor) {
  client->Send("A\r\nB\r\nC\r\n");
  const std::string large(ClientSession::kSoftOutputBytes + 1, 'x');
  handler.Piece(0, "$9\r\n");
  handler.Answer(1, "$" + std::to_string(large.size()) + "\r\n" + large + "\r\n");
  EXPECT_FALSE(session().IsBackedUp(handler.waiting[0]));
  EXPECT_TRUE(session().IsBackedUp(handler.waiting[2])) << "a younger one does wait";
  handler.Piece(0, large);
  EXPECT_TRUE(session().IsBackedUp(handler.waiting[0])) << "the client does not take it";
  EXPECT_NE(Flushed(), "");
  EXPECT_FALSE(session().IsBackedUp(handler.waiting[0]));
  handler.Answer(0, "\r\n");
}

TEST_F(ClientSessionTest, ARequestThatMustNotOvertakeWaitsForAllReplies) {
  client->Send("A\r\nB\r\nALONE\r\nC\r\n");
  EXPECT_THAT(handler.seen, ElementsAre("A", "B"));
  handler.Answer(1, "+b\r\n");
  ResumeAll();
  EXPECT_THAT(handler.seen, ElementsAre("A", "B")) << "A is not answered";
  handler.Answer(0, "+a\r\n");
  ResumeAll();
  EXPECT_THAT(handler.seen, ElementsAre("A", "B", "ALONE", "C"));
}

TEST_F(ClientSessionTest, SilencedRequestsGetNoReplyButKeepTheirPlace) {
  client->Send("A\r\nSKIP\r\nB\r\nC\r\n");
  handler.Answer(1, "+silent\r\n");
  handler.Answer(2, "+c\r\n");
  handler.Answer(0, "+a\r\n");
  EXPECT_EQ(Flushed(), "+a\r\n+c\r\n");
  client->Send("SKIP\r\nPING\r\nPING\r\n");
  EXPECT_EQ(Flushed(), "+PONG\r\n");
  client->Send("D\r\nOFF\r\nPING\r\nE\r\n");
  handler.Answer(3, "+d\r\n");
  handler.Answer(4, "+e\r\n");
  EXPECT_EQ(Flushed(), "+d\r\n");
  EXPECT_EQ(session().pending(), 0u);
}

TEST_F(ClientSessionTest, AStalledSessionGoesOnExactlyWhereItStopped) {
  handler.stalls = true;
  client->Send("A\r\n" + Command({"B", std::string(3000, 'x')}) + "C\r\n");
  EXPECT_TRUE(session().stopped());
  EXPECT_FALSE(session().WantsInput());
  EXPECT_THAT(handler.seen, IsEmpty());
  handler.stalls = false;
  session().Resume();
  EXPECT_THAT(handler.seen, ElementsAre("A", "B", "C"));
  EXPECT_TRUE(session().WantsInput());
  EXPECT_EQ(session().input_bytes(), 0u);
}

// The frame may be parsed again from another block than it was first parsed in.
TEST_F(ClientSessionTest, AStalledRequestSurvivesTheMoveOfItsInput) {
  const std::string b = Command({"B", std::string(50'000, 'y')});
  client->Send("A\r\n" + b.substr(0, 40'000), 1000);
  handler.stalls = true;
  const std::string rest = b.substr(40'000) + "C\r\nD\r\n";
  const size_t sent = client->Send(rest, 977);
  EXPECT_TRUE(session().stopped());
  for (int i = 0; i < 3; ++i) {
    session().Resume();
    EXPECT_THAT(handler.seen, ElementsAre("A"));
  }
  handler.stalls = false;
  session().Resume();
  client->Send(rest.substr(sent), 977);
  EXPECT_THAT(handler.seen, ElementsAre("A", "B", "C", "D"));
}

TEST_F(ClientSessionTest, AStoppedSessionIsNotResumedByFurtherBytes) {
  handler.stalls = true;
  client->Send("A\r\n");
  handler.stalls = false;
  const ClientSession::ReadBuffer buffer = session().PrepareRead();
  std::memcpy(buffer.data, "B\r\n", 3);
  session().OnBytesRead(3);
  EXPECT_THAT(handler.seen, IsEmpty());
  session().Resume();
  EXPECT_THAT(handler.seen, ElementsAre("A", "B"));
}

TEST_F(ClientSessionTest, ParsingStopsAtThePipelineLimitAndGoesOnAtHalfOfIt) {
  environment.limits.pipeline = 4;
  client->Send("A\r\nB\r\nC\r\nD\r\n");
  EXPECT_FALSE(session().stopped()) << "the limit itself is allowed";
  client->Send("E\r\n");
  EXPECT_TRUE(session().stopped());
  EXPECT_EQ(handler.waiting.size(), 4u);
  handler.Answer(0, "+1\r\n");
  EXPECT_THAT(environment.resumable, IsEmpty());
  handler.Answer(1, "+2\r\n");
  EXPECT_THAT(environment.resumable, ElementsAre(&session()));
  ResumeAll();
  EXPECT_EQ(handler.waiting.size(), 5u);
  EXPECT_EQ(session().pending(), 3u);
}

TEST_F(ClientSessionTest, APipelineOfOneStillGoesOn) {
  environment.limits.pipeline = 1;
  client->Send("A\r\nB\r\n");
  EXPECT_EQ(handler.waiting.size(), 1u);
  handler.Answer(0, "+1\r\n");
  ResumeAll();
  EXPECT_EQ(handler.waiting.size(), 2u);
}

TEST_F(ClientSessionTest, AClientThatDoesNotReadIsNotReadFrom) {
  client->take_limit = 0;
  client->Send("A\r\nB\r\n");
  handler.Answer(0, std::string(ClientSession::kSoftOutputBytes - 1, 'x'));
  client->Send("C\r\n");
  EXPECT_FALSE(session().stopped()) << "one byte below the limit";
  handler.Answer(1, "y");
  client->Send("D\r\n");
  EXPECT_TRUE(session().stopped());
  EXPECT_THAT(handler.seen, ElementsAre("A", "B", "C"));
  client->take_limit = ClientSession::kSoftOutputBytes / 2 - 1;
  Flushed();
  EXPECT_THAT(environment.resumable, IsEmpty()) << "half of it is not free yet";
  dirty.Add(client.get());
  Flushed();
  EXPECT_THAT(environment.resumable, ElementsAre(&session()));
  ResumeAll();
  EXPECT_THAT(handler.seen, ElementsAre("A", "B", "C", "D"));
}

TEST_F(ClientSessionTest, HeldRepliesCountAsUnsent) {
  client->Send("A\r\nB\r\n");
  handler.Answer(1, std::string(ClientSession::kSoftOutputBytes, 'x'));
  client->Send("C\r\n");
  EXPECT_TRUE(session().stopped());
}

TEST_F(ClientSessionTest, OutputUpToTheLimitIsKeptAndBeyondItTheClientIsClosedOnce) {
  environment.limits.client_output = 100;
  client->take_limit = 0;
  client->Send("A\r\nB\r\nC\r\n");
  handler.Answer(0, std::string(100, 'x'));
  EXPECT_FALSE(client->closed);
  handler.Answer(2, "+\r\n");
  EXPECT_TRUE(client->closed);
  handler.Answer(1, "+\r\n");
  EXPECT_EQ(stats.output_overflows.Get(), 1u);
  EXPECT_FALSE(session().WantsInput());
}

TEST_F(ClientSessionTest, AHalfClosedClientGetsAllItsReplies) {
  client->Send("A\r\nB\r\n");
  session().OnEndOfInput();
  EXPECT_FALSE(session().Finished());
  EXPECT_FALSE(session().WantsInput());
  handler.Answer(0, "+a\r\n");
  EXPECT_EQ(Flushed(), "+a\r\n");
  EXPECT_FALSE(client->closed);
  handler.Answer(1, "+b\r\n");
  EXPECT_EQ(Flushed(), "+b\r\n");
  EXPECT_TRUE(client->closed);
}

TEST_F(ClientSessionTest, AHalfClosedClientThatIsStoppedIsNotFinished) {
  handler.stalls = true;
  client->Send("A\r\n");
  session().OnEndOfInput();
  EXPECT_FALSE(session().Finished());
  handler.stalls = false;
  session().Resume();
  handler.Answer(0, "+a\r\n");
  EXPECT_EQ(Flushed(), "+a\r\n");
  EXPECT_TRUE(session().Finished());
}

TEST_F(ClientSessionTest, AProtocolErrorComesAfterTheRepliesAndEndsTheConnection) {
  client->Send("A\r\nB\r\n*x\r\nC\r\n");
  EXPECT_THAT(handler.seen, ElementsAre("A", "B"));
  EXPECT_FALSE(session().WantsInput());
  handler.Answer(1, "+b\r\n");
  EXPECT_EQ(Flushed(), "");
  handler.Answer(0, "+a\r\n");
  EXPECT_EQ(Flushed(), "+a\r\n+b\r\n-ERR Protocol error: invalid multibulk length\r\n");
  EXPECT_TRUE(client->closed);
}

TEST_F(ClientSessionTest, BytesAfterTheConnectionHasEndedAreNotParsed) {
  client->Send("A\r\n");
  session().CloseAfterReplies();
  client->Send("B\r\n");
  EXPECT_THAT(handler.seen, ElementsAre("A"));
}

TEST_F(ClientSessionTest, ABlankLineIsNoRequest) {
  client->Send("\r\n\r\n*0\r\n*-1\r\nA\r\n");
  EXPECT_THAT(handler.seen, ElementsAre("A"));
}

TEST_F(ClientSessionTest, EverySplitOfTheBytesGivesTheSameRequests) {
  const std::string bytes =
      Command({"A", "one"}) + "B two\r\n" + Command({"C", std::string(300, 'c')}) + "PING\r\n";
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    handler.seen.clear();
    client->Send(bytes, piece);
    ASSERT_THAT(handler.seen, ElementsAre("A", "B", "C", "PING")) << piece;
    ASSERT_EQ(session().input_bytes(), 0u);
  }
}

TEST_F(ClientSessionTest, MemoryForACutOffRequestFollowsTheBytesReceived) {
  const size_t size = 10'000'000;
  const std::string head = "*2\r\n$1\r\nA\r\n$" + std::to_string(size) + "\r\n";
  size_t received = client->Send(head);
  const std::string chunk(4096, 'z');
  while (received < head.size() + size) {
    received += client->Send(
        std::string_view(chunk).substr(0, std::min(chunk.size(), head.size() + size - received)));
    const size_t scratch = environment.scratch ? environment.scratch->capacity : 0;
    ASSERT_LE(blocks.bytes_in_use() - scratch, std::max(2 * received + 1, 2 * BlockPool::kBlockBytes));
  }
  client->Send("\r\n");
  EXPECT_EQ(handler.waiting.size(), 1u);
  EXPECT_TRUE(handler.had_block);
  EXPECT_EQ(session().input_bytes(), 0u);
}

TEST_F(ClientSessionTest, AnIdleSessionHoldsNoBlock) {
  client->Send(Command({"A", std::string(5000, 'x')}), 100);
  handler.Answer(0, "+a\r\n");
  EXPECT_EQ(Flushed(), "+a\r\n");
  environment.scratch.Reset();
  EXPECT_EQ(blocks.bytes_in_use(), 0u);
}

// The scratch block is shared by all sessions: what one left in it must not change under it.
TEST_F(ClientSessionTest, TheRestOfOneClientsRequestIsSafeFromAnothersBytes) {
  FakeClient other(environment, 2);
  const std::string large = Command({"A", std::string(40'000, 'a')});
  for (const size_t cut : {size_t{1}, size_t{20}, size_t{39'000}}) {
    handler.seen.clear();
    client->Send(large.substr(0, cut));
    other.Send(Command({"B", std::string(40'000, 'b')}));
    client->Send(large.substr(cut));
    ASSERT_THAT(handler.seen, ElementsAre("B", "A")) << cut;
  }
}

TEST_F(ClientSessionTest, RepliesThatComeAfterTheClientHasGoneAreThrownAway) {
  client->Send("A\r\nB\r\nC\r\n");
  handler.Piece(0, "$100\r\nabc");
  handler.Answer(1, "+b\r\n");
  client.reset();
  EXPECT_EQ(handler.waiting[0]->client, nullptr);
  handler.Piece(0, "def");
  handler.Answer(0, "ghi\r\n");
  handler.Answer(2, "+c\r\n");
  // All three have been given back: the next three are the same.
  client = std::make_unique<FakeClient>(environment, 2);
  client->Send("D\r\nE\r\nF\r\n");
  const std::vector<Request*> old(handler.waiting.begin(), handler.waiting.begin() + 3);
  const std::vector<Request*> reused(handler.waiting.begin() + 3, handler.waiting.end());
  EXPECT_THAT(reused, ::testing::UnorderedElementsAreArray(old));
}

TEST_F(ClientSessionTest, ASessionThatDiesWhileItWaitsToGoOnIsForgotten) {
  environment.limits.pipeline = 1;
  client->Send("A\r\nB\r\nC\r\n");
  handler.Answer(0, "+a\r\n");
  EXPECT_THAT(environment.resumable, ElementsAre(&session()));
  client.reset();
  EXPECT_THAT(environment.resumable, IsEmpty());
}

TEST_F(ClientSessionTest, AnErrorReplyIsCountedByItsKindAndCommand) {
  client->Send("A\r\nB\r\n");
  handler.Answer(0, "-WRONGTYPE no\r\n");
  handler.Answer(1, "+fine\r\n");
  EXPECT_EQ(stats.by_command.At(0).calls.Get(), 2u);
  EXPECT_EQ(stats.by_command.At(0).failed.Get(), 1u);
  EXPECT_EQ(stats.Errors().at("WRONGTYPE"), 1u);
  session().Reject(0, "ERR arity");
  EXPECT_EQ(stats.by_command.At(0).rejected.Get(), 1u);
  EXPECT_THAT(Flushed(), StartsWith("-WRONGTYPE no\r\n+fine\r\n-ERR arity\r\n"));
}

}  // namespace
}  // namespace ringway::proxy
