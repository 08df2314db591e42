// Connections of their own, over real sockets to a server that the test plays.
#include "proxy/shard/own_connections.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <event2/event.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/core_world.h"
#include "tests/support/fake_shard.h"

namespace ringway::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view kPing = "*1\r\n$4\r\nPING\r\n";

class NotingOwner final : public ConnectionOwner {
 public:
  void OnReady(ShardConnection&) override { events.emplace_back("ready"); }
  void OnPush(ShardConnection&, std::string_view push) override { events.emplace_back(push); }
  void OnLost(ShardConnection&) override { events.emplace_back("lost"); }

  std::vector<std::string> events;
};

class NotingCollector final : public ReplyCollector {
 public:
  explicit NotingCollector(std::vector<std::string>& replies) : replies_(replies) {}
  void OnPart(Request&, uint32_t, const Slice& reply) override { replies_.emplace_back(reply.view()); }
  void Finish(Request&, OutputQueue&) override {}

 private:
  std::vector<std::string>& replies_;
};

class OwnConnectionsTest : public ::testing::Test {
 protected:
  OwnConnectionsTest() : world(CoreWorld::Options{1, {}, "{}"}) {
    Adopt(7);
    world.stats.by_shard.At(7);
  }
  ~OwnConnectionsTest() override { world.pool.Close(); }

  // The fake server as the one shard, with this id.
  void Adopt(uint32_t id) {
    config::ShardConfig shard;
    shard.name = "s";
    shard.host = "127.0.0.1";
    shard.address = server.address();
    shard.port = static_cast<uint16_t>(std::stoi(shard.address.substr(shard.address.find(':') + 1)));
    const std::vector<Shard> shards = {{id, shard}};
    world.Adopt(StableTopology(++epoch, 0, RingOf(shards, {}), shards));
  }
  OwnConnection Take(ConnectionOwner* owner = nullptr, uint32_t db = 0) { return own.Take(7, db, 3, owner); }
  void Send(OwnConnection& connection, std::string_view frame) {
    Request* request = world.requests.NewInternal(CollectorPtr(new NotingCollector(replies)));
    request->parts_pending = 1;
    connection->Send(request, 0, frame, nullptr);
  }
  // Turns the loop until it is so.
  template <typename Condition>
  bool TurnUntil(Condition condition, milliseconds patience = milliseconds(10'000)) {
    const auto end = steady_clock::now() + patience;
    while (!condition() && steady_clock::now() < end) {
      world.dirty_shards.FlushAll();
      ::event_base_loop(world.loop.base(), EVLOOP_NONBLOCK);
      world.pool.own().EndReleased();
    }
    return condition();
  }
  int Connects() const {
    int count = 0;
    for (const std::string& command : server.Commands()) count += command == "CLIENT ID" ? 1 : 0;
    return count;
  }

  test::FakeShard server{[this](const test::Command& command) -> std::string {
    if (command[0] == "CLIENT") return ":4711\r\n";
    if (command[0] == "HELLO") return "%0\r\n";
    if (command[0] == "PUSH") return ">2\r\n$1\r\na\r\n$1\r\nb\r\n+pushed\r\n";
    if (command[0] == "ECHO") return "+" + command[1] + "\r\n";
    return "";
  }};
  uint64_t epoch = 1;
  CoreWorld world;
  OwnConnections& own = world.pool.own();
  std::vector<std::string> replies;
};

TEST_F(OwnConnectionsTest, ServersClientIsNotKnown) {
  NotingOwner owner;
  OwnConnection connection = Take(&owner);
  ASSERT_TRUE(connection);
  Send(connection, kPing);
  ASSERT_TRUE(TurnUntil([&] { return !replies.empty(); }));
  EXPECT_EQ(connection->client_id(), 4711U);
  EXPECT_THAT(owner.events, ElementsAre("ready"));
}

TEST_F(OwnConnectionsTest, ConnectionThatWasGivenBackIsNotUsedAgain) {
  OwnConnection connection = Take();
  Send(connection, kPing);
  ASSERT_TRUE(TurnUntil([&] { return !replies.empty(); }));
  connection.GiveBack();
  EXPECT_FALSE(connection);
  OwnConnection again = Take();
  OwnConnection further = Take();
  Send(again, kPing);
  Send(further, kPing);
  ASSERT_TRUE(TurnUntil([&] { return replies.size() == 3; }));
  EXPECT_EQ(Connects(), 2);
}

TEST_F(OwnConnectionsTest, ConnectionStaysInTheDatabaseOfItsLastUser) {
  OwnConnection connection = Take(nullptr, 1);
  Send(connection, kPing);
  ASSERT_TRUE(TurnUntil([&] { return !replies.empty(); }));
  connection.GiveBack();
  OwnConnection other = own.Take(7, 2, 2, nullptr);
  Send(other, "*2\r\n$4\r\nECHO\r\n$1\r\nx\r\n");
  ASSERT_TRUE(TurnUntil([&] { return replies.size() == 2; }));
  EXPECT_EQ(replies[1], "+x\r\n");
  EXPECT_EQ(Connects(), 1);
  const std::vector<std::string> commands = server.Commands();
  EXPECT_EQ(std::vector<std::string>(commands.end() - 3, commands.end()),
            (std::vector<std::string>{"HELLO 2", "SELECT 2", "ECHO x"}));
}

TEST_F(OwnConnectionsTest, NextConnectionIsMadeWhenItIsWanted) {
  own.Tick({});
  OwnConnection connection = Take();
  own.Tick({7});
  EXPECT_FALSE(TurnUntil([&] { return Connects() > 0; }, milliseconds(50)))
      << "nobody had wanted one, and then the shard was down";
  own.Tick({});
  ASSERT_TRUE(TurnUntil([&] { return Connects() == 1; }));
  own.Tick({});
  // It is there when its handshake has been answered.
  EXPECT_TRUE(TurnUntil([&] {
    OwnConnection further = Take();
    const bool at_once = further->ready();
    further.GiveBack();
    return at_once;
  }));
}

TEST_F(OwnConnectionsTest, ConnectionThatWasLetGoIsLentAgain) {
  {
    OwnConnection connection = Take();
    Send(connection, kPing);
    ASSERT_TRUE(TurnUntil([&] { return !replies.empty(); }));
  }
  EXPECT_EQ(own.lent(), 0U);
  OwnConnection other = Take();
  Send(other, kPing);
  ASSERT_TRUE(TurnUntil([&] { return replies.size() == 2; }));
  EXPECT_EQ(Connects(), 2);
}

TEST_F(OwnConnectionsTest, RequestOfAConnectionThatWasLetGoStaysUnanswered) {
  {
    OwnConnection connection = Take();
    Send(connection, kPing);
  }
  own.EndReleased();
  EXPECT_THAT(replies, ElementsAre(StartsWith("-SHARDDOWN s ")));
}

TEST_F(OwnConnectionsTest, MoreAreLentThanTheLimit) {
  own.set_limit(2);
  OwnConnection first = Take();
  OwnConnection second = Take();
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  EXPECT_FALSE(own.HasRoom());
  EXPECT_FALSE(Take());
  first = OwnConnection();
  EXPECT_TRUE(own.HasRoom());
  EXPECT_TRUE(Take());
}

TEST_F(OwnConnectionsTest, PushIsTakenForAReplyOrLost) {
  NotingOwner owner;
  OwnConnection connection = Take(&owner);
  Send(connection, "*1\r\n$4\r\nPUSH\r\n");
  ASSERT_TRUE(TurnUntil([&] { return !replies.empty(); }));
  EXPECT_THAT(replies, ElementsAre("+pushed\r\n"));
  EXPECT_THAT(owner.events, ElementsAre("ready", ">2\r\n$1\r\na\r\n$1\r\nb\r\n"));
}

TEST_F(OwnConnectionsTest, ShardThatLeftKeepsAConnectionOrIsLentAgain) {
  NotingOwner owner;
  OwnConnection connection = Take(&owner);
  Send(connection, kPing);
  ASSERT_TRUE(TurnUntil([&] { return !replies.empty(); }));
  connection->set_patient(true);
  Send(connection, "*2\r\n$4\r\nWAIT\r\n$1\r\n1\r\n");
  Adopt(8);
  EXPECT_THAT(owner.events, ElementsAre("ready", "lost"));
  ASSERT_EQ(replies.size(), 2U);
  EXPECT_THAT(replies[1], StartsWith("-SHARDDOWN s "));
  EXPECT_FALSE(Take());
}

TEST_F(OwnConnectionsTest, PatientRequestOutlivesItsShard) {
  OwnConnection connection = Take();
  Send(connection, kPing);
  ASSERT_TRUE(TurnUntil([&] { return !replies.empty(); }));
  connection->set_patient(true);
  Send(connection, kPing);
  own.Tick({8});
  EXPECT_EQ(replies.size(), 1U);
  own.Tick({7});
  ASSERT_EQ(replies.size(), 2U);
  EXPECT_THAT(replies[1], StartsWith("-SHARDDOWN s "));
}

TEST_F(OwnConnectionsTest, DrainWaitsForWhatBlocksOrForgetsWhatDoesNot) {
  OwnConnection connection = Take();
  Send(connection, kPing);
  world.pool.MarkForDrain(DrainFor::kMove, 7, true);
  EXPECT_FALSE(world.pool.Drained(DrainFor::kMove, 7));
  connection->set_patient(true);
  EXPECT_TRUE(world.pool.Drained(DrainFor::kMove, 7));
  connection->set_patient(false);
  ASSERT_TRUE(TurnUntil([&] { return !replies.empty(); }));
  EXPECT_TRUE(world.pool.Drained(DrainFor::kMove, 7));
}

}  // namespace
}  // namespace ringway::proxy
