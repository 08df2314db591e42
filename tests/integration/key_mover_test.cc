// The mover of keys between real servers.
#include "proxy/control/key_mover.h"

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "proxy/hotkey/bucket_name.h"
#include "proxy/net/clock.h"
#include "tests/integration/control_loop.h"
#include "tests/support/fake_shard.h"
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
    size_t wrong = 0;
    for (uint32_t at = 0; at < servers_.size(); ++at) {
      RespClient client(servers_[at]->address());
      client.Do({"SELECT", std::to_string(database)});
      for (size_t begin = 0; begin < keys; begin += 1000) {
        std::vector<Command> commands;
        for (size_t i = begin; i < std::min(begin + 1000, keys); ++i) {
          commands.push_back({"EXISTS", prefix + std::to_string(i)});
        }
        const std::vector<Reply> replies = client.Pipeline(commands);
        for (size_t i = 0; i < commands.size(); ++i) {
          const uint32_t owner = plan_->ToIndex(plan_->diff().from().Hash(commands[i][1]));
          if (i >= replies.size() || replies[i].integer != (at == owner ? 1 : 0)) ++wrong;
        }
      }
    }
    EXPECT_EQ(wrong, 0U);
  }
  uint64_t MovingKeys(const std::string& prefix, size_t keys) const {
    uint64_t moving = 0;
    for (size_t i = 0; i < keys; ++i) {
      if (plan_->Moves(plan_->diff().from().Hash(prefix + std::to_string(i)))) ++moving;
    }
    return moving;
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
  EXPECT_EQ(Moved(), MovingKeys("key:", 3000) + MovingKeys("other:", 500));
  for (const auto& pair : plan_->figures().pairs) EXPECT_EQ(pair.remaining.load(), 0);
}

TEST_F(KeyMoverTest, CopiesOfHotKeysAreMovedOrKeepThePassFromEnding) {
  PlanToAdd();
  Fill(500);
  std::vector<std::string> copies;
  for (uint64_t i = 0; i < 300; ++i) {
    copies.push_back("hot" + std::to_string(i) + proxy::BucketSuffix("0123456789abcdef", i));
    for (size_t server = 0; server < 3; ++server) servers_[server]->Do({"SET", copies.back(), "v"});
  }
  StartMover();
  ASSERT_TRUE(WaitIdle()) << trouble();
  ExpectMoved("key:", 500);
  EXPECT_EQ(Moved(), MovingKeys("key:", 500));
  Command exists = {"EXISTS"};
  exists.insert(exists.end(), copies.begin(), copies.end());
  for (size_t server = 0; server < 3; ++server) EXPECT_EQ(servers_[server]->Do(exists).integer, 300);
  EXPECT_EQ(servers_[3]->Do(exists).integer, 0);
}

TEST_F(KeyMoverTest, PausedMoverMovesOrNeverGoesOn) {
  PlanToAdd();
  Fill(20'000);
  StartMover({2'000, 0});
  ASSERT_TRUE(Eventually([this] { return Moved() > 100; }));
  loop_.Do([this] { mover_->Pause(); });
  // One call of each source may still end.
  ASSERT_TRUE(Eventually([this] { return loop_.Do([this] { return loop_.links().lost.all().empty(); }); }));
  std::this_thread::sleep_for(milliseconds(50));
  const uint64_t moved = Moved();
  EXPECT_TRUE(Consistently([this, moved] { return Moved() == moved; }, milliseconds(300)));
  loop_.Do([this] {
    mover_->SetLimits(kUnlimited);
    mover_->Resume();
  });
  ASSERT_TRUE(WaitIdle()) << trouble();
  ExpectMoved("key:", 20'000);
}

TEST_F(KeyMoverTest, KeysAreMovedAfterStop) {
  PlanToAdd();
  Fill(20'000);
  StartMover();
  ASSERT_TRUE(Eventually([this] { return Moved() > 100; }));
  auto stopped = std::make_shared<std::promise<void>>();
  loop_.Do([&] { mover_->Stop([stopped] { stopped->set_value(); }); });
  ASSERT_EQ(stopped->get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
  const int64_t at_target = servers_[3]->Do({"DBSIZE"}).integer;
  EXPECT_LE(at_target, static_cast<int64_t>(Moved()));
  EXPECT_TRUE(plan_->figures().gate.Quiet());
  EXPECT_TRUE(
      Consistently([&] { return servers_[3]->Do({"DBSIZE"}).integer == at_target; }, milliseconds(200)));
  EXPECT_FALSE(idle_);
}

TEST_F(KeyMoverTest, RateIsExceeded) {
  PlanToAdd();
  Fill(4'000);
  const int64_t begin = proxy::MonotonicUsec();
  StartMover({500, 0});
  ASSERT_TRUE(WaitIdle()) << trouble();
  const double seconds = static_cast<double>(proxy::MonotonicUsec() - begin) / 1e6;
  // A tenth of a second's keys may come at once.
  EXPECT_LT(static_cast<double>(Moved()), 500 * (seconds + 0.11)) << seconds;
}

TEST_F(KeyMoverTest, SourceIsBusierThanItsLimit) {
  PlanToAdd();
  Fill(40'000);
  const int64_t begin = proxy::MonotonicUsec();
  StartMover({0, 0.1});
  ASSERT_TRUE(WaitIdle(milliseconds(30'000))) << trouble();
  const auto elapsed = static_cast<double>(proxy::MonotonicUsec() - begin);
  double busy = 0;
  for (const char* command : {"migrate", "scan", "memory|usage", "exists"}) {
    const std::string line = servers_[0]->Info("cmdstat_" + std::string(command));
    busy += std::atof(line.substr(line.find("usec=") + 5).c_str());
  }
  // By the server's own watch, and with the calls before the mover.
  EXPECT_LT(busy / elapsed, 0.11);
}

TEST_F(KeyMoverTest, BigKeyIsForgottenOrNotCounted) {
  PlanToAdd();
  Fill(2'000);
  Fill(20, "big:", 0, 3 * 1024 * 1024);
  StartMover();
  ASSERT_TRUE(WaitIdle()) << trouble();
  ExpectMoved("big:", 20);
  ExpectMoved("key:", 2'000);
  const uint64_t big = MovingKeys("big:", 20);
  ASSERT_GT(big, 0U);
  EXPECT_EQ(plan_->figures().big_keys.load(), big);
}

TEST_F(KeyMoverTest, TimeToLiveGrowsOrIsLost) {
  PlanToAdd();
  Fill(300);
  for (int i = 0; i < 300; ++i) {
    const std::string key = "key:" + std::to_string(i);
    servers_[plan_->FromIndex(plan_->diff().from().Hash(key))]->Do({"PEXPIRE", key, "600000"});
  }
  StartMover();
  ASSERT_TRUE(WaitIdle()) << trouble();
  ExpectMoved("key:", 300);
  const Reply keys = servers_[3]->Do({"KEYS", "*"});
  ASSERT_GT(keys.elements.size(), 10U);
  for (const Reply& key : keys.elements) {
    const int64_t left = servers_[3]->Do({"PTTL", key.text}).integer;
    EXPECT_GT(left, 500'000);
    EXPECT_LE(left, 600'000);
  }
}

TEST_F(KeyMoverTest, TargetWithoutMemoryEndsTheMove) {
  PlanToAdd();
  Fill(3'000);
  servers_[3]->Do({"CONFIG", "SET", "maxmemory", "1"});
  StartMover();
  ASSERT_TRUE(Eventually([this] { return trouble().find("OOM") != std::string::npos; })) << trouble();
  EXPECT_NE(trouble().find("s4 " + servers_[3]->address()), std::string::npos) << trouble();
  EXPECT_EQ(Moved(), 0U);
  EXPECT_FALSE(idle_);
  servers_[3]->Do({"CONFIG", "SET", "maxmemory", "0"});
  ASSERT_TRUE(WaitIdle()) << trouble();
  EXPECT_EQ(trouble(), "");
  ExpectMoved("key:", 3'000);
}

TEST_F(KeyMoverTest, TargetThatGoesAwayEndsTheMove) {
  PlanToAdd();
  Fill(3'000);
  servers_[3]->Kill();
  StartMover();
  ASSERT_TRUE(Eventually([this] { return trouble().find("s4 ") != std::string::npos; })) << trouble();
  servers_[3]->Restart();
  ASSERT_TRUE(WaitIdle()) << trouble();
  EXPECT_EQ(trouble(), "");
  ExpectMoved("key:", 3'000);
  uint64_t errors = 0;
  for (const auto& pair : plan_->figures().pairs) errors += pair.errors.load();
  EXPECT_GT(errors, 0U);
}

TEST_F(KeyMoverTest, FrozenTargetHoldsItsSourcesUpForEver) {
  PlanToAdd();
  Fill(3'000);
  servers_[3]->Pause();
  StartMover();
  ASSERT_TRUE(Eventually([this] { return trouble().find("s4 ") != std::string::npos; })) << trouble();
  // From the second attempt on the target itself is asked first, and the source serves all the time.
  ASSERT_TRUE(Eventually([this] { return trouble().find("does not answer") != std::string::npos; }))
      << trouble();
  EXPECT_TRUE(Consistently(
      [this] {
        const int64_t begin = proxy::MonotonicUsec();
        return servers_[0]->Do({"PING"}).text == "PONG" && proxy::MonotonicUsec() - begin < 300'000;
      },
      milliseconds(1'500)));
  servers_[3]->Resume();
  ASSERT_TRUE(WaitIdle()) << trouble();
  ExpectMoved("key:", 3'000);
}

TEST_F(KeyMoverTest, SourceThatComesBackIsNotTriedAgain) {
  PlanToAdd();
  Fill(3'000);
  servers_[0]->Pause();
  StartMover();
  ASSERT_TRUE(Eventually([this] { return trouble().find("s1 ") != std::string::npos; })) << trouble();
  servers_[0]->Resume();
  ASSERT_TRUE(WaitIdle()) << trouble();
  ExpectMoved("key:", 3'000);
}

TEST_F(KeyMoverTest, KeysMoveWhileTheyAreCounted) {
  PlanToAdd();
  Fill(5'000);
  auto& gate = plan_->figures().gate;
  const auto period = gate.Close(proxy::MonotonicUsec());
  ASSERT_TRUE(period.has_value());
  StartMover();
  while (gate.IsClosed(*period, proxy::MonotonicUsec())) {
    if (!gate.Quiet()) continue;  // one looks, and is turned back
    EXPECT_EQ(Moved(), 0U);
  }
  ASSERT_TRUE(WaitIdle()) << trouble();
  EXPECT_TRUE(gate.Quiet());
  ExpectMoved("key:", 5'000);
}

TEST_F(KeyMoverTest, OneBadKeyKeepsAllOthersBack) {
  const FakeShard picky([](const Command& command) -> std::string {
    if (command[0] != "RESTORE") return "";
    return command[1] == "key:bad" ? "-ERR Bad data format\r\n" : "+OK\r\n";
  });
  plan_ = PlanOf({shards_[0]}, {ShardAt(7, "fake", picky.address())});
  Fill(100);
  servers_[0]->Do({"SET", "key:bad", "1"});
  StartMover();
  ASSERT_TRUE(Eventually([this] {
    return trouble().find("1 key that cannot be moved") != std::string::npos;
  })) << trouble();
  EXPECT_NE(trouble().find("Bad data format"), std::string::npos) << trouble();
  EXPECT_EQ(servers_[0]->Do({"DBSIZE"}).integer, 1);
  EXPECT_EQ(Moved(), 100U);
  servers_[0]->Do({"DEL", "key:bad"});
  ASSERT_TRUE(WaitIdle()) << trouble();
}

// Takes keys from the source as the workers would.
class Relays : public proxy::RelayPort {
 public:
  Relays(ControlLoop& loop, const proxy::MovePlan& plan) : loop_(loop), plan_(plan) {}

  void Relay(uint32_t pair, uint32_t db, std::vector<std::string> keys, Done done) override {
    if (fail_once_) {
      fail_once_ = false;
      loop_.links().loop.Post([done = std::move(done)] { done({0, 0, "s4 takes no keys", false}); });
      return;
    }
    const Shard& from = plan_.from()[plan_.pairs()[pair].from];
    const Shard& to = plan_.to()[plan_.pairs()[pair].to];
    RespClient source(from.config.address);
    RespClient target(to.config.address);
    source.Do({"SELECT", std::to_string(db)});
    target.Do({"SELECT", std::to_string(db)});
    for (const std::string& key : keys) {
      target.Do({"SET", key, source.Do({"GET", key}).text});
      source.Do({"DEL", key});
    }
    loop_.links().loop.Post([moved = keys.size(), done = std::move(done)] {
      done({moved, 10 * moved, "", false});
    });
  }

 private:
  ControlLoop& loop_;
  const proxy::MovePlan& plan_;
  bool fail_once_ = true;
};

TEST_F(KeyMoverTest, RelayedKeysAreNotCountedOrTriedAgain) {
  plan_ = PlanOf({shards_.begin(), shards_.end() - 1}, shards_, config::Mover::kRelay);
  Fill(1'000, "key:", 2);
  Relays relays(loop_, *plan_);
  loop_.Do([&] {
    mover_ = std::make_unique<KeyMover>(loop_.links(), *this, &relays, KeyMover::Options());
    mover_->Start(plan_, kUnlimited);
  });
  ASSERT_TRUE(WaitIdle()) << trouble();
  ExpectMoved("key:", 1'000, 2);
  EXPECT_EQ(Moved(), MovingKeys("key:", 1'000));
}

}  // namespace
}  // namespace ringway::test
