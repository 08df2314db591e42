// Each limit on both of its sides: up to it all is served, over it only the client at fault notices.
#include <thread>

#include <sys/resource.h>

#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

using Clock = std::chrono::steady_clock;

class Limits : public CustomProxyTest {
 protected:
  void SetUp() override { RINGWAY_NEEDS_PROXY(); }
};

TEST_F(Limits, ClientLimitIsIgnored) {
  ClusterOptions options;
  options.config = "limits: {clients: 20}\n";
  Start(options);
  std::vector<RespClient> clients;
  for (int i = 0; i < 19; ++i) {
    clients.push_back(Connect());
    ASSERT_EQ(ToText(clients.back().Do({"PING"})), "+PONG");
  }
  RespClient one_too_many = Connect();
  EXPECT_EQ(one_too_many.socket().ReadUntilClosed(), "-ERR max number of clients reached\r\n");
  EXPECT_EQ(Ask({"PING"}), "+PONG");
  EXPECT_NE(InfoField(Do({"INFO", "stats"}).text, "rejected_connections"), "0");
  clients.pop_back();
  EXPECT_TRUE(Eventually([&] { return ToText(Connect().Do({"PING"})) == "+PONG"; }));
}

TEST_F(Limits, LongPipelineOfAStoppedShardTakesMemoryWithoutEnd) {
  ClusterOptions options;
  options.config = "limits: {pipeline: 100}\ntimeouts: {request: 5s}\n";
  Start(options);
  const std::string key = cluster_->KeyOn(0);
  const std::string other_key = cluster_->KeyOn(1);
  shard(0).Pause();
  RespClient pipelining = Connect();
  std::string requests;
  for (int i = 0; i < 1000; ++i) requests += EncodeCommand({"INCR", key});
  ASSERT_TRUE(pipelining.socket().Send(requests));
  for (int i = 0; i < 50; ++i) ASSERT_EQ(Ask({"SET", other_key, "x"}), "+OK");
  shard(0).Resume();
  // Over the limit the rest waits unread; nothing is refused or lost.
  for (int i = 1; i <= 1000; ++i) ASSERT_EQ(ToText(pipelining.Read()), std::to_string(i));
}

// Positions in a request have 32 bits.
TEST_F(Limits, ArgumentLimitBeyondFourGigabytesCutsEverybodyOff) {
  Start({});
  for (const char* limit : {"4gb", "8589934602", "1024gb"}) {
    ASSERT_EQ(Ask({"CONFIG", "SET", "proto-max-bulk-len", limit}), "+OK");
    ASSERT_EQ(Ask({"SET", "a", std::string(100'000, 'x')}), "+OK") << limit;
  }
}

TEST_F(Limits, ClientThatSendsOrWaitsCountsAsIdle) {
  ClusterOptions options;
  options.config = "timeouts: {idle_client: 1s}\n";
  Start(options);
  RespClient slow = Connect();
  RespClient paused = Connect();
  const std::string key = cluster_->KeyOn(0);
  ASSERT_EQ(Ask({"CLIENT", "PAUSE", "3000", "WRITE"}), "+OK");
  ASSERT_TRUE(paused.socket().Send(EncodeCommand({"SET", key, "paused"})));
  const std::string request = EncodeCommand({"ECHO", "0123456789"});
  const auto end = Clock::now() + milliseconds(2500);
  for (size_t i = 0; i + 2 < request.size(); ++i) {
    ASSERT_TRUE(slow.socket().Send(request.substr(i, 1)));
    ASSERT_EQ(Ask({"PING"}), "+PONG");
    std::this_thread::sleep_until(end - milliseconds(2500) * (request.size() - i) / request.size());
  }
  ASSERT_TRUE(slow.socket().Send("\r\n"));
  EXPECT_EQ(slow.Read().text, "0123456789");
  ASSERT_EQ(Ask({"CLIENT", "UNPAUSE"}), "+OK");
  EXPECT_EQ(ToText(paused.Read()), "+OK");
}

TEST_F(Limits, RequestLargerThanTheLimitIsTaken) {
  ClusterOptions options;
  options.config = "limits: {request_bytes: 1mb}\n";
  Start(options);
  EXPECT_EQ(Ask({"SET", "a", std::string(1 << 20, 'x')}), "+OK");
  RespClient over = Connect();
  over.socket().Send("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$" + std::to_string((1 << 20) + 1) + "\r\n");
  EXPECT_EQ(over.socket().ReadUntilClosed(), "-ERR Protocol error: invalid bulk length\r\n");
  EXPECT_EQ(Ask({"PING"}), "+PONG");
}

TEST_F(Limits, FullShardQueueStopsOtherShards) {
  ClusterOptions options;
  options.config = "limits: {in_flight_per_shard: 64}\ntimeouts: {request: 3s}\n";
  Start(options);
  const std::string key = cluster_->KeyOn(0);
  const std::string other_key = cluster_->KeyOn(1);
  shard(0).Pause();
  RespClient pipelining = Connect();
  std::string requests;
  for (int i = 0; i < 500; ++i) requests += EncodeCommand({"SET", key, "x"});
  ASSERT_TRUE(pipelining.socket().Send(requests));
  for (int i = 0; i < 50; ++i) ASSERT_EQ(Ask({"SET", other_key, "x"}), "+OK");
  shard(0).Resume();
  for (int i = 0; i < 500; ++i) {
    const Reply reply = pipelining.Read();
    ASSERT_TRUE(reply.IsOk() || reply.IsErrorStartingWith("SHARD") || reply.IsErrorStartingWith("ERR"))
        << reply;
  }
  EXPECT_TRUE(Eventually([&] { return Ask({"SET", key, "y"}) == "+OK"; }));
}

TEST_F(Limits, IdleClientIsKeptOrABusyOneClosed) {
  ClusterOptions options;
  options.config = "timeouts: {idle_client: 1s}\n";
  Start(options);
  RespClient idle = Connect();
  EXPECT_EQ(ToText(idle.Do({"PING"})), "+PONG");
  const auto start = Clock::now();
  bool closed = false;
  EXPECT_TRUE(Eventually([&] {
    EXPECT_EQ(Ask({"PING"}), "+PONG");
    closed = idle.socket().ReadableWithin(milliseconds(50));
    return closed;
  }));
  EXPECT_GE(Clock::now() - start, milliseconds(900));
  EXPECT_EQ(idle.socket().ReadUntilClosed(), "");
}

// Codis #871: out of file descriptors, the proxy spun, flooded its log or crashed.
TEST_F(Limits, RunningOutOfFileDescriptorsEndsTheProxy) {
  Start({});
  Fill(30);
  const auto fds = static_cast<rlim_t>(cluster_->proxy().OpenFds());
  // The highest number in use may be above the count.
  const rlimit few = {fds + 8, fds + 8};
  rlimit before = {};
  ASSERT_EQ(prlimit(cluster_->proxy().pid(), RLIMIT_NOFILE, &few, &before), 0);
  std::vector<RespClient> clients;
  for (int i = 0; i < 60; ++i) clients.push_back(Connect());
  for (int i = 0; i < 30; ++i)
    ASSERT_EQ(Do({"GET", "key:" + std::to_string(i)}).text, "key:" + std::to_string(i));

  // Neither a spin nor a flood while connections wait that cannot be accepted.
  const double cpu = cluster_->proxy().CpuSeconds();
  const size_t log = cluster_->proxy().log().size();
  EXPECT_TRUE(Consistently([&] { return Ask({"PING"}) == "+PONG"; }, milliseconds(700)));
  EXPECT_LT(cluster_->proxy().CpuSeconds() - cpu, 0.4);
  EXPECT_LT(cluster_->proxy().log().size() - log, 4000U);

  clients.clear();
  EXPECT_TRUE(Eventually([&] { return ToText(Connect().Do({"PING"}, milliseconds(500))) == "+PONG"; }));
}

// Clients took every free descriptor, and a shard that came back found none.
TEST(Descriptors, ClientsTakeThoseOfTheShards) {
  RedisServer server;
  // Without the right to raise the limit again, which root has.
  const std::string script =
      "drop=; [ $(id -u) = 0 ] && drop='setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource'\n"
      "exec $drop prlimit --nofile=150:150 \"$@\"";
  RingwayProcess proxy({"--listen", "127.0.0.1:0", "--threads", "1", "--shard", "a=" + server.address()}, {},
                       {"sh", "-c", script, "sh"});
  ASSERT_TRUE(proxy.WaitReady()) << proxy.log();
  EXPECT_TRUE(proxy.LogContains("limits.clients is 10000")) << proxy.log();
  std::vector<RespClient> clients;
  for (int i = 0; i < 200; ++i) clients.emplace_back(proxy.address());
  ASSERT_TRUE(clients[199].Do({"PING"}).IsErrorStartingWith("ERR max number of clients reached"));
  server.Kill();
  ASSERT_TRUE(Eventually([&] { return clients[0].Do({"GET", "k"}).IsErrorStartingWith("SHARDDOWN"); }));
  server.Restart();
  EXPECT_TRUE(Eventually([&] { return ToText(clients[0].Do({"SET", "k", "v"})) == "+OK"; }));
}

TEST_F(Limits, RejectedClientsLeakDescriptors) {
  ClusterOptions options;
  options.config = "limits: {clients: 5}\n";
  Start(options);
  Ask({"PING"});
  const int64_t before = cluster_->proxy().OpenFds();
  for (int round = 0; round < 20; ++round) {
    std::vector<RespClient> clients;
    for (int i = 0; i < 20; ++i) clients.push_back(Connect());
    for (RespClient& client : clients) client.Do({"PING"});
  }
  // Connections to shards may have been under way; of clients 300 were rejected.
  EXPECT_TRUE(Eventually([&] { return cluster_->proxy().OpenFds() <= before + 10; }))
      << cluster_->proxy().OpenFds();
}

}  // namespace
}  // namespace ringway::test
