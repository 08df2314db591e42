#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "config/address.h"
#include "proxy/control/shard_monitor_connection.h"
#include "tests/support/test_environment.h"

namespace ringway::proxy {
namespace {

using test::Eventually;

// A socket that listens on a free port of 127.0.0.1 and says nothing.
class SilentServer {
 public:
  SilentServer() {
    std::string problem;
    listener_ = Listen(config::ParseListenAddress("127.0.0.1:0").address, false, &problem);
    EXPECT_TRUE(listener_.valid()) << problem;
  }
  SocketAddress address() const { return LocalAddress(listener_.get()); }
  UniqueFd Accept() { return UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK)); }

 private:
  UniqueFd listener_;
};

class ShardMonitorConnectionTest : public ::testing::Test, public ShardMonitor::Host {
 protected:
  ShardMonitorConnectionTest()
      : resolver_([this](const std::string& host, uint16_t, std::string*) {
          EXPECT_EQ(host, "cache-one.test");
          return answers_[std::min<size_t>(asked_.fetch_add(1), answers_.size() - 1)];
        }) {}

  void TearDown() override {
    loop_.Post([this] { connection_.reset(); });
    loop_.PostStop();
    thread_.join();
    resolver_.Stop();
  }

  void Start(std::vector<std::vector<SocketAddress>> answers) {
    answers_ = std::move(answers);
    connection_ = std::make_unique<ShardMonitorConnection>(loop_, resolver_);
    Shard shard{1, {}};
    EXPECT_FALSE(config::ParseShardAddress("cache-one.test:7001", &shard.config).has_value());
    monitor_.emplace(shard, *connection_, *this, loop_.now_reference(), 1);
    connection_->set_user(&*monitor_);
    thread_ = std::thread([this] { loop_.Run([] {}); });
  }
  // Lets the monitor go on until the server has a connection.
  UniqueFd WaitForConnection(SilentServer& server) {
    UniqueFd connection;
    EXPECT_TRUE(Eventually([&] {
      loop_.Post([this] { monitor_->Tick(10'000'000); });
      connection = server.Accept();
      return connection.valid();
    }));
    return connection;
  }

  void OnDown(const ShardMonitor&, ShardMonitor::Trouble) override {}
  void OnBack(const ShardMonitor&) override {}
  void OnSight(const ShardMonitor&) override {}
  void OnCommands(const ShardMonitor&, std::string_view) override {}

  EventLoop loop_;
  std::vector<std::vector<SocketAddress>> answers_;
  std::atomic<size_t> asked_{0};
  Resolver resolver_;
  std::unique_ptr<ShardMonitorConnection> connection_;
  std::optional<ShardMonitor> monitor_;
  std::thread thread_;
};

// predixy #128, #120, twemproxy #13, #170: names were looked up once.
TEST_F(ShardMonitorConnectionTest, NameIsLookedUpOnlyOnce) {
  SilentServer old_house;
  SilentServer new_house;
  Start({{old_house.address()}, {new_house.address()}});
  UniqueFd first = WaitForConnection(old_house);
  first.Reset();
  EXPECT_TRUE(WaitForConnection(new_house).valid());
  EXPECT_FALSE(old_house.Accept().valid());
}

TEST_F(ShardMonitorConnectionTest, SecondAddressOfANameIsNotTried) {
  SocketAddress nobody;
  {
    SilentServer gone;
    nobody = gone.address();
  }
  SilentServer server;
  Start({{nobody, server.address()}});
  EXPECT_TRUE(WaitForConnection(server).valid());
}

// hiredis ends the process with an assertion when nobody waits for a reply.
TEST_F(ShardMonitorConnectionTest, ReplyThatNobodyAskedForEndsTheProcess) {
  SilentServer server;
  Start({{server.address()}});
  for (const std::string_view bytes :
       {"+PONG\r\n$0\r\n\r\n*0\r\n+WHAT\r\n", "+WHAT\r\n+WHAT\r\n:1\r\n-ERR x\r\n*0\r\n"}) {
    const UniqueFd connection = WaitForConnection(server);
    ASSERT_EQ(::send(connection.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    EXPECT_TRUE(WaitForConnection(server).valid()) << "the connection is given up, and another made";
  }
}

TEST_F(ShardMonitorConnectionTest, UnknownNameIsNotAskedForAgain) {
  SilentServer server;
  Start({{}, {}, {server.address()}});
  EXPECT_TRUE(WaitForConnection(server).valid());
}

}  // namespace
}  // namespace ringway::proxy
