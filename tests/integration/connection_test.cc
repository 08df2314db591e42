// What client libraries send when they connect, and what belongs to one connection.
#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

using Connection = ProxyTest;

TEST_F(Connection, HelloFormsAreRefused) {
  const Reply hello = Do({"HELLO", "3"});
  ASSERT_EQ(hello.type, '%') << hello;
  ASSERT_NE(hello.Find("server"), nullptr);
  EXPECT_EQ(hello.Find("server")->text, "redis");
  EXPECT_EQ(hello.Find("proto")->integer, 3);
  EXPECT_EQ(hello.Find("mode")->text, "standalone");
  EXPECT_EQ(hello.Find("role")->text, "master");
  EXPECT_EQ(hello.Find("id")->integer, Do({"CLIENT", "ID"}).integer);
  EXPECT_TRUE(hello.Find("version")->IsString());
  EXPECT_EQ(hello.Find("modules")->type, '*');

  EXPECT_EQ(Do({"HELLO"}).Find("proto")->integer, 3) << "HELLO alone keeps the version";
  const Reply back = Do({"HELLO", "2"});
  EXPECT_EQ(back.type, '*');
  EXPECT_EQ(back.Find("proto")->integer, 2);
  EXPECT_EQ(Do({"HELLO", "3", "SETNAME", "me"}).type, '%');
  EXPECT_EQ(Ask({"CLIENT", "GETNAME"}), "\"me\"");
}

TEST_F(Connection, HelloNonsenseChangesTheProtocol) {
  EXPECT_EQ(Ask({"HELLO", "4"}), "-NOPROTO unsupported protocol version");
  EXPECT_EQ(Ask({"HELLO", "1"}), "-NOPROTO unsupported protocol version");
  EXPECT_EQ(Ask({"HELLO", "x"}), "-ERR Protocol version is not an integer or out of range");
  EXPECT_EQ(Ask({"HELLO", "3", "NONSENSE"}), "-ERR Syntax error in HELLO option 'NONSENSE'");
  EXPECT_EQ(Ask({"HELLO", "3", "SETNAME"}), "-ERR Syntax error in HELLO option 'SETNAME'");
  EXPECT_EQ(Ask({"HELLO", "3", "SETNAME", "a b"}),
            "-ERR Client names cannot contain spaces, newlines or special characters.");
  EXPECT_EQ(client_.DoRaw({"GET", "nothing"}), "$-1\r\n");
}

TEST_F(Connection, ProtocolOfOneConnectionChangesAnother) {
  RespClient other = Connect();
  Ask({"HELLO", "3"});
  Ask({"HSET", "h", "f", "v"});
  EXPECT_EQ(ToText(other.Do({"HGETALL", "h"})), "[\"f\", \"v\"]");
  EXPECT_EQ(Ask({"HGETALL", "h"}), "{\"f\": \"v\"}");
  std::vector<std::string> texts;
  for (const Reply& reply : client_.Pipeline(
           {{"HGETALL", "h"}, {"HELLO", "2"}, {"HGETALL", "h"}, {"HELLO", "3"}, {"HGETALL", "h"}})) {
    texts.push_back(ToText(reply));
  }
  EXPECT_EQ(texts[0], "{\"f\": \"v\"}");
  EXPECT_EQ(texts[2], "[\"f\", \"v\"]");
  EXPECT_EQ(texts[4], "{\"f\": \"v\"}");
}

TEST_F(Connection, PingEchoQuitDiffer) {
  EXPECT_EQ(Ask({"PING"}), "+PONG");
  EXPECT_EQ(Ask({"ping", "text"}), "\"text\"");
  EXPECT_EQ(Ask({"ECHO", "te\r\nxt"}), "\"te\r\nxt\"");
  EXPECT_EQ(Ask({"QUIT"}), "+OK");
  EXPECT_EQ(client_.socket().ReadUntilClosed(), "");
}

TEST_F(Connection, SelectOutOfRangeChangesTheDatabase) {
  EXPECT_EQ(Ask({"SELECT", "16"}), "-ERR DB index is out of range");
  EXPECT_EQ(Ask({"SELECT", "-1"}), "-ERR DB index is out of range");
  EXPECT_EQ(Ask({"SELECT", "x"}), "-ERR value is not an integer or out of range");
  EXPECT_EQ(Ask({"SELECT", "99999999999999999999"}), "-ERR value is not an integer or out of range");
  EXPECT_EQ(Ask({"SELECT"}), "-ERR wrong number of arguments for 'select' command");
  EXPECT_EQ(Ask({"SET", "k", "zero"}), "+OK");
  EXPECT_EQ(Ask({"SELECT", "15"}), "+OK");
  EXPECT_EQ(Ask({"GET", "k"}), "nil");
}

TEST_F(Connection, ResetKeepsState) {
  Ask({"HELLO", "3"});
  Ask({"SELECT", "4"});
  Ask({"CLIENT", "SETNAME", "me"});
  Ask({"SET", "k", "four"});
  EXPECT_EQ(Ask({"RESET"}), "+RESET");
  EXPECT_EQ(Ask({"CLIENT", "GETNAME"}), "nil");
  EXPECT_EQ(client_.DoRaw({"GET", "k"}), "$-1\r\n") << "database 0 and RESP2 again";
}

TEST_F(Connection, ClientNameIsCheckedOrLost) {
  EXPECT_EQ(Ask({"CLIENT", "GETNAME"}), "nil");
  EXPECT_EQ(Ask({"CLIENT", "SETNAME", "my-name"}), "+OK");
  EXPECT_EQ(Ask({"CLIENT", "GETNAME"}), "\"my-name\"");
  EXPECT_EQ(Ask({"CLIENT", "SETNAME", "my name"}),
            "-ERR Client names cannot contain spaces, newlines or special characters.");
  EXPECT_EQ(Ask({"CLIENT", "SETNAME", ""}), "+OK");
  EXPECT_EQ(Ask({"CLIENT", "GETNAME"}), "nil");
}

// redis-py 5, node-redis and others send these when they connect; servers before 7.2 refuse, and they live
// with it.
TEST_F(Connection, SetinfoOfClientLibrariesIsRefused) {
  RINGWAY_NEEDS_PROXY();
  EXPECT_EQ(Ask({"CLIENT", "SETINFO", "LIB-NAME", "redis-py"}), "+OK");
  EXPECT_EQ(Ask({"CLIENT", "SETINFO", "lib-ver", "5.0.1"}), "+OK");
  EXPECT_EQ(Ask({"CLIENT", "SETINFO", "LIB-NAME", "redis py"}).front(), '-');
  EXPECT_EQ(Ask({"CLIENT", "SETINFO", "NONSENSE", "x"}).front(), '-');
}

TEST_F(Connection, ClientIdsRepeat) {
  const int64_t first = Do({"CLIENT", "ID"}).integer;
  EXPECT_GT(first, 0);
  EXPECT_EQ(Do({"CLIENT", "ID"}).integer, first);
  int64_t last = first;
  for (int i = 0; i < 20; ++i) {
    RespClient other = Connect();
    const int64_t id = other.Do({"CLIENT", "ID"}).integer;
    EXPECT_NE(id, first);
    EXPECT_NE(id, last);
    last = id;
  }
}

TEST_F(Connection, ClientInfoAndListHideClients) {
  Ask({"CLIENT", "SETNAME", "first"});
  Ask({"SELECT", "3"});
  RespClient other = Connect();
  other.Do({"CLIENT", "SETNAME", "second"});
  const std::string info = Do({"CLIENT", "INFO"}).text;
  EXPECT_THAT(info, StartsWith("id=" + std::to_string(Do({"CLIENT", "ID"}).integer) + " addr=127.0.0.1:"));
  EXPECT_THAT(info, HasSubstr(" name=first "));
  EXPECT_THAT(info, HasSubstr(" db=3 "));
  EXPECT_THAT(info, HasSubstr(" addr=" + client_.socket().LocalAddress() + " "));
  EXPECT_THAT(info, HasSubstr(" laddr=" + cluster_->address() + " "));
  const std::string list = Do({"CLIENT", "LIST"}).text;
  EXPECT_THAT(list, AllOf(HasSubstr(" name=first "), HasSubstr(" name=second ")));
  EXPECT_THAT(Do({"CLIENT", "LIST", "TYPE", "normal"}).text, HasSubstr(" name=second "));
  EXPECT_THAT(Do({"CLIENT", "LIST", "TYPE", "pubsub"}).text, Not(HasSubstr("name=")));
  EXPECT_THAT(Ask({"CLIENT", "LIST", "TYPE", "nonsense"}), StartsWith("-ERR Unknown client type 'nonsense'"));
  const std::string other_id = std::to_string(other.Do({"CLIENT", "ID"}).integer);
  EXPECT_THAT(Do({"CLIENT", "LIST", "ID", other_id}).text,
              AllOf(HasSubstr("second"), Not(HasSubstr("first"))));
  other = RespClient();
  EXPECT_TRUE(Eventually([&] { return Do({"CLIENT", "LIST"}).text.find("second") == std::string::npos; }));
}

TEST_F(Connection, ClientKillMissesOrHitsOthers) {
  RespClient victim = Connect();
  RespClient bystander = Connect();
  EXPECT_EQ(ToText(victim.Do({"PING"})), "+PONG");
  EXPECT_EQ(Ask({"CLIENT", "KILL", victim.socket().LocalAddress()}), "+OK");
  EXPECT_EQ(victim.socket().ReadUntilClosed(), "");
  EXPECT_EQ(Ask({"CLIENT", "KILL", "127.0.0.1:1"}), "-ERR No such client");

  victim = Connect();
  const std::string id = std::to_string(victim.Do({"CLIENT", "ID"}).integer);
  EXPECT_EQ(Ask({"CLIENT", "KILL", "ID", id}), "1");
  EXPECT_EQ(victim.socket().ReadUntilClosed(), "");
  EXPECT_EQ(Ask({"CLIENT", "KILL", "ID", id}), "0");
  EXPECT_EQ(Ask({"CLIENT", "KILL", "ID", "x"}), "-ERR client-id should be greater than 0");

  victim = Connect();
  victim.Do({"PING"});
  EXPECT_EQ(Ask({"CLIENT", "KILL", "ADDR", victim.socket().LocalAddress(), "SKIPME", "yes"}), "1");
  EXPECT_EQ(victim.socket().ReadUntilClosed(), "");
  EXPECT_EQ(ToText(bystander.Do({"PING"})), "+PONG");

  EXPECT_EQ(Ask({"CLIENT", "KILL", "TYPE", "normal"}), "1") << "the bystander, not oneself";
  EXPECT_EQ(bystander.socket().ReadUntilClosed(), "");
  EXPECT_EQ(Ask({"PING"}), "+PONG");
  EXPECT_EQ(Ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no"}), "1");
  EXPECT_EQ(client_.socket().ReadUntilClosed(), "");
}

TEST_F(Connection, ClientReplySendsTooMuchOrTooLittle) {
  client_.Send({"CLIENT", "REPLY", "OFF"});
  client_.Send({"SET", "a", "1"});
  client_.Send({"NOSUCHCOMMAND"});
  client_.Send({"MGET", "a", "b", "c"});
  EXPECT_EQ(Ask({"CLIENT", "REPLY", "ON"}), "+OK");
  EXPECT_EQ(Ask({"GET", "a"}), "\"1\"");
  client_.Send({"CLIENT", "REPLY", "SKIP"});
  client_.Send({"SET", "a", "2"});
  EXPECT_EQ(Ask({"GET", "a"}), "\"2\"");
  EXPECT_EQ(Ask({"CLIENT", "REPLY", "NONSENSE"}), "-ERR syntax error");
}

TEST_F(Connection, ClientPauseStopsTooMuchOrForever) {
  RespClient other = Connect();
  Ask({"SET", "k", "old"});
  EXPECT_EQ(Ask({"CLIENT", "PAUSE", "60000", "WRITE"}), "+OK");
  EXPECT_EQ(ToText(other.Do({"GET", "k"})), "\"old\"");
  other.Send({"SET", "k", "new"});
  EXPECT_FALSE(other.socket().ReadableWithin(milliseconds(150)));
  EXPECT_EQ(Ask({"CLIENT", "UNPAUSE"}), "+OK");
  EXPECT_EQ(ToText(other.Read()), "+OK");

  // A pause of everything stops CLIENT UNPAUSE as well in Redis 7.0, so this one ends by itself.
  EXPECT_EQ(Ask({"CLIENT", "PAUSE", "500", "ALL"}), "+OK");
  other.Send({"GET", "k"});
  EXPECT_FALSE(other.socket().ReadableWithin(milliseconds(150)));
  EXPECT_EQ(ToText(other.Read()), "\"new\"");
  EXPECT_THAT(Ask({"CLIENT", "PAUSE", "x"}), StartsWith("-ERR timeout is not an integer"));
  EXPECT_THAT(Ask({"CLIENT", "PAUSE", "1", "NONSENSE"}),
              StartsWith("-ERR CLIENT PAUSE mode must be WRITE or ALL"));
}

TEST_F(Connection, OtherClientSubcommandsClose) {
  EXPECT_EQ(Ask({"CLIENT", "NO-EVICT", "on"}), "+OK");
  EXPECT_EQ(Ask({"CLIENT", "NO-EVICT", "off"}), "+OK");
  EXPECT_EQ(Ask({"CLIENT", "NO-EVICT", "x"}), "-ERR syntax error");
  EXPECT_TRUE(Do({"CLIENT", "HELP"}).IsArray());
  EXPECT_EQ(Ask({"CLIENT"}), "-ERR wrong number of arguments for 'client' command");
  EXPECT_EQ(Ask({"CLIENT", "GETNAME", "x"}), "-ERR wrong number of arguments for 'client|getname' command");
  EXPECT_EQ(Ask({"PING"}), "+PONG");
}

TEST_F(Connection, ManyConnectionsFail) {
  std::vector<RespClient> clients;
  for (int i = 0; i < 300; ++i) clients.push_back(Connect());
  for (size_t i = 0; i < clients.size(); ++i)
    clients[i].Send({"SET", "own:" + std::to_string(i), std::to_string(i)});
  for (RespClient& client : clients) ASSERT_EQ(ToText(client.Read()), "+OK");
  for (size_t i = 0; i < clients.size(); ++i) clients[i].Send({"GET", "own:" + std::to_string(i)});
  for (size_t i = 0; i < clients.size(); ++i) ASSERT_EQ(clients[i].Read().text, std::to_string(i));
}

class Password : public CustomProxyTest {
 protected:
  void SetUp() override {
    ClusterOptions options;
    if (DirectMode()) options.redis_arguments = {"--requirepass", "secret"};
    options.config = "requirepass: secret\n";
    Start(options);
  }
};

TEST_F(Password, CommandsRunBeforeAuth) {
  const std::string noauth = "-NOAUTH Authentication required.";
  for (const Command& command : std::vector<Command>{{"GET", "a"},
                                                     {"MGET", "a", "b"},
                                                     {"PING"},
                                                     {"INFO"},
                                                     {"KEYS", "*"},
                                                     {"CONFIG", "GET", "*"},
                                                     {"CLIENT", "LIST"},
                                                     {"FLUSHALL"},
                                                     {"COMMAND"},
                                                     {"SELECT", "1"},
                                                     {"SCRIPT", "FLUSH"}}) {
    EXPECT_EQ(Ask(command), noauth) << command[0];
  }
  if (!DirectMode()) {
    EXPECT_EQ(Ask({"RING", "LIST"}), noauth);
  }
  EXPECT_THAT(Ask({"HELLO", "3"}),
              StartsWith("-NOAUTH HELLO must be called with the client already authenticated"));
  EXPECT_EQ(Ask({"AUTH", "wrong"}), "-WRONGPASS invalid username-password pair or user is disabled.");
  EXPECT_EQ(Ask({"AUTH", "default", "wrong"}),
            "-WRONGPASS invalid username-password pair or user is disabled.");
  EXPECT_EQ(Ask({"AUTH", "nobody", "secret"}),
            "-WRONGPASS invalid username-password pair or user is disabled.");
  EXPECT_EQ(Ask({"AUTH", "secretx"}).front(), '-');
  EXPECT_EQ(Ask({"GET", "a"}), noauth);
  EXPECT_EQ(Ask({"AUTH", "secret"}), "+OK");
  EXPECT_EQ(Ask({"GET", "a"}), "nil");
  EXPECT_EQ(Ask({"AUTH", "wrong"}).front(), '-') << "a failed AUTH";
  EXPECT_EQ(Ask({"GET", "a"}), "nil") << "leaves one authenticated";
}

TEST_F(Password, AuthFormsFail) {
  EXPECT_EQ(Ask({"AUTH", "default", "secret"}), "+OK");
  EXPECT_EQ(Ask({"RESET"}), "+RESET");
  EXPECT_EQ(Ask({"GET", "a"}), "-NOAUTH Authentication required.") << "RESET ends the authentication";
  EXPECT_EQ(Ask({"AUTH"}), "-ERR wrong number of arguments for 'auth' command");
  EXPECT_EQ(Ask({"AUTH", "a", "b", "c"}), "-ERR syntax error");
  RespClient other = Connect();
  EXPECT_EQ(other.Do({"HELLO", "3", "AUTH", "default", "secret", "SETNAME", "n"}).type, '%');
  EXPECT_EQ(ToText(other.Do({"CLIENT", "GETNAME"})), "\"n\"");
  RespClient third = Connect();
  EXPECT_THAT(ToText(third.Do({"HELLO", "3", "AUTH", "default", "wrong"})), StartsWith("-WRONGPASS"));
  EXPECT_EQ(ToText(third.Do({"QUIT"})), "+OK");
}

TEST_F(Password, UnauthenticatedClientSendsLargeRequests) {
  for (const auto& [bytes, text] : std::vector<std::pair<std::string, std::string>>{
           {"*100\r\n", "unauthenticated multibulk length"},
           {"*1\r\n$1000000\r\n", "unauthenticated bulk length"}}) {
    RespClient client = Connect();
    client.socket().Send(bytes);
    EXPECT_EQ(client.socket().ReadUntilClosed(), "-ERR Protocol error: " + text + "\r\n");
  }
}

TEST_F(Connection, AuthWithoutAPasswordSetSucceeds) {
  EXPECT_THAT(Ask({"AUTH", "x"}),
              StartsWith("-ERR AUTH <password> called without any password configured for the default "
                         "user. Are you sure your configuration is correct?"));
  EXPECT_EQ(Ask({"PING"}), "+PONG");
}

}  // namespace
}  // namespace ringway::test
