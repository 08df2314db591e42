// Commands on all keys while keys move, on servers that answer whenever a test lets them.
#include <algorithm>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include "protocol/number_text.h"
#include "proxy/hotkey/bucket_name.h"
#include "proxy/hotkey/copy_registry.h"
#include "proxy/route/scan_cursor.h"
#include "tests/unit/proxy/route/router_fixture.h"

namespace ringway::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Servers 0 and 1, and 2 which joins.
class RouterKeyspaceTest : public RouterTest {
 protected:
  RouterKeyspaceTest() {
    Use({0, 1}, {0, 1, 2});
    Adopt(stable_);
  }

  void Use(const std::vector<size_t>& from, const std::vector<size_t>& to,
           const std::vector<uint32_t>& given_up = {}, config::Mover mover = config::Mover::kMigrate) {
    const auto before = world.MakeTopology(from);
    const auto after = world.MakeTopology(to);
    plan_ = std::make_shared<const MovePlan>(1, before->shards, before->ring, after->shards, after->ring,
                                             given_up, mover);
    stable_ = StableTopology(1, 4, before->ring, before->shards);
    holding_ = HoldingTopology(2, 4, plan_);
    moving_ = MovingTopology(3, 5, plan_);
    settled_ = StableTopology(4, 6, after->ring, after->shards);
  }
  void Adopt(const std::shared_ptr<const Topology>& topology) {
    world.router.Adopt(topology);
    world.pool.Adopt(*topology);
    client->session().MarkResumable();
    world.EndTurn();
  }

  // Keys that move go from `from`; others stay on it.
  std::string NewKey(uint32_t from, bool moves) {
    for (;; ++next_key_) {
      std::string key = "k" + std::to_string(next_key_);
      const uint64_t hash = plan_->diff().from().Hash(key);
      if (plan_->Moves(hash) != moves || plan_->from()[plan_->FromIndex(hash)].id != from) continue;
      ++next_key_;
      keys_[from].insert(key);
      return key;
    }
  }
  void Move(const std::string& key) {
    const uint64_t hash = plan_->diff().from().Hash(key);
    if (keys_[plan_->from()[plan_->FromIndex(hash)].id].erase(key) == 0) return;
    keys_[plan_->to()[plan_->ToIndex(hash)].id].insert(key);
  }
  size_t Count() const {
    size_t count = 0;
    for (const auto& [server, keys] : keys_) count += keys.size();
    return count;
  }

  // Lets a server carry out what it was sent; answers how many requests that were.
  size_t Serve(uint32_t server) {
    const size_t index = IndexOf(server);
    const auto requests = world.TakeRequests(index);
    for (const auto& request : requests) world.Reply(index, Execute(keys_[server], request));
    return requests.size();
  }
  size_t Waiting(uint32_t server) { return world.session(IndexOf(server)).in_flight(); }
  std::string Take() { return client->Take(); }
  CountingGate& gate() { return plan_->figures().gate; }

  std::shared_ptr<const MovePlan> plan_;
  std::shared_ptr<const Topology> stable_, holding_, moving_, settled_;
  std::map<uint32_t, std::set<std::string>> keys_;  // by the server's id

 private:
  size_t IndexOf(uint32_t server) {
    const auto& shards = world.router.topology().shards;
    size_t index = 0;
    while (shards[index].id != server) ++index;
    return index;
  }
  static std::string Execute(std::set<std::string>& keys, const std::vector<std::string>& request) {
    if (request[0] == "DBSIZE") return ":" + std::to_string(keys.size()) + "\r\n";
    if (request[0] == "EXISTS") return ":" + std::to_string(keys.count(request[1])) + "\r\n";
    if (request[0] == "RANDOMKEY") return keys.empty() ? "$-1\r\n" : Bulk(*keys.begin());
    if (request[0] == "FLUSHALL") {
      keys.clear();
      return "+OK\r\n";
    }
    if (request[0] != "KEYS" && request[0] != "SCAN") return "+OK\r\n";
    std::string reply = "*" + std::to_string(keys.size()) + "\r\n";
    for (const std::string& key : keys) reply += Bulk(key);
    return request[0] == "KEYS" ? reply : "*2\r\n$1\r\n0\r\n" + reply;
  }

  int next_key_ = 0;
};

std::vector<std::string> Elements(const std::string& reply) {
  std::vector<std::string> elements;
  for (size_t at = reply.find('$'); at != std::string::npos; at = reply.find('$', at)) {
    const size_t begin = reply.find("\r\n", at) + 2;
    const size_t size = std::stoul(reply.substr(at + 1));
    elements.push_back(reply.substr(begin, size));
    at = begin + size;
  }
  return elements;
}

TEST_F(RouterKeyspaceTest, KeysMissesAKeyThatPassesBetweenTheAnswers) {
  const std::string passing = NewKey(0, true);
  const std::string seen_twice = NewKey(1, true);
  const std::string staying = NewKey(0, false);
  Adopt(moving_);
  Ask({"KEYS", "*"});
  EXPECT_EQ(Serve(2), 1u);
  Move(passing);
  EXPECT_EQ(Serve(0) + Serve(1), 2u);
  Move(seen_twice);
  EXPECT_EQ(Take(), "") << "the target has not been asked again";
  EXPECT_EQ(Waiting(0) + Waiting(1), 0u);
  EXPECT_EQ(Serve(2), 1u);
  EXPECT_THAT(Elements(Take()), ::testing::UnorderedElementsAre(passing, seen_twice, staying));
}

TEST_F(RouterKeyspaceTest, KeysOrScanGivesCopiesOfHotKeysThatMove) {
  const std::string moving = NewKey(0, true);
  const std::string suffix = BucketSuffix("fedcba9876543210", 1);
  for (const uint32_t server : {0, 1, 2}) {
    for (int i = 0; i < 20; ++i) keys_[server].insert(std::to_string(i) + suffix);
  }
  Adopt(moving_);
  Ask({"KEYS", "*"});
  for (const uint32_t server : {0, 1, 2, 2}) Serve(server);
  EXPECT_THAT(Elements(Take()), ElementsAre(moving));
  std::string cursor = "0";
  std::vector<std::string> found;
  do {
    Ask({"SCAN", cursor});
    for (const uint32_t server : {0, 1, 2}) Serve(server);
    std::vector<std::string> page = Elements(Take());
    ASSERT_FALSE(page.empty());
    cursor = page.front();
    found.insert(found.end(), page.begin() + 1, page.end());
  } while (cursor != "0");
  EXPECT_THAT(found, ElementsAre(moving));
}

TEST_F(RouterKeyspaceTest, DbsizeCountsCopiesOfHotKeysWhileKeysMove) {
  CopyRegistry copies;
  world.router.set_copies(&copies);
  NewKey(0, true);
  const std::string copy = "a" + BucketSuffix("fedcba9876543210", 1);
  keys_[2].insert(copy);
  copies.Add(0, 2, copy, world.now_usec + 1'000'000, world.now_usec);
  Adopt(moving_);
  Ask({"DBSIZE"});
  world.router.gate_queue().Look();
  for (const uint32_t server : {0, 1, 2}) Serve(server);
  EXPECT_EQ(Take(), ":1\r\n");
}

TEST_F(RouterKeyspaceTest, FlushallLeavesAKeyThatPasses) {
  const std::string passing = NewKey(0, true);
  Adopt(moving_);
  Ask({"FLUSHALL"});
  Serve(2);
  Move(passing);
  Serve(0);
  Serve(1);
  EXPECT_EQ(Count(), 1u);
  EXPECT_EQ(Take(), "");
  Serve(2);
  EXPECT_EQ(Take(), "+OK\r\n");
  EXPECT_EQ(Count(), 0u);
}

TEST_F(RouterKeyspaceTest, FlushallEndsHalfWayWhenItsClientGoes) {
  const std::string passing = NewKey(0, true);
  Adopt(moving_);
  Ask({"FLUSHALL"});
  client = std::make_unique<FakeClient>(world.environment, 8);
  Serve(2);
  Move(passing);
  Serve(0);
  Serve(1);
  Serve(2);
  EXPECT_EQ(Count(), 0u);
  EXPECT_EQ(world.requests.in_use(), 0u);
}

TEST_F(RouterKeyspaceTest, FlushallRemovesWhatTheSameClientWritesAfterIt) {
  const std::string key = NewKey(0, true);
  Adopt(moving_);
  client->Send(Command({"FLUSHALL"}) + Command({"SET", key, "v"}));
  world.EndTurn();
  for (const uint32_t server : {0, 1, 2}) EXPECT_EQ(Waiting(server), 1u) << "the SET overtakes the flush";
  for (const uint32_t server : {0, 1, 2}) Serve(server);
  EXPECT_EQ(Waiting(0) + Waiting(1), 0u);
  Serve(2);
  EXPECT_EQ(Take(), "+OK\r\n");
  EXPECT_GT(Waiting(0), 0u) << "the SET, whose key is pulled first, never goes on";
}

TEST_F(RouterKeyspaceTest, AnErrorOfEitherRoundIsLost) {
  Adopt(moving_);
  Ask({"FLUSHALL"});
  Reply(0, "-READONLY no\r\n");
  Reply(1, "+OK\r\n");
  EXPECT_EQ(Reply(2, "+OK\r\n"), "-READONLY no\r\n");
  Ask({"KEYS", "*"});
  for (const size_t server : {0, 1, 2}) Reply(server, "*0\r\n");
  EXPECT_EQ(Reply(2, "-LOADING wait\r\n"), "-LOADING wait\r\n");
}

TEST_F(RouterKeyspaceTest, DbsizeCountsWhileABatchIsUnderWay) {
  const std::string passing = NewKey(0, true);
  NewKey(1, false);
  Adopt(moving_);
  ASSERT_TRUE(gate().BeginBatch(world.now_usec));
  Ask({"DBSIZE"});
  world.router.gate_queue().Look();
  EXPECT_EQ(in_flight(), 0u);
  EXPECT_FALSE(gate().BeginBatch(world.now_usec)) << "a batch begins in front of a count that waits";
  Move(passing);
  gate().EndBatch();
  world.router.gate_queue().Look();
  EXPECT_EQ(in_flight(), 3u);
  for (const uint32_t server : {2, 0, 1}) {
    EXPECT_FALSE(gate().BeginBatch(world.now_usec));
    Serve(server);
  }
  EXPECT_EQ(Take(), ":2\r\n");
  EXPECT_TRUE(gate().BeginBatch(world.now_usec)) << "the gate stays closed";
}

TEST_F(RouterKeyspaceTest, DbsizeNeverAnswersWhileOneCallTakesLong) {
  NewKey(0, true);
  Adopt(moving_);
  ASSERT_TRUE(gate().BeginBatch(world.now_usec));
  Ask({"DBSIZE"});
  for (int ms = 0; ms < 320; ++ms) {
    world.now_usec += 1000;
    world.router.gate_queue().Look();
  }
  for (const uint32_t server : {0, 1, 2}) Serve(server);
  EXPECT_EQ(Take(), ":1\r\n");
  EXPECT_TRUE(world.router.gate_queue().empty());
}

TEST_F(RouterKeyspaceTest, FlushallBringsKeysBackThatThisProxyCarries) {
  Use({0, 1}, {0, 1, 2}, {}, config::Mover::kRelay);
  NewKey(0, true);
  Adopt(moving_);
  ASSERT_TRUE(gate().BeginBatch(world.now_usec));
  Ask({"FLUSHALL"});
  EXPECT_EQ(in_flight(), 0u);
  gate().EndBatch();
  world.router.gate_queue().Look();
  for (const uint32_t server : {0, 1, 2, 2}) Serve(server);
  EXPECT_EQ(Take(), "+OK\r\n");
  EXPECT_TRUE(gate().BeginBatch(world.now_usec));
  // One that stays under way: nothing is flushed rather than half of all.
  Ask({"FLUSHALL"});
  for (int ms = 0; ms < 2100; ++ms) {
    world.now_usec += 1000;
    world.router.gate_queue().Look();
  }
  world.EndTurn();
  EXPECT_THAT(Take(), StartsWith("-MOVEFAIL "));
  EXPECT_EQ(in_flight(), 0u);
}

TEST_F(RouterKeyspaceTest, RandomkeyAnswersNullWhileTheOnlyKeyPasses) {
  const std::string passing = NewKey(0, true);
  Adopt(moving_);
  Ask({"RANDOMKEY"});
  Serve(2);
  Move(passing);
  Serve(0);
  Serve(1);  // counted nowhere
  for (const uint32_t server : {0, 1, 2}) EXPECT_EQ(Serve(server), 1u);
  Serve(2);
  EXPECT_EQ(Take(), Bulk(passing));
}

TEST_F(RouterKeyspaceTest, CommandsOnAllKeysRunWhileOthersMayMoveThem) {
  Adopt(holding_);
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"KEYS", "*"}, {"DBSIZE"}, {"FLUSHALL"}, {"FLUSHDB"}, {"RANDOMKEY"}, {"SCAN", "0"}}) {
    FakeClient other(world.environment, 9);
    other.Send(Command(command));
    EXPECT_TRUE(other.session().stalled()) << command[0];
    EXPECT_EQ(in_flight(), 0u) << command[0];
  }
  EXPECT_EQ(Ask({"KEYS", "*"}), "");
  Adopt(moving_);
  EXPECT_EQ(in_flight(), 3u);
}

TEST_F(RouterKeyspaceTest, ADeadServerWhoseKeysAreGivenUpIsAsked) {
  Use({0, 1, 2}, {0, 1}, {2});
  const std::string key = NewKey(0, false);
  Adopt(moving_);
  Ask({"KEYS", "*"});
  EXPECT_EQ(Waiting(2), 0u);
  Serve(0);
  Serve(1);
  EXPECT_THAT(Elements(Take()), ElementsAre(key));
  std::string reply = Ask({"SCAN", "0"});
  Serve(0);
  const std::string next = Elements(Take())[0];
  Ask({"SCAN", next});
  Serve(1);
  EXPECT_EQ(Elements(Take())[0], "0");
}

// One call of SCAN on whatever server it asks; adds what it finds and gives the next cursor.
TEST_F(RouterKeyspaceTest, ScanMissesAKeyThatPassesOrRepeatsAllOfTheTarget) {
  const std::string passing = NewKey(1, true);
  const std::string staying = NewKey(0, false);
  std::string cursor = "0";
  std::vector<std::string> found;
  const auto scan = [&](uint32_t server) {
    Ask({"SCAN", cursor});
    EXPECT_EQ(Serve(server), 1u) << "server " << server << " is not asked";
    auto elements = Elements(Take());
    ASSERT_FALSE(elements.empty());
    cursor = elements[0];
    found.insert(found.end(), elements.begin() + 1, elements.end());
  };
  scan(0);
  Adopt(holding_);
  Adopt(moving_);
  Move(passing);
  keys_[2].insert(staying);  // a copy where it does not belong: none of what moves
  scan(1);
  keys_[2].erase(passing);
  scan(2);
  keys_[2].insert(passing);
  EXPECT_EQ(std::count(found.begin(), found.end(), passing), 0);
  found.clear();
  scan(2);  // the second part
  EXPECT_EQ(cursor, "0");
  EXPECT_THAT(found, ElementsAre(passing));
}

TEST_F(RouterKeyspaceTest, AScanEndsWhileOthersMayMoveKeys) {
  const std::string passing = NewKey(0, true);
  Ask({"SCAN", "0"});
  Move(passing);  // which this worker does not know yet
  Serve(0);
  std::string cursor = Elements(Take())[0];
  Adopt(holding_);
  for (const uint32_t server : {1, 2}) {
    keys_[2].clear();
    Ask({"SCAN", cursor});
    Serve(server);
    cursor = Elements(Take())[0];
    EXPECT_NE(cursor, "0");
  }
  keys_[2].insert(passing);
  EXPECT_EQ(Ask({"SCAN", cursor}), "");
  EXPECT_EQ(in_flight(), 0u);
  Adopt(moving_);
  EXPECT_EQ(Serve(2), 1u);
  EXPECT_THAT(Elements(Take()), ElementsAre("0", passing));
}

// Any order of answers and of keys that pass.
TEST_F(RouterKeyspaceTest, SomeOrderOfEventsBetrayACommandOnAllKeys) {
  const uint64_t seed = std::random_device{}();
  std::cout << "seed " << seed << std::endl;
  std::mt19937_64 random(seed);
  Adopt(moving_);
  for (int round = 0; round < 600; ++round) {
    keys_.clear();
    std::vector<std::string> all;
    const size_t count = 1 + random() % 4;
    for (size_t i = 0; i < count; ++i) {
      all.push_back(NewKey(static_cast<uint32_t>(random() % 2), random() % 4 > 0));
    }
    const std::string name = std::vector<std::string>{"KEYS", "FLUSHALL", "RANDOMKEY"}[random() % 3];
    Ask(name == "KEYS" ? std::vector<std::string>{"KEYS", "*"} : std::vector<std::string>{name});
    std::string reply;
    while ((reply = Take()).empty()) {
      if (random() % 2 == 0) {
        Move(all[random() % all.size()]);
      } else {
        Serve(static_cast<uint32_t>(random() % 3));
      }
    }
    if (name == "KEYS") {
      ASSERT_THAT(Elements(reply), ::testing::UnorderedElementsAreArray(all)) << "seed " << seed;
    } else if (name == "FLUSHALL") {
      for (const std::string& key : all) Move(key);
      ASSERT_EQ(Count(), 0u) << "seed " << seed;
    } else {
      ASSERT_THAT(all, ::testing::IsSupersetOf(Elements(reply))) << "seed " << seed;
      ASSERT_FALSE(Elements(reply).empty()) << reply << " with seed " << seed;
    }
  }
}

}  // namespace
}  // namespace ringway::proxy
