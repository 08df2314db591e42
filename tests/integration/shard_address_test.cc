// Shards that move house, or are not what they seem.
#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

class ShardAddress : public CustomProxyTest {
 protected:
  void SetUp() override { RINGWAY_NEEDS_PROXY(); }

  // A redis-server on another loopback address than RedisServer has.
  static void StartRedis(ChildProcess* process, const std::string& host, int port, const TempDir& directory) {
    process->Start({"redis-server", "--bind", host, "--port", std::to_string(port), "--save", "", "--dir",
                    directory.path()},
                   directory.File("redis.log"));
    const std::string address = host + ":" + std::to_string(port);
    ASSERT_TRUE(Eventually([&] { return ToText(RespClient(address).Do({"PING"})) == "+PONG"; })) << address;
  }
};

// predixy #128, #120, twemproxy #13, #170: names were looked up once, so a renamed server was lost until a
// restart.
TEST_F(ShardAddress, RenamedServerIsLostUntilARestart) {
  TempDir directory;
  const std::string hosts = directory.File("hosts");
  WriteFile(hosts, "127.0.0.1 localhost\n127.0.0.1 cache-one.test\n");
  ChildProcess probe;
  // A view of /etc/hosts of its own, for the proxy alone.
  const std::vector<std::string> own_hosts = {
      "unshare", "--mount", "sh", "-c", "mount --bind " + hosts + " /etc/hosts && exec \"$@\"", "sh"};
  std::vector<std::string> try_out = own_hosts;
  try_out.push_back("true");
  probe.Start(try_out, directory.File("probe.log"));
  if (probe.WaitExit(kPatience) != 0)
    GTEST_SKIP() << "no mount namespace here: " << ReadFile(directory.File("probe.log"));

  const ReservedPort port;
  ChildProcess old_house;
  StartRedis(&old_house, "127.0.0.1", port.port(), directory);
  RingwayProcess proxy(
      {"--listen", "127.0.0.1:0", "--shard", "one=cache-one.test:" + std::to_string(port.port())}, {},
      own_hosts);
  ASSERT_TRUE(proxy.WaitReady()) << proxy.log();
  RespClient client(proxy.address());
  ASSERT_EQ(ToText(client.Do({"SET", "house", "old"})), "+OK") << proxy.log();

  ChildProcess new_house;
  StartRedis(&new_house, "127.0.0.2", port.port(), directory);
  WriteFile(hosts, "127.0.0.1 localhost\n127.0.0.2 cache-one.test\n");
  old_house.Kill();
  EXPECT_TRUE(Eventually([&] { return ToText(client.Do({"SET", "house", "new"})) == "+OK"; })) << proxy.log();
  EXPECT_EQ(ToText(RespClient("127.0.0.2:" + std::to_string(port.port())).Do({"GET", "house"})), "\"new\"");
}

TEST_F(ShardAddress, NameThatCannotBeLookedUpEndsTheProxy) {
  RedisServer server;
  RingwayProcess proxy({"--listen", "127.0.0.1:0", "--shard", "good=" + server.address(), "--shard",
                        "bad=no-such-host.invalid:1"});
  ASSERT_TRUE(proxy.WaitReady()) << proxy.log();
  RespClient client(proxy.address());
  bool served = false;
  bool refused = false;
  for (int i = 0; i < 40; ++i) {
    const Reply reply = client.Do({"SET", "k" + std::to_string(i), "v"});
    served = served || reply.IsOk();
    refused = refused || reply.IsErrorStartingWith("SHARDDOWN bad");
    EXPECT_TRUE(reply.IsOk() || reply.IsErrorStartingWith("SHARD")) << reply;
  }
  EXPECT_TRUE(served);
  EXPECT_TRUE(refused);
}

// predixy #107: MOVED reached clients when a shard was a node of a Redis Cluster.
TEST_F(ShardAddress, ShardThatIsAClusterNodeSendsMovedToClients) {
  RedisServer node({"--cluster-enabled", "yes"});
  RingwayProcess proxy({"--listen", "127.0.0.1:0", "--shard", "node=" + node.address()});
  EXPECT_TRUE(Eventually([&] { return proxy.LogContains("Redis Cluster node") || !proxy.running(); })) << proxy.log();
  EXPECT_TRUE(proxy.LogContains("Redis Cluster node")) << proxy.log();
  if (!proxy.running()) return;
  RespClient client(proxy.address());
  const Reply reply = client.Do({"GET", "key"});
  EXPECT_TRUE(reply.IsError());
  EXPECT_THAT(reply.text, AllOf(Not(StartsWith("MOVED")), Not(StartsWith("CLUSTERDOWN"))));
}

TEST_F(ShardAddress, ShardBehindAUnixSocketIsNotServed) {
  TempDir directory;
  const std::string path = directory.File("shard.sock");
  RedisServer server({"--unixsocket", path});
  RingwayProcess proxy({"--listen", "127.0.0.1:0", "--shard", "local=unix:" + path});
  ASSERT_TRUE(proxy.WaitReady()) << proxy.log();
  RespClient client(proxy.address());
  EXPECT_EQ(ToText(client.Do({"SET", "a", "1"})), "+OK");
  EXPECT_EQ(ToText(server.Do({"GET", "a"})), "\"1\"");
}

TEST_F(ShardAddress, TwoShardsWithOneAddressShareKeysUnseen) {
  RedisServer server;
  RingwayProcess proxy(
      {"--listen", "127.0.0.1:0", "--shard", "a=" + server.address(), "--shard", "b=" + server.address()});
  // DBSIZE, SCAN and KEYS would count each key twice.
  EXPECT_NE(proxy.WaitExit().value_or(0), 0) << "a mistake in a configuration is said at start";
}

}  // namespace
}  // namespace ringway::test
