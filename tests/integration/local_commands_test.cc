// Commands that the proxy answers with the help of all its workers or shards: CLIENT and CONFIG.
#include <algorithm>

#include "tests/integration/proxy_test.h"
#include "tests/support/made_request.h"

namespace ringway::test {
namespace {

using LocalCommands = ProxyTest;

// --- clients of all workers ---

std::string NumberOf(RespClient& client) { return std::to_string(client.Do({"CLIENT", "ID"}).integer); }

TEST_F(LocalCommands, ClientsOfOtherWorkersAreNotListed) {
  std::vector<RespClient> clients;
  std::vector<std::string> numbers;
  for (int i = 0; i < 16; ++i) {
    clients.push_back(Connect());
    numbers.push_back(NumberOf(clients.back()));
  }
  const std::string all = Do({"CLIENT", "LIST"}).text;
  for (const std::string& number : numbers) EXPECT_THAT(all, HasSubstr("id=" + number + " "));
  EXPECT_EQ(Do({"CLIENT", "LIST", "TYPE", "normal"}).text.substr(0, 3), "id=");
  // In the order asked for, and as often.
  const std::string some = Do({"CLIENT", "LIST", "ID", numbers[9], numbers[2], "12345", numbers[9]}).text;
  EXPECT_EQ(std::count(some.begin(), some.end(), '\n'), 3);
  EXPECT_TRUE(some.starts_with("id=" + numbers[9] + " "));
  EXPECT_THAT(some, HasSubstr("\nid=" + numbers[2] + " "));
}

TEST_F(LocalCommands, ListedFieldsAreNotTheCallersOwn) {
  client_.Do({"CLIENT", "SETNAME", "me"});
  client_.Do({"SELECT", "7"});
  const std::string line = client_.Do({"CLIENT", "INFO"}).text;
  for (const char* field :
       {" addr=127.0.0.1:", " laddr=127.0.0.1:", " name=me ", " age=0", " flags=N ", " db=7 ", " sub=0 ",
        " multi=-1 ", " events=r ", " cmd=client|info ", " user=default ", " redir=-1 ", " resp=2"}) {
    EXPECT_THAT(line, HasSubstr(field));
  }
  EXPECT_THAT(client_.Do({"CLIENT", "LIST"}).text, HasSubstr(" name=me "));
  EXPECT_THAT(client_.Do({"CLIENT", "LIST"}).text, HasSubstr(" cmd=client|list "));
  // The names of the fields and their order.
  const auto names = [](std::string text) {
    std::string result;
    for (const std::string& word : Words(text.substr(0, text.find('\n')))) {
      result += word.substr(0, word.find('=')) + " ";
    }
    return result;
  };
  EXPECT_EQ(names(line), names(shard(0).Do({"CLIENT", "INFO"}).text));
}

TEST_F(LocalCommands, LibraryIsForgotten) {
  RINGWAY_NEEDS_PROXY();
  EXPECT_EQ(Ask({"CLIENT", "SETINFO", "LIB-NAME", "redis-py"}), "+OK");
  EXPECT_EQ(Ask({"CLIENT", "SETINFO", "lib-ver", "5.0"}), "+OK");
  EXPECT_EQ(Ask({"CLIENT", "SETINFO", "other", "x"}), "-ERR Unrecognized option 'other'");
  EXPECT_EQ(Ask({"CLIENT", "SETINFO", "lib-ver", "a b"}),
            "-ERR lib-ver cannot contain spaces, newlines or special characters.");
  EXPECT_EQ(Ask({"CLIENT", "SETINFO", "lib-ver"}),
            "-ERR wrong number of arguments for 'client|setinfo' command");
  EXPECT_EQ(Ask({"CLIENT", "NO-TOUCH", "on"}), "+OK");
  EXPECT_THAT(Do({"CLIENT", "INFO"}).text, HasSubstr(" lib-name=redis-py lib-ver=5.0\n"));
}

TEST_F(LocalCommands, KillMissesClientsOfOtherWorkers) {
  std::vector<RespClient> clients;
  for (int i = 0; i < 12; ++i) clients.push_back(Connect());
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(Do({"CLIENT", "KILL", "ID", NumberOf(clients[i])}).integer, 1);
    EXPECT_TRUE(clients[i].socket().ReadUntilClosed().has_value());
  }
  clients[4].Do({"PING"});
  EXPECT_EQ(Ask({"CLIENT", "KILL", clients[4].socket().LocalAddress()}), "+OK");
  EXPECT_TRUE(clients[4].socket().ReadUntilClosed().has_value());
  EXPECT_EQ(Do({"CLIENT", "KILL", "ADDR", clients[5].socket().LocalAddress()}).integer, 1);
  EXPECT_EQ(Do({"CLIENT", "KILL", "TYPE", "normal", "USER", "default"}).integer, 6);
  for (size_t i = 6; i < clients.size(); ++i) {
    EXPECT_TRUE(clients[i].socket().ReadUntilClosed().has_value()) << i;
  }
  EXPECT_EQ(Ask({"PING"}), "+PONG");
}

TEST_F(LocalCommands, SuicideHasNoLastWord) {
  RespClient client = Connect();
  const std::string number = NumberOf(client);
  ASSERT_TRUE(client.socket().Send(EncodeCommand({"CLIENT", "KILL", "ID", number, "SKIPME", "no"}) +
                                   EncodeCommand({"SET", "after", "death"})));
  EXPECT_EQ(client.socket().ReadUntilClosed().value_or("open"), ":1\r\n");
  EXPECT_EQ(Ask({"GET", "after"}), "nil");
  RespClient old_form = Connect();
  old_form.Do({"PING"});
  ASSERT_TRUE(old_form.Send({"CLIENT", "KILL", old_form.socket().LocalAddress()}));
  EXPECT_EQ(old_form.socket().ReadUntilClosed().value_or("open"), "+OK\r\n");
  // Nobody kills himself by mistake.
  EXPECT_EQ(Do({"CLIENT", "KILL", "ID", NumberOf(client_)}).integer, 0);
}

TEST_F(LocalCommands, AnswerForSomebodyWhoLeft) {
  // Gathered answers come to requests whose client has gone meanwhile.
  for (int round = 0; round < 20; ++round) {
    RespClient client = Connect();
    std::string bytes;
    for (int i = 0; i < 20; ++i) bytes += EncodeCommand({"CLIENT", "LIST"});
    ASSERT_TRUE(client.socket().Send(bytes));
    client.socket().Abort();
  }
  EXPECT_EQ(Ask({"PING"}), "+PONG");
}

TEST_F(LocalCommands, PauseHoldsTooMuchOrTooLittle) {
  std::vector<RespClient> clients;
  for (int i = 0; i < 6; ++i) clients.push_back(Connect());
  EXPECT_EQ(Ask({"CLIENT", "PAUSE", "60000", "WRITE"}), "+OK");
  for (RespClient& client : clients) {
    EXPECT_EQ(ToText(client.Do({"GET", "key"})), "nil");
    ASSERT_TRUE(client.Send({"INCR", "key"}));
  }
  for (RespClient& client : clients) EXPECT_FALSE(client.socket().ReadableWithin(milliseconds(20)));
  // A shorter and milder one changes nothing.
  EXPECT_EQ(Ask({"CLIENT", "PAUSE", "1", "WRITE"}), "+OK");
  EXPECT_FALSE(clients[0].socket().ReadableWithin(milliseconds(150)));
  EXPECT_EQ(Ask({"CLIENT", "UNPAUSE"}), "+OK");
  for (RespClient& client : clients) EXPECT_TRUE(client.Read().IsInteger());
  EXPECT_EQ(Ask({"GET", "key"}), "\"6\"");
  // Over by itself.
  EXPECT_EQ(Ask({"CLIENT", "PAUSE", "100"}), "+OK");
  EXPECT_EQ(ToText(clients[1].Do({"GET", "key"})), "\"6\"");
}

// --- passwords ---

class LocalCommandsWithPassword : public CustomProxyTest {
 protected:
  void SetUp() override {
    ClusterOptions options;
    options.config = "requirepass: the-secret\n";
    Start(std::move(options));
  }
};

TEST_F(LocalCommandsWithPassword, DoorStandsOpen) {
  RINGWAY_NEEDS_PROXY();
  RedisServer server({"--requirepass", "the-secret"});
  RespClient theirs(server.address());
  for (const char* line : {"PING",
                           "GET a",
                           "CLIENT ID",
                           "CONFIG GET requirepass",
                           "HELLO",
                           "HELLO 3",
                           "HELLO 3 SETNAME x",
                           "AUTH wrong",
                           "AUTH the-secre",
                           "AUTH the-secrett",
                           "AUTH ''",
                           "AUTH other the-secret",
                           "AUTH default wrong",
                           "HELLO 3 AUTH default wrong",
                           "HELLO 3 AUTH other the-secret",
                           "COMMAND COUNT",
                           "RESET",
                           "AUTH the-secret",
                           "ECHO in",
                           "AUTH wrong",
                           "ECHO still",
                           "RESET",
                           "ECHO out",
                           "AUTH default the-secret",
                           "ECHO in",
                           "RESET",
                           "ACL WHOAMI",
                           "QUIT"}) {
    EXPECT_EQ(client_.DoRaw(Words(line)), theirs.DoRaw(Words(line))) << line;
  }
  RespClient hello = Connect();
  EXPECT_EQ(hello.Do({"HELLO", "3", "AUTH", "default", "the-secret"}).type, '%');
  EXPECT_EQ(ToText(hello.Do({"PING"})), "+PONG");
}

TEST_F(LocalCommandsWithPassword, PasswordIsShownOrStaysAfterItWasTakenAway) {
  RINGWAY_NEEDS_PROXY();
  RespClient stranger = Connect();
  EXPECT_EQ(ToText(stranger.Do({"PING"})), "-NOAUTH Authentication required.");
  EXPECT_EQ(Ask({"AUTH", "the-secret"}), "+OK");
  for (const char* pattern : {"*", "requirepass"}) {
    EXPECT_THAT(client_.DoRaw({"CONFIG", "GET", pattern}), Not(HasSubstr("the-secret")));
  }
  EXPECT_EQ(Ask({"CONFIG", "SET", "requirepass", "another"}), "+OK");
  EXPECT_EQ(ToText(stranger.Do({"AUTH", "the-secret"})).substr(0, 10), "-WRONGPASS");
  // Who is in stays in.
  EXPECT_EQ(Ask({"PING"}), "+PONG");
  EXPECT_EQ(Ask({"CONFIG", "SET", "requirepass", ""}), "+OK");
  EXPECT_EQ(ToText(stranger.Do({"PING"})), "+PONG");
  EXPECT_FALSE(cluster_->proxy().LogContains("the-secret"));
}

// --- parameters ---

TEST_F(LocalCommands, ParametersChangeOnOneWorkerOnly) {
  RINGWAY_NEEDS_PROXY();
  std::vector<RespClient> clients;
  for (int i = 0; i < 8; ++i) clients.push_back(Connect());
  EXPECT_EQ(Ask({"CONFIG", "SET", "limits.clients", "321", "log.level", "warn"}), "+OK");
  for (RespClient& client : clients) {
    EXPECT_EQ(client.Do({"CONFIG", "GET", "maxclients"}).elements.at(1).text, "321");
  }
}

TEST_F(LocalCommands, HalfOfTheParametersAreSet) {
  RINGWAY_NEEDS_PROXY();
  // The proxy's own are right, and a shard refuses.
  EXPECT_TRUE(Do({"CONFIG", "SET", "maxclients", "50", "maxmemory", "nonsense"})
                  .IsErrorStartingWith("ERR CONFIG SET"));
  // The shards would take theirs, and the proxy refuses.
  EXPECT_TRUE(
      Do({"CONFIG", "SET", "maxmemory", "7mb", "maxclients", "none"})
          .IsErrorStartingWith("ERR CONFIG SET failed (possibly related to argument 'maxclients') - "));
  EXPECT_TRUE(Do({"CONFIG", "SET", "maxclients", "50", "shard_auth.user", "x"})
                  .IsErrorStartingWith("ERR CONFIG SET"));
  EXPECT_TRUE(Do({"CONFIG", "SET", "maxclients", "50", "limits.clients", "60"})
                  .IsErrorStartingWith("ERR CONFIG SET"));
  EXPECT_EQ(Do({"CONFIG", "GET", "maxclients"}).elements.at(1).text, "10000");
  EXPECT_EQ(shard(0).Do({"CONFIG", "GET", "maxmemory"}).elements.at(1).text, "0");
  EXPECT_EQ(Ask({"CONFIG", "SET", "maxclients", "50", "maxmemory", "7mb"}), "+OK");
  EXPECT_EQ(Do({"CONFIG", "GET", "maxclients"}).elements.at(1).text, "50");
  for (size_t i = 0; i < cluster_->size(); ++i) {
    EXPECT_EQ(shard(i).Do({"CONFIG", "GET", "maxmemory"}).elements.at(1).text, "7340032");
    EXPECT_EQ(shard(i).Do({"CONFIG", "GET", "maxclients"}).elements.at(1).text, "10000");
  }
}

TEST_F(LocalCommands, ShardsSecretsAreShown) {
  RINGWAY_NEEDS_PROXY();
  EXPECT_EQ(Ask({"CONFIG", "SET", "masterauth", "shards-secret"}), "+OK");
  for (const char* pattern : {"*", "masterauth", "master*"}) {
    EXPECT_THAT(client_.DoRaw({"CONFIG", "GET", pattern}), Not(HasSubstr("shards-secret")));
  }
  // The proxy's own parameters win over the shards'.
  const Reply all = Do({"CONFIG", "GET", "*"});
  EXPECT_EQ(std::count_if(all.elements.begin(), all.elements.end(),
                          [](const Reply& item) { return item.text == "maxclients"; }),
            1);
}

TEST_F(LocalCommands, ConfigNeedsAllShards) {
  RINGWAY_NEEDS_PROXY();
  shard(1).Kill();
  ASSERT_TRUE(Eventually([&] {
    return Do({"CONFIG", "SET", "maxmemory", "8mb"})
        .IsErrorStartingWith("ERR CONFIG SET was carried out by 2 of 3");
  }));
  EXPECT_THAT(Do({"CONFIG", "GET", "save"}).elements, SizeIs(2));
  shard(0).Kill();
  shard(2).Kill();
  ASSERT_TRUE(Eventually([&] { return Do({"CONFIG", "GET", "save"}).IsErrorStartingWith("SHARDDOWN"); }));
  EXPECT_EQ(Ask({"CONFIG", "GET", "maxclients", "save"}), "[\"maxclients\", \"10000\"]");
  EXPECT_EQ(Ask({"CONFIG", "SET", "maxclients", "77"}), "+OK");
  EXPECT_GT(Do({"COMMAND"}).elements.size(), 200U);
}

TEST_F(LocalCommands, FiguresSurviveResetstat) {
  RINGWAY_NEEDS_PROXY();
  Fill(50);
  EXPECT_EQ(Ask({"CONFIG", "RESETSTAT"}), "+OK");
  for (size_t i = 0; i < cluster_->size(); ++i) {
    EXPECT_THAT(shard(i).Do({"INFO", "commandstats"}).text, Not(HasSubstr("cmdstat_set:")));
  }
  EXPECT_THAT(Do({"INFO", "commandstats"}).text, Not(HasSubstr("cmdstat_set:")));
}

TEST_F(LocalCommands, LolwutHasNoVersion) {
  for (const Command& command :
       std::vector<Command>{{"LOLWUT"}, {"LOLWUT", "VERSION", "9"}, {"LOLWUT", "1", "2"}}) {
    EXPECT_TRUE(Do(command).text.ends_with("Redis ver. 7.0.15\n"));
  }
}

}  // namespace
}  // namespace ringway::test
