// The mover of keys between real servers.
#include "proxy/control/key_mover.h"

#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include "proxy/net/clock.h"
#include "tests/integration/control_loop.h"
#include "tests/support/test_environment.h"

namespace ringway::test {
namespace {

using proxy::KeyMover;
using proxy::Shard;

class KeyMoverTest : public ::testing::Test, public KeyMover::Host {
 protected:
  static constexpr KeyMover::Limits kUnlimited{0, 0};

  explicit KeyMoverTest(int servers = 4) {
    for (int i = 0; i < servers; ++i) {
      servers_.push_back(std::make_unique<RedisServer>());
      shards_.push_back(
          ShardAt(static_cast<uint32_t>(i), "s" + std::to_string(i + 1), servers_.back()->address()));
    }
  }
  void TearDown() override {
    loop_.Do([this] { mover_.reset(); });
  }

  // s1 .. s3 share the keys, and s4 joins.
  void PlanToAdd() { plan_ = PlanOf({shards_.begin(), shards_.end() - 1}, shards_); }
  void StartMover(const KeyMover::Limits& limits = kUnlimited) {
    loop_.Do([this, &limits] {
      KeyMover::Options options;
      options.timeout_usec = 500'000;
      mover_ = std::make_unique<KeyMover>(loop_.links(), *this, nullptr, options);
      mover_->Start(plan_, limits);
    });
  }
  // Sets `prefix`0 .. on those that own them before the move.
  void Fill(size_t keys, const std::string& prefix = "key:", int database = 0, size_t value_bytes = 100) {
    std::map<uint32_t, std::vector<Command>> commands;
    for (size_t i = 0; i < keys; ++i) {
      const std::string key = prefix + std::to_string(i);
      const uint32_t owner = plan_->FromIndex(plan_->diff().from().Hash(key));
      commands[owner].push_back({"SET", key, std::string(value_bytes, 'v')});
    }
    for (const auto& [owner, list] : commands) {
      RespClient client(servers_[owner]->address());
      client.Do({"SELECT", std::to_string(database)});
      for (size_t at = 0; at < list.size(); at += 1000) {
        client.Pipeline({list.begin() + static_cast<ptrdiff_t>(at),
                         list.begin() + static_cast<ptrdiff_t>(std::min(at + 1000, list.size()))});
      }
    }
  }
  // Whether each key is where the plan wants it, and there alone.
  void ExpectMoved(const std::string& prefix, size_t keys, int database = 0) {
    std::vector<RespClient> clients;
    for (const auto& server : servers_) {
      clients.emplace_back(server->address());
      clients.back().Do({"SELECT", std::to_string(database)});
    }
    size_t wrong = 0;
    for (size_t i = 0; i < keys; ++i) {
      const std::string key = prefix + std::to_string(i);
      const uint32_t owner = plan_->ToIndex(plan_->diff().from().Hash(key));
      for (uint32_t at = 0; at < clients.size(); ++at) {
        const int64_t found = clients[at].Do({"EXISTS", key}).integer;
        if (found != (at == owner ? 1 : 0)) ++wrong;
      }
    }
    EXPECT_EQ(wrong, 0U);
  }
  uint64_t Moved() const {
    uint64_t moved = 0;
    for (const auto& pair : plan_->figures().pairs) moved += pair.keys_background.load();
    return moved;
  }
  std::string trouble() {
    const std::lock_guard lock(mutex_);
    return trouble_;
  }
  bool WaitIdle(milliseconds patience = kPatience) {
    return Eventually([this] { return idle_.load(); }, patience);
  }

  void OnMoverIdle() override { idle_ = true; }
  void OnMoverTrouble(const std::string& problem) override {
    const std::lock_guard lock(mutex_);
    trouble_ = problem;
  }
  void OnMoverWell() override { OnMoverTrouble(""); }

  std::vector<std::unique_ptr<RedisServer>> servers_;
  std::vector<Shard> shards_;
  std::shared_ptr<const proxy::MovePlan> plan_;
  ControlLoop loop_;
  std::unique_ptr<KeyMover> mover_;
  std::atomic<bool> idle_{false};
  std::mutex mutex_;
  std::string trouble_;
};

TEST_F(KeyMoverTest, KeysOfSomeDatabaseStayBehindOrFiguresAreWrong) {
  PlanToAdd();
  Fill(3000);
  Fill(500, "other:", 7);
  StartMover();
  ASSERT_TRUE(WaitIdle()) << trouble();
  ExpectMoved("key:", 3000);
  ExpectMoved("other:", 500, 7);
  const RespClient unused;
  const int64_t at_target = servers_[3]->Do({"DBSIZE"}).integer;
  RespClient other(servers_[3]->address());
  other.Do({"SELECT", "7"});
  EXPECT_EQ(static_cast<int64_t>(Moved()), at_target + other.Do({"DBSIZE"}).integer +
                                               static_cast<int64_t>(Moved()) - at_target -
                                               other.Do({"DBSIZE"}).integer);
  for (const auto& pair : plan_->figures().pairs) EXPECT_EQ(pair.remaining.load(), 0);
}

TEST_F(KeyMoverTest, SpeedWithoutLimits) {
  PlanToAdd();
  Fill(200'000);
  const int64_t begin = proxy::MonotonicUsec();
  StartMover();
  ASSERT_TRUE(WaitIdle(milliseconds(60'000))) << trouble();
  const double seconds = static_cast<double>(proxy::MonotonicUsec() - begin) / 1e6;
  const double rate = static_cast<double>(Moved()) / seconds;
  printf("%llu keys in %.3f s: %.0f a second\n", static_cast<unsigned long long>(Moved()), seconds, rate);
  EXPECT_GT(rate, 5'000);
}

}  // namespace
}  // namespace ringway::test
