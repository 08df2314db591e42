// From the command line to the end of the process.
#include <filesystem>
#include <sstream>

#include <signal.h>
#include <unistd.h>

#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

class Lifecycle : public CustomProxyTest {
 protected:
  void SetUp() override {
    RINGWAY_NEEDS_PROXY();
    for (int i = 0; i < 2; ++i) servers_.push_back(std::make_unique<RedisServer>());
  }

  std::vector<std::string> Shards() const {
    return {"--shard", "a=" + servers_[0]->address(), "--shard", "b=" + servers_[1]->address() + "*2"};
  }

  static std::vector<std::string> With(std::vector<std::string> first, const std::vector<std::string>& more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
  }

  std::vector<std::unique_ptr<RedisServer>> servers_;
};

TEST_F(Lifecycle, PortZeroIsNotPrinted) {
  RingwayProcess proxy(With({"--listen", "127.0.0.1:0"}, Shards()));
  ASSERT_TRUE(proxy.WaitReady()) << proxy.log();
  EXPECT_THAT(proxy.address(), ::testing::MatchesRegex("127\\.0\\.0\\.1:[1-9][0-9]*"));
  RespClient client(proxy.address());
  EXPECT_EQ(ToText(client.Do({"SET", "a", "1"})), "+OK");
}

TEST_F(Lifecycle, UnixSocketOrIpv6IsNotServed) {
  TempDir directory;
  const std::string path = "unix:" + directory.File("ringway.sock");
  RingwayProcess proxy(With({"--listen", "127.0.0.1:0", "--listen", path, "--listen", "[::1]:0"}, Shards()));
  ASSERT_TRUE(proxy.WaitReady(3)) << proxy.log();
  for (const std::string& address : proxy.Addresses()) {
    RespClient client(address);
    EXPECT_EQ(ToText(client.Do({"SET", "a", address})), "+OK") << address << client.socket().LastError();
    EXPECT_EQ(client.Do({"GET", "a"}).text, address);
  }
  EXPECT_THAT(proxy.Addresses(), ::testing::Contains(path));
  proxy.Signal(SIGTERM);
  EXPECT_EQ(proxy.WaitExit(), 0);
  // A socket file left behind must not stop the next start.
  RingwayProcess again(With({"--listen", path}, Shards()));
  ASSERT_TRUE(again.WaitReady()) << again.log();
  EXPECT_EQ(ToText(RespClient(path).Do({"PING"})), "+PONG");
}

TEST_F(Lifecycle, ManyWorkersShareAListener) {
  RingwayProcess proxy(With({"--listen", "127.0.0.1:0", "--threads", "4"}, Shards()));
  ASSERT_TRUE(proxy.WaitReady()) << proxy.log();
  std::vector<RespClient> clients;
  for (int i = 0; i < 100; ++i) clients.emplace_back(proxy.address());
  for (size_t i = 0; i < clients.size(); ++i) {
    ASSERT_EQ(ToText(clients[i].Do({"SET", "k" + std::to_string(i), "v"})), "+OK");
  }
  const std::string workers = clients[0].Do({"INFO", "workers"}).text;
  for (int i = 0; i < 4; ++i) EXPECT_NE(InfoField(workers, "worker" + std::to_string(i)), "") << workers;
}

// As INFO workers counts them, which asks no shard.
int64_t CommandsOfAllWorkers(RespClient& client) {
  constexpr std::string_view kField = "commands=";
  const std::string workers = client.Do({"INFO", "workers"}).text;
  int64_t commands = 0;
  for (size_t at = workers.find(kField); at != std::string::npos; at = workers.find(kField, at + 1)) {
    commands += std::stoll(workers.substr(at + kField.size()));
  }
  return commands;
}

TEST_F(Lifecycle, SigtermLosesRepliesOrHangs) {
  for (const int signal_number : {SIGTERM, SIGINT}) {
    RingwayProcess proxy(With({"--listen", "127.0.0.1:0", "--threads", "2"}, Shards()));
    ASSERT_TRUE(proxy.WaitReady()) << proxy.log();
    RespClient idle(proxy.address());
    ASSERT_EQ(ToText(idle.Do({"PING"})), "+PONG");
    RespClient busy(proxy.address());
    ASSERT_EQ(ToText(busy.Do({"PING"})), "+PONG");
    servers_[0]->Pause();
    servers_[1]->Pause();
    for (int i = 0; i < 20; ++i) busy.Send({"SET", "k" + std::to_string(i), "v"});
    // The requests have been taken, and both shards owe answers, when the signal comes. (INFO ring would ask
    // the shards that do not answer.)
    ASSERT_TRUE(Eventually([&] { return CommandsOfAllWorkers(idle) >= 22; }));
    proxy.Signal(signal_number);
    servers_[0]->Resume();
    servers_[1]->Resume();
    for (int i = 0; i < 20; ++i) ASSERT_EQ(ToText(busy.Read()), "+OK") << i;
    EXPECT_EQ(proxy.WaitExit(), 0) << proxy.log();
    EXPECT_TRUE(idle.socket().ReadUntilClosed().has_value());
    RespSocket late;
    EXPECT_FALSE(late.Connect(proxy.address()));
  }
}

TEST_F(Lifecycle, VersionAndHelpNeedAShard) {
  RingwayProcess version({"--version"});
  EXPECT_EQ(version.WaitExit(), 0);
  EXPECT_THAT(version.log(), ::testing::ContainsRegex("ringway [0-9]+\\.[0-9]+\\.[0-9]+"));
  RingwayProcess help({"--help"});
  EXPECT_EQ(help.WaitExit(), 0);
  for (const char* flag :
       {"--config", "--listen", "--shard", "--threads", "--check-config", "--dev-shards"}) {
    EXPECT_THAT(help.log(), HasSubstr(flag));
  }
}

TEST_F(Lifecycle, MistakesInTheConfigurationAreFoundOneByOneOrNotAtAll) {
  TempDir directory;
  const std::string path = directory.File("ringway.yaml");
  WriteFile(path,
            "listen: 127.0.0.1:0\nthreads: many\nnonsense: 1\nshards:\n  - {name: a, address: 127.0.0.1:1}\n"
            "  - {name: a, address: 127.0.0.1:2}\n");
  RingwayProcess check({"--config", path, "--check-config"});
  EXPECT_EQ(check.WaitExit(), 1);
  // Every one of them, with its line.
  EXPECT_THAT(check.log(), AllOf(HasSubstr("2"), HasSubstr("threads"), HasSubstr("3"), HasSubstr("nonsense"),
                                 HasSubstr("6")));
  RingwayProcess run({"--config", path});
  EXPECT_NE(run.WaitExit().value_or(0), 0);
  WriteFile(path, "listen: 127.0.0.1:0\nshards:\n  - {name: a, address: 127.0.0.1:1}\n");
  RingwayProcess fine({"--config", path, "--check-config"});
  EXPECT_EQ(fine.WaitExit(), 0) << fine.log();
  RingwayProcess missing({"--config", directory.File("none.yaml")});
  EXPECT_EQ(missing.WaitExit(), 1);
  EXPECT_THAT(missing.log(), HasSubstr("none.yaml"));
}

TEST_F(Lifecycle, PortInUseIsSilentlyShared) {
  // SO_REUSEPORT lets the workers share a port, and must not let two proxies steal each other's clients
  // unseen by an operator: another user's or a plain listener's port is an error.
  RedisServer other;
  RingwayProcess proxy(With({"--listen", other.address()}, Shards()));
  EXPECT_NE(proxy.WaitExit().value_or(0), 0);
  EXPECT_THAT(proxy.log(), HasSubstr(other.address()));

  RingwayProcess several(With({"--listen", "127.0.0.1:0", "--threads", "4"}, Shards()));
  ASSERT_TRUE(several.WaitReady()) << several.log();
  RingwayProcess second(With({"--listen", several.address(), "--threads", "4"}, Shards()));
  EXPECT_NE(second.WaitExit().value_or(0), 0);
  EXPECT_THAT(second.log(), HasSubstr(several.address()));
}

// The kernel gives a closed standard stream's number to the next socket.
TEST_F(Lifecycle, LogIsWrittenIntoASocket) {
  TempDir directory;
  const std::string path = directory.File("ringway.sock");
  RingwayProcess proxy(With({"--listen", "unix:" + path, "--threads", "1"}, Shards()), {},
                       {"/bin/sh", "-c", "exec \"$@\" <&- >&- 2>&-", "sh"});
  ASSERT_TRUE(Eventually([&] { return access(path.c_str(), F_OK) == 0; }));
  RespClient client("unix:" + path);
  EXPECT_EQ(ToText(client.Do({"SET", "a", "1"})), "+OK");
  for (const char* stream : {"0", "1", "2"}) {
    EXPECT_EQ(std::filesystem::read_symlink("/proc/" + std::to_string(proxy.pid()) + "/fd/" + stream),
              "/dev/null");
  }
}

TEST_F(Lifecycle, ReloadIsIgnoredOrLosesClients) {
  Start({});
  EXPECT_EQ(Do({"CONFIG", "GET", "maxclients"}).elements.at(1).text, "10000");
  WriteFile(cluster_->config_path(), cluster_->ConfigText() + "limits: {clients: 1234}\n");
  cluster_->proxy().Signal(SIGHUP);
  EXPECT_TRUE(Eventually([&] { return Do({"CONFIG", "GET", "maxclients"}).elements.at(1).text == "1234"; }));

  WriteFile(cluster_->config_path(), "this: [is broken");
  cluster_->proxy().Signal(SIGHUP);
  EXPECT_TRUE(Eventually([&] { return cluster_->proxy().LogContains("ringway.yaml"); }))
      << cluster_->proxy().log();
  EXPECT_EQ(Do({"CONFIG", "GET", "maxclients"}).elements.at(1).text, "1234")
      << "a broken file changes nothing";
  EXPECT_EQ(Ask({"SET", "a", "1"}), "+OK");
}

TEST_F(Lifecycle, DevShardsOutliveTheProxy) {
  std::vector<pid_t> children;
  {
    RingwayProcess proxy({"--listen", "127.0.0.1:0", "--dev-shards", "3"});
    ASSERT_TRUE(proxy.WaitReady()) << proxy.log();
    RespClient client(proxy.address());
    for (int i = 0; i < 30; ++i) ASSERT_EQ(ToText(client.Do({"SET", "k" + std::to_string(i), "v"})), "+OK");
    EXPECT_EQ(ToText(client.Do({"DBSIZE"})), "30");
    const std::string listed = ReadFile("/proc/" + std::to_string(proxy.pid()) + "/task/" +
                                        std::to_string(proxy.pid()) + "/children");
    std::istringstream in(listed);
    for (pid_t child = 0; in >> child;) children.push_back(child);
    EXPECT_THAT(children, SizeIs(3));
    proxy.Signal(SIGINT);
    EXPECT_EQ(proxy.WaitExit(), 0);
  }
  for (const pid_t child : children) EXPECT_TRUE(Eventually([&] { return kill(child, 0) != 0; })) << child;
}

TEST_F(Lifecycle, DevShardsOutliveAProxyThatIsKilled) {
  std::vector<pid_t> children;
  {
    RingwayProcess proxy({"--listen", "127.0.0.1:0", "--dev-shards", "2"});
    ASSERT_TRUE(proxy.WaitReady()) << proxy.log();
    std::istringstream in(ReadFile("/proc/" + std::to_string(proxy.pid()) + "/task/" +
                                   std::to_string(proxy.pid()) + "/children"));
    for (pid_t child = 0; in >> child;) children.push_back(child);
    EXPECT_THAT(children, SizeIs(2));
    proxy.Signal(SIGKILL);
    proxy.WaitExit();
  }
  for (const pid_t child : children) EXPECT_TRUE(Eventually([&] { return kill(child, 0) != 0; })) << child;
}

class Secrets : public CustomProxyTest {};

TEST_F(Secrets, PasswordIsShownSomewhere) {
  RINGWAY_NEEDS_PROXY();
  const std::string client_secret = "client-secret-8723";
  const std::string shard_secret = "shard-secret-1952";
  ClusterOptions options;
  options.redis_arguments = {"--requirepass", shard_secret};
  options.shard_config = ", password: " + shard_secret;
  options.config = "requirepass: " + client_secret + "\nlog: {level: trace}\nslowlog: {log_slower_than: 0}\n";
  Start(options);
  ASSERT_EQ(Ask({"AUTH", client_secret}), "+OK");
  RespClient other = Connect();
  other.Do({"AUTH", "wrong-" + client_secret});
  other.Do({"HELLO", "3", "AUTH", "default", client_secret});
  Ask({"CONFIG", "SET", "requirepass", client_secret + "x"});
  Ask({"SET", "a", "1"});
  std::string shown;
  for (const Command& command : std::vector<Command>{{"INFO", "everything"},
                                                     {"CONFIG", "GET", "*"},
                                                     {"RING", "LIST"},
                                                     {"RING", "LOCATE", "a"},
                                                     {"CLIENT", "LIST"},
                                                     {"CLIENT", "INFO"},
                                                     {"SLOWLOG", "GET", "-1"}}) {
    shown += client_.DoRaw(command);
  }
  shard(1).Kill();
  for (int i = 0; i < 30; ++i) shown += client_.DoRaw({"GET", "k" + std::to_string(i)});
  shown += cluster_->proxy().log();
  for (const std::string& secret : {client_secret, shard_secret}) {
    const size_t at = shown.find(secret);
    EXPECT_EQ(at, std::string::npos) << shown.substr(at > 200 ? at - 200 : 0, 400);
  }
}

}  // namespace
}  // namespace ringway::test
