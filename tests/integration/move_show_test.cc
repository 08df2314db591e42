// What a move promises, shown without chance. RINGWAY_SHOW_KEYS sets how many keys (1000000 for the full
// show).
#include <thread>

#include "tests/integration/move_fixture.h"

namespace ringway::test {
namespace {

class MoveShow : public MoveTest {
 protected:
  void StartWithKeys(MoveClusterOptions options) {
    cluster_ = std::make_unique<MoveCluster>(std::move(options));
    keys_ = EnvironmentInteger("RINGWAY_SHOW_KEYS", 30'000);
    constexpr int64_t kAtOnce = 5000;
    RespClient client(cluster_->address());
    for (int64_t start = 0; start < keys_; start += kAtOnce) {
      std::vector<Command> commands;
      for (int64_t i = start; i < std::min(keys_, start + kAtOnce); ++i)
        commands.push_back({"SET", Key(i), Key(i)});
      for (const Reply& reply : client.Pipeline(commands)) ASSERT_TRUE(reply.IsOk()) << ToText(reply);
    }
  }
  static std::string Key(int64_t i) { return "show:" + std::to_string(i); }

  // Asks for all keys, in pipelines; how many were not there as they were written.
  int64_t WrongKeys() {
    constexpr int64_t kAtOnce = 1000;
    RespClient client(cluster_->address());
    int64_t wrong = 0;
    for (int64_t start = 0; start < keys_; start += kAtOnce) {
      std::vector<Command> commands;
      for (int64_t i = start; i < std::min(keys_, start + kAtOnce); ++i) commands.push_back({"GET", Key(i)});
      const std::vector<Reply> replies = client.Pipeline(commands);
      for (size_t i = 0; i < replies.size(); ++i) {
        const std::string key = Key(start + static_cast<int64_t>(i));
        if (replies[i].text == key) continue;
        if (++wrong < 4) ADD_FAILURE() << key << " is " << ToText(replies[i]);
      }
    }
    return wrong;
  }
  void ExpectMembersEmptyOrRight() {
    EXPECT_THAT(cluster_->Misplaced(), IsEmpty());
    for (const size_t spare : Spares()) EXPECT_EQ(cluster_->KeysOn(spare), 0) << cluster_->Name(spare);
  }

  int64_t keys_ = 0;
};

TEST_F(MoveShow, AddingAFourthShardMakesAGetMiss) {
  StartWithKeys({});
  ASSERT_TRUE(Apply(cluster_->Add(3)));
  do {
    ASSERT_EQ(WrongKeys(), 0) << cluster_->MigrationText();
  } while (cluster_->Ring({"WAIT", "1"}).integer == 0);
  ASSERT_TRUE(cluster_->WaitSettled(seconds(300)));
  EXPECT_EQ(WrongKeys(), 0);
  EXPECT_NEAR(cluster_->MigrationNumber("ring_share_moving"), 0.25, 0.25 * 0.02);
  EXPECT_EQ(cluster_->MovedTo("s4", "keys"), cluster_->KeysOn(3));
  ExpectMembersEmptyOrRight();

  ASSERT_TRUE(Apply(cluster_->Remove("s4")));
  ASSERT_TRUE(cluster_->WaitSettled(seconds(300)));
  EXPECT_EQ(WrongKeys(), 0);
  ExpectMembersEmptyOrRight();
}

TEST_F(MoveShow, TheMoverMissesKeysThatNobodyAsksFor) {
  StartWithKeys({});
  ASSERT_TRUE(Apply(cluster_->Add(3)));
  ASSERT_TRUE(cluster_->WaitSettled(seconds(300))) << cluster_->MigrationText();
  const std::string text = cluster_->MigrationText();
  EXPECT_EQ(cluster_->MovedTo("s4", "keys"), cluster_->KeysOn(3)) << text;
  EXPECT_EQ(cluster_->MigrationNumber("keys_moved_background"), cluster_->MigrationNumber("keys_moved"))
      << text;
  EXPECT_EQ(cluster_->MigrationNumber("keys_moved_on_access"), 0) << text;
  EXPECT_EQ(cluster_->MigrationNumber("errors"), 0) << text;
  EXPECT_GT(cluster_->MigrationNumber("bytes_moved"), 0) << text;
  EXPECT_GT(cluster_->MigrationNumber("hold_usec"), 0) << text;
  EXPECT_GE(cluster_->MigrationNumber("finished"), cluster_->MigrationNumber("started")) << text;
  EXPECT_NE(InfoField(text, "move0"), "") << text;
  EXPECT_EQ(WrongKeys(), 0);
}

TEST_F(MoveShow, AReplacedShardKeepsKeysOnItsOldServer) {
  StartWithKeys({});
  ASSERT_TRUE(Apply({"REPLACE", "s2", cluster_->server(3).address()}));
  ASSERT_TRUE(cluster_->WaitSettled(seconds(300))) << cluster_->MigrationText();
  EXPECT_EQ(cluster_->Members()["s2"], 3U);
  EXPECT_EQ(cluster_->KeysOn(1), 0);
  EXPECT_EQ(WrongKeys(), 0);
  ExpectMembersEmptyOrRight();
}

TEST_F(MoveShow, KeysOnTheSourceGoWithATargetThatDies) {
  MoveClusterOptions options;
  options.config = "migration: {keys_per_second: 1000}\n";
  StartWithKeys(options);
  ASSERT_TRUE(Apply(cluster_->Add(3)));
  ASSERT_TRUE(Eventually([this] { return cluster_->MigrationNumber("keys_moved") > 500; }));
  cluster_->Ring({"PAUSE"});
  // A batch may be under way when the mover pauses.
  int64_t before = -1;
  ASSERT_TRUE(Eventually([&] { return std::exchange(before, cluster_->KeysOn(3)) == cluster_->KeysOn(3); }));
  cluster_->server(3).Kill();
  cluster_->server(3).Restart();
  cluster_->Ring({"RESUME"});
  cluster_->Ring({"THROTTLE", "0"});
  ASSERT_TRUE(cluster_->WaitSettled(seconds(300))) << cluster_->MigrationText();
  int64_t left = 0;
  for (size_t i = 0; i < 4; ++i) left += cluster_->KeysOn(i);
  EXPECT_EQ(left, keys_ - before);
}

TEST_F(MoveShow, AnAbortLeavesKeysBehind) {
  MoveClusterOptions options;
  options.config = "migration: {keys_per_second: 3000}\n";
  StartWithKeys(options);
  ASSERT_TRUE(Apply(cluster_->Add(3)));
  ASSERT_TRUE(Eventually([this] { return cluster_->KeysOn(3) > 500; }));
  ASSERT_EQ(ToText(cluster_->Ring({"ABORT"})), "+OK");
  ASSERT_TRUE(cluster_->WaitSettled(seconds(300))) << cluster_->MigrationText();
  EXPECT_EQ(cluster_->Members().count("s4"), 0U);
  EXPECT_EQ(WrongKeys(), 0);
  ExpectMembersEmptyOrRight();
}

// FLUSHALL while keys are on both sides: nothing is left, and nothing comes back.
TEST_F(MoveShow, AFlushDuringAMoveLeavesKeys) {
  MoveClusterOptions options;
  options.config = "migration: {keys_per_second: 3000}\n";
  StartWithKeys(options);
  ASSERT_TRUE(Apply(cluster_->Add(3)));
  ASSERT_TRUE(Eventually([this] { return cluster_->KeysOn(3) > 200; }));
  ASSERT_EQ(ToText(cluster_->Do({"FLUSHALL"})), "+OK");
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(cluster_->KeysOn(i), 0);
  ASSERT_TRUE(cluster_->WaitSettled(seconds(300))) << cluster_->MigrationText();
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(cluster_->KeysOn(i), 0);
}

// A second move is refused while one is under way, and the first goes on.
TEST_F(MoveShow, TwoMovesRunAtOnce) {
  MoveClusterOptions options;
  options.config = "migration: {keys_per_second: 3000}\n";
  StartWithKeys(options);
  ASSERT_TRUE(Apply(cluster_->Add(3)));
  EXPECT_THAT(cluster_->Ring(cluster_->Add(4)).text, StartsWith("RINGBUSY"));
  ASSERT_TRUE(cluster_->WaitSettled(seconds(300))) << cluster_->MigrationText();
  EXPECT_EQ(cluster_->Members().size(), 4U);
}

// A server with keys of its own is no target, and the ring stays as it was.
TEST_F(MoveShow, KeysOfAStrangerAreTakenForTheRings) {
  StartWithKeys({});
  cluster_->server(3).Do({"SET", "stranger", "1"});
  EXPECT_TRUE(cluster_->Ring(cluster_->Add(3)).IsError());
  EXPECT_EQ(cluster_->Members().size(), 3U);
  EXPECT_EQ(cluster_->server(3).Do({"GET", "stranger"}).text, "1");
}

}  // namespace
}  // namespace ringway::test
