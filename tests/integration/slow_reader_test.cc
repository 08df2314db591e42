// A client that does not read costs itself and no one else, and memory comes back.
#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

constexpr int64_t kMegabyte = 1 << 20;
// What an allocator may keep after a burst.
// Sanitizers keep what is freed for a while.
const int64_t kAllocatorSlack = (Sanitized() ? 500 : 40) * kMegabyte;

class SlowReader : public CustomProxyTest {
 protected:
  void SetUp() override {
    RINGWAY_NEEDS_PROXY();
    ClusterOptions options;
    options.config = "limits: {client_output: 32mb}\n";
    Start(options);
    large_ = cluster_->KeyOn(0, "large:");
    small_on_same_shard_ = cluster_->KeyOn(0, "small:");
    small_elsewhere_ = cluster_->KeyOn(1, "small:");
    ASSERT_EQ(Ask({"SET", large_, std::string(8 * kMegabyte, 'x')}), "+OK");
    ASSERT_EQ(Ask({"SET", small_on_same_shard_, "v"}), "+OK");
    ASSERT_EQ(Ask({"SET", small_elsewhere_, "v"}), "+OK");
  }

  RespClient Stalled() {
    RespClient client;
    client.socket().Connect(cluster_->address(), 4096);
    return client;
  }

  void ExpectOthersServed() {
    for (int i = 0; i < 200; ++i) {
      ASSERT_EQ(Ask({"GET", small_elsewhere_}), "\"v\"");
      ASSERT_EQ(Ask({"GET", small_on_same_shard_}), "\"v\"");
    }
  }

  std::string large_;
  std::string small_on_same_shard_;
  std::string small_elsewhere_;
};

TEST_F(SlowReader, StalledReaderOfALargeReplyDisturbsOthers) {
  RespClient stalled = Stalled();
  stalled.Send({"GET", large_});
  ASSERT_TRUE(stalled.socket().ReadableWithin(kPatience));
  ExpectOthersServed();
  // When it reads at last, it gets all of it.
  EXPECT_EQ(stalled.Read().text, std::string(8 * kMegabyte, 'x'));
}

TEST_F(SlowReader, OutputOfAStalledReaderGrowsWithoutEnd) {
  const int64_t before = cluster_->proxy().Rss();
  std::vector<RespClient> stalled;
  for (int i = 0; i < 4; ++i) {
    stalled.push_back(Stalled());
    for (int request = 0; request < 40; ++request) stalled.back().Send({"GET", large_});
    // Once its first reply is on the way, what others ask takes another connection.
    ASSERT_TRUE(stalled.back().socket().ReadableWithin(kPatience));
  }
  // 4 clients x 320 MB were asked for; never more than the limit of each may be held.
  for (int i = 0; i < 20; ++i) {
    ExpectOthersServed();
    ASSERT_LT(cluster_->proxy().Rss() - before, 4 * 48 * kMegabyte + kAllocatorSlack);
  }
  stalled.clear();
  EXPECT_TRUE(Eventually([&] { return cluster_->proxy().Rss() - before < kAllocatorSlack; }))
      << (cluster_->proxy().Rss() - before) / kMegabyte << " MB more than before";
}

TEST_F(SlowReader, LimitClosesTheWrongClient) {
  // Small replies to a client that reads nothing: more than 32 MB of them cannot be held for it.
  ASSERT_EQ(Ask({"SET", small_elsewhere_, std::string(100000, 'v')}), "+OK");
  RespClient stalled = Stalled();
  std::string requests;
  for (int i = 0; i < 3000; ++i) requests += EncodeCommand({"GET", small_elsewhere_});
  stalled.socket().Send(requests, seconds(2));
  Ask({"SET", small_elsewhere_, "v"});
  ExpectOthersServed();
  EXPECT_EQ(InfoField(Do({"INFO", "clients"}).text, "connected_clients").empty(), false);
}

TEST_F(SlowReader, LargeRequestsOfASlowSenderStallOthers) {
  RespClient sender = Connect();
  sender.socket().Send("*3\r\n$3\r\nSET\r\n$4\r\nslow\r\n$1000000\r\n" + std::string(500000, 'x'));
  ExpectOthersServed();
  sender.socket().Send(std::string(500000, 'x') + "\r\n");
  EXPECT_EQ(ToText(sender.Read()), "+OK");
  EXPECT_EQ(Ask({"STRLEN", "slow"}), "1000000");
}

// The same key's shard connection carries both: half a value must not leave the stream out of step.
TEST_F(SlowReader, ClientThatVanishesInMidReplyBreaksTheShardConnection) {
  for (int i = 0; i < 20; ++i) {
    RespClient stalled = Stalled();
    stalled.Send({"GET", large_});
    stalled.Send({"GET", large_});
    ASSERT_TRUE(stalled.socket().ReadableWithin(kPatience));
    stalled.socket().Abort();
    ASSERT_EQ(Ask({"GET", small_on_same_shard_}), "\"v\"");
  }
  ExpectOthersServed();
}

TEST_F(SlowReader, ClientThatVanishesInMidRequestBreaksTheShardConnection) {
  for (int i = 0; i < 20; ++i) {
    RespClient sender = Connect();
    sender.socket().Send("*3\r\n$3\r\nSET\r\n$" + std::to_string(small_on_same_shard_.size()) + "\r\n" +
                         small_on_same_shard_ + "\r\n$3000000\r\n" + std::string(2000000, 'x'));
    sender.socket().Abort();
    ASSERT_EQ(Ask({"GET", small_on_same_shard_}), "\"v\"");
  }
}

TEST_F(SlowReader, MemoryIsNotGivenBackAfterABurst) {
  // The first round brings pools and buffers to their size.
  const auto burst = [&] {
    std::vector<RespClient> clients;
    for (int i = 0; i < 20; ++i) {
      clients.push_back(Connect());
      clients.back().Send({"GET", large_});
    }
    for (RespClient& client : clients)
      ASSERT_EQ(client.Read().text.size(), static_cast<size_t>(8 * kMegabyte));
    for (int i = 0; i < 20; ++i) ASSERT_EQ(Ask({"SET", "burst", std::string(8 * kMegabyte, 'y')}), "+OK");
  };
  const int64_t before = cluster_->proxy().Rss();
  for (int round = 0; round < 3; ++round) burst();
  EXPECT_TRUE(Eventually([&] { return cluster_->proxy().Rss() - before < kAllocatorSlack; }))
      << (cluster_->proxy().Rss() - before) / kMegabyte << " MB more than before";
}

TEST_F(SlowReader, MemoryGrowsWithConnectionsThatCameAndWent) {
  const auto come_and_go = [&] {
    std::vector<RespClient> clients;
    for (int i = 0; i < 400; ++i) {
      clients.push_back(Connect());
      clients.back().Send({"MGET", small_elsewhere_, small_on_same_shard_});
    }
    for (RespClient& client : clients) ASSERT_EQ(ToText(client.Read()), "[\"v\", \"v\"]");
  };
  come_and_go();
  const int64_t before = cluster_->proxy().Rss();
  for (int round = 0; round < 10; ++round) come_and_go();
  EXPECT_LT(cluster_->proxy().Rss() - before, 20 * kMegabyte);
  EXPECT_TRUE(Eventually([&] { return cluster_->proxy().OpenFds() < 200; }))
      << "descriptors of closed clients remain: " << cluster_->proxy().OpenFds();
}

}  // namespace
}  // namespace ringway::test
