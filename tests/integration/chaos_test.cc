// Many clients while shards stop, die and come back. RINGWAY_CHAOS_SECONDS sets how long, RINGWAY_SEED
// replays.
#include <atomic>
#include <mutex>
#include <thread>

#include <signal.h>

#include "tests/integration/chaos_client.h"
#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kClients = 200;
constexpr int kThreads = 8;
constexpr int kBatch = 12;
constexpr int64_t kMegabyte = 1 << 20;
constexpr int64_t kDefaultSeconds = 8;

// Runs the clients on threads of their own until told to stop, and collects what was wrong.
class Crowd {
 public:
  explicit Crowd(std::string address) : address_(std::move(address)) {
    for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this, i] { Run(i); });
  }
  ~Crowd() { Stop(); }

  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

  // After Stop.
  const std::vector<std::string>& complaints() const { return complaints_; }
  int64_t answers() const { return answers_; }
  int64_t errors() const { return errors_; }

 private:
  struct Member {
    ChaosClient client;
    RespClient connection;
  };

  void Run(int thread) {
    std::vector<Member> members;
    for (int id = thread; id < kClients; id += kThreads) {
      members.push_back(
          {ChaosClient(id, TestRandom(static_cast<uint64_t>(id) + 100)()), RespClient(address_)});
    }
    while (!stop_) {
      for (Member& member : members) {
        std::string bytes;
        for (int i = 0; i < kBatch; ++i) bytes += EncodeCommand(member.client.Next());
        member.connection.socket().Send(bytes);
      }
      for (Member& member : members) {
        if (!Collect(&member)) return;
      }
    }
    for (Member& member : members) {
      answers_ += member.client.answers();
      errors_ += member.client.errors();
      if (member.connection.socket().ReadableWithin(milliseconds(0))) Complain("bytes after the last answer");
    }
  }

  bool Collect(Member* member) {
    while (member->client.unanswered() > 0) {
      const std::string wrong = member->client.Judge(member->connection.Read());
      if (wrong.empty()) continue;
      Complain(wrong);
      return false;
    }
    return true;
  }

  void Complain(const std::string& wrong) {
    const std::lock_guard lock(mutex_);
    complaints_.push_back(wrong);
  }

  const std::string address_;
  std::atomic<bool> stop_ = false;
  std::atomic<int64_t> answers_ = 0;
  std::atomic<int64_t> errors_ = 0;
  std::mutex mutex_;
  std::vector<std::string> complaints_;
  std::vector<std::thread> threads_;
};

class Chaos : public CustomProxyTest {
 protected:
  // One misfortune of a random shard, and its end.
  void Disturb(std::mt19937_64* random) {
    RedisServer& victim = shard((*random)() % cluster_->size());
    const milliseconds period((*random)() % 900);
    const bool kill = (*random)() % 2 == 0;
    if (kill) {
      victim.Kill();
    } else {
      victim.Pause();
    }
    Consistently([] { return true; }, period);
    if (kill) {
      victim.Restart();
    } else {
      victim.Resume();
    }
    Consistently([] { return true; }, milliseconds((*random)() % 300));
  }

  void ExpectClean(const Crowd& crowd) {
    EXPECT_THAT(crowd.complaints(), IsEmpty());
    EXPECT_GT(crowd.answers(), kClients * kBatch);
    std::cout << crowd.answers() << " answers, " << crowd.errors() << " of them excused errors" << std::endl;
  }
};

TEST_F(Chaos, ClientsGetWrongRepliesWhileShardsStopAndDie) {
  ClusterOptions options;
  options.config = "timeouts: {connect: 200ms, request: 300ms}\n";
  Start(options);
  TestSeed();
  {
    Crowd warm_up(cluster_->address());
    Consistently([] { return true; }, seconds(1));
    warm_up.Stop();
    ExpectClean(warm_up);
    EXPECT_EQ(warm_up.errors(), 0) << "nothing was disturbed yet";
    // The next crowd has the same keys, and counts its versions anew.
    ASSERT_EQ(Ask({"FLUSHALL"}), "+OK");
  }
  RINGWAY_NEEDS_PROXY();
  const int64_t before = cluster_->proxy().Rss();
  const auto end = Clock::now() + seconds(EnvironmentInteger("RINGWAY_CHAOS_SECONDS", kDefaultSeconds));
  auto random = TestRandom();
  {
    Crowd crowd(cluster_->address());
    while (Clock::now() < end && cluster_->proxy().running()) Disturb(&random);
    crowd.Stop();
    ExpectClean(crowd);
  }
  ASSERT_TRUE(cluster_->proxy().running()) << cluster_->proxy().log();

  // All is well again without a restart.
  for (int i = 0; i < 100; ++i) {
    const std::string key = "after:" + std::to_string(i);
    ASSERT_TRUE(Eventually([&] { return Ask({"SET", key, key}) == "+OK"; }));
    ASSERT_EQ(Do({"GET", key}).text, key);
  }
  const int64_t slack = (Sanitized() ? 400 : 60) * kMegabyte;
  EXPECT_TRUE(Eventually([&] { return cluster_->proxy().Rss() - before < slack; }))
      << (cluster_->proxy().Rss() - before) / kMegabyte << " MB more than before";
  cluster_->proxy().Signal(SIGTERM);
  EXPECT_EQ(cluster_->proxy().WaitExit(seconds(20)), 0) << cluster_->proxy().log();
}

// The judge itself must be able to say no.
class ChaosJudge : public ::testing::Test {
 protected:
  // Asks until a command of that name comes up; all before it are answered with an excused error.
  Command AskUntil(const std::string& name) {
    while (true) {
      Command command = client_.Next();
      if (command[0] == name) return command;
      if (command[0] == "ECHO") {
        EXPECT_EQ(
            client_.Judge(ParseReply("$" + std::to_string(command[1].size()) + "\r\n" + command[1] + "\r\n")),
            "");
      } else {
        EXPECT_EQ(client_.Judge(ParseReply("-SHARDDOWN s1 is unreachable\r\n")), "");
      }
    }
  }
  std::string Judge(const std::string& bytes) { return client_.Judge(ParseReply(bytes)); }
  static std::string Bulk(const std::string& text) {
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  }

  ChaosClient client_{7, 1};
};

TEST_F(ChaosJudge, AcceptsWhatIsNotItsOwn) {
  EXPECT_THAT(Judge("+OK\r\n"), HasSubstr("answer to nothing"));
  AskUntil("SET");
  EXPECT_NE(Judge("$-1\r\n"), "");
  AskUntil("SET");
  EXPECT_NE(Judge("-ERR syntax error\r\n"), "");
  AskUntil("ECHO");
  EXPECT_NE(Judge(Bulk("something else")), "");
  AskUntil("ECHO");
  EXPECT_NE(Judge("-SHARDDOWN s1 is unreachable\r\n"), "");
  AskUntil("GET");
  EXPECT_THAT(Judge(Bulk("chaos:8:1=1;")), HasSubstr("another key"));
  const std::string second = AskUntil("GET")[1];
  EXPECT_THAT(Judge(Bulk(second + "=99999999;")), HasSubstr("not written yet"));
  const std::string third = AskUntil("GET")[1];
  EXPECT_THAT(Judge(Bulk(third + "=1;x")), HasSubstr("damaged"));
  const std::string fourth = AskUntil("GET")[1];
  EXPECT_EQ(Judge(Bulk(fourth + "=1;")), "");
  AskUntil("GET");
  EXPECT_EQ(Judge("$-1\r\n"), "");
  AskUntil("GET");
  EXPECT_NE(client_.Judge(Reply()), "");
  AskUntil("MGET");
  EXPECT_NE(Judge("*3\r\n$-1\r\n$-1\r\n$-1\r\n"), "");
  const Command mget = AskUntil("MGET");
  EXPECT_EQ(Judge("*4\r\n" + Bulk(mget[1] + "=1;") + Bulk(mget[2] + "=2;") + "$-1\r\n$-1\r\n"), "");
  AskUntil("EXISTS");
  EXPECT_NE(Judge(":3\r\n"), "");
  AskUntil("EXISTS");
  EXPECT_EQ(Judge(":2\r\n"), "");
}

}  // namespace
}  // namespace ringway::test
