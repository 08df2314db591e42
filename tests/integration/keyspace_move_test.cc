// Commands on all keys while keys move between real servers.
#include <atomic>
#include <functional>
#include <iostream>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <thread>

#include "tests/integration/move_fixture.h"

namespace ringway::test {
namespace {

constexpr size_t kKeys = 1200;

class KeyspaceMoveTest : public MoveTest {
 protected:
  void Begin() {
    MoveClusterOptions options;
    options.spares = 1;
    cluster_ = std::make_unique<MoveCluster>(std::move(options));
    std::vector<Command> commands;
    for (size_t i = 0; i < kKeys; ++i) {
      keys_.insert("key:" + std::to_string(i));
      commands.push_back({"SET", "key:" + std::to_string(i), "x"});
    }
    for (const Reply& reply : RespClient(cluster_->address()).Pipeline(commands)) {
      ASSERT_TRUE(reply.IsOk()) << reply;
    }
  }
  // Starts a change whose keys take about so long, if nobody asks for them.
  void Change(const Command& change, seconds length) {
    const auto keys_per_second = static_cast<int64_t>(kKeys) / 4 / length.count();
    ASSERT_TRUE(cluster_->Ring({"THROTTLE", std::to_string(keys_per_second)}).IsOk());
    const std::unique_lock<std::shared_mutex> trial(trial_);
    ASSERT_TRUE(Apply(change));
  }

  // One walk from beginning to end; how many calls it took.
  void WalkAll(RespClient* client) {
    std::set<std::string> found;
    std::string cursor = "0";
    int calls = 0;
    do {
      const Reply reply = client->Do({"SCAN", cursor, "COUNT", "40"});
      ASSERT_EQ(reply.elements.size(), 2U) << "SCAN " << cursor << " answered " << reply;
      cursor = reply.elements[0].text;
      for (const std::string& key : reply.elements[1].Texts()) {
        if (keys_.contains(key)) found.insert(key);
      }
      ASSERT_LT(++calls, 20'000) << "SCAN does not end";
    } while (cursor != "0");
    EXPECT_EQ(found.size(), kKeys);
    ++walks_;
  }
  void AskAll(RespClient* client) {
    const std::shared_lock<std::shared_mutex> no_trial(trial_);
    const Reply keys = client->Do({"KEYS", "*"});
    const auto texts = keys.Texts();
    EXPECT_EQ(texts.size(), kKeys) << "KEYS gives a key twice, or misses one";
    EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), kKeys);
    EXPECT_EQ(ToText(client->Do({"DBSIZE"})), std::to_string(kKeys));
    EXPECT_TRUE(keys_.contains(client->Do({"RANDOMKEY"}).text));
    ++rounds_;
  }
  // Asks without end on connections of its own, while `change_shards` runs.
  void While(const std::function<void()>& change_shards) {
    std::atomic<bool> stop{false};
    const auto repeat = [&stop, this](auto ask) {
      RespClient client(cluster_->address());
      while (!stop && !HasFailure()) ask(&client);
    };
    std::thread walker([&] { repeat([this](RespClient* client) { WalkAll(client); }); });
    std::thread asker([&] { repeat([this](RespClient* client) { AskAll(client); }); });
    std::thread reader([&] {
      size_t next = 0;
      repeat([&](RespClient* client) {
        EXPECT_EQ(client->Do({"GET", "key:" + std::to_string(next++ % kKeys)}).text, "x");
        std::this_thread::sleep_for(milliseconds(5));
      });
    });
    change_shards();
    stop = true;
    walker.join();
    asker.join();
    reader.join();
    std::cout << walks_ << " walks, " << rounds_ << " rounds" << std::endl;
    EXPECT_GT(walks_, 5);
    EXPECT_GT(rounds_, 5);
  }

  std::set<std::string> keys_;
  // Before it says OK to a change, the proxy moves a key of its own to try whether it can; that one is
  // counted.
  std::shared_mutex trial_;
  std::atomic<int> walks_{0};
  std::atomic<int> rounds_{0};
};

TEST_F(KeyspaceMoveTest, ScanOrKeysOrDbsizeMissOrRepeatKeysThatMove) {
  Begin();
  While([this] {
    Change(cluster_->Add(3), seconds(3));
    ASSERT_TRUE(cluster_->WaitSettled(seconds(60)));
    Change(cluster_->Remove("s1"), seconds(3));
    ASSERT_TRUE(cluster_->WaitSettled(seconds(60)));
  });
  EXPECT_THAT(cluster_->Misplaced(), IsEmpty());
}

TEST_F(KeyspaceMoveTest, ScanOrKeysOrDbsizeMissOrRepeatKeysThatTurnBack) {
  Begin();
  While([this] {
    for (int i = 0; i < 2; ++i) {
      Change(cluster_->Add(3), seconds(10));
      const auto deadline = std::chrono::steady_clock::now() + kPatience;
      while (cluster_->MigrationNumber("progress") < 0.3) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline) << cluster_->MigrationText();
        std::this_thread::sleep_for(milliseconds(20));
      }
      ASSERT_TRUE(cluster_->Ring({"ABORT"}).IsOk());
      ASSERT_TRUE(cluster_->WaitSettled(seconds(60)));
    }
  });
  EXPECT_EQ(cluster_->KeysOn(3), 0);
}

TEST_F(KeyspaceMoveTest, FlushallInMidMoveLeavesKeysOrLosesWhatIsWrittenAfterIt) {
  Begin();
  Change(cluster_->Add(3), seconds(4));
  // Or it would settle with the first flush, since nothing is left to move.
  ASSERT_TRUE(cluster_->Ring({"PAUSE"}).IsOk());
  RespClient client(cluster_->address());
  for (int i = 0; i < 20; ++i) {
    std::vector<Command> commands = {{"FLUSHALL"}};
    for (size_t key = 0; key < 200; ++key) {
      commands.push_back({"SET", "key:" + std::to_string(key), std::to_string(i)});
    }
    commands.push_back({"DBSIZE"});
    const auto replies = client.Pipeline(commands);
    ASSERT_TRUE(replies.front().IsOk()) << replies.front();
    ASSERT_EQ(ToText(replies.back()), "200");
  }
  ASSERT_TRUE(client.Do({"FLUSHALL"}).IsOk());
  EXPECT_EQ(ToText(client.Do({"DBSIZE"})), "0");
  EXPECT_EQ(cluster_->Migration("state"), "paused");
  ASSERT_TRUE(cluster_->Ring({"RESUME"}).IsOk());
  ASSERT_TRUE(cluster_->WaitSettled(seconds(60)));
  for (size_t server = 0; server < cluster_->size(); ++server) EXPECT_EQ(cluster_->KeysOn(server), 0);
}

}  // namespace
}  // namespace ringway::test
