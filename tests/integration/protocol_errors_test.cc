// What must never come of bytes that are wrong: a hang, a crash, a closed neighbour, memory taken ahead of
// bytes.
#include "tests/integration/proxy_test.h"

namespace ringway::test {
namespace {

constexpr int64_t kMegabyte = 1 << 20;

class ProtocolErrors : public ProxyTest {
 protected:
  int64_t TargetRss() { return DirectMode() ? shard(0).Rss() : cluster_->proxy().Rss(); }

  // Sends bytes on a connection of their own and reads until the end; "(open)" when it stays open.
  std::string SendUntilClosed(const std::string& bytes) {
    RespClient client = Connect();
    client.socket().Send(bytes);
    return client.socket().ReadUntilClosed(seconds(3)).value_or("(open)");
  }
};

TEST_F(ProtocolErrors, WrongArityHangsOrClosesTheConnection) {
  const std::vector<std::pair<Command, std::string>> cases = {
      {{"MGET"}, "mget"},      {{"MSET"}, "mset"},
      {{"MSET", "a"}, "mset"}, {{"MSET", "a", "1", "b"}, "mset"},
      {{"GET"}, "get"},        {{"GET", "a", "b"}, "get"},
      {{"DEL"}, "del"},        {{"EXISTS"}, "exists"},
      {{"TOUCH"}, "touch"},    {{"UNLINK"}, "unlink"},
      {{"SET", "a"}, "set"},   {{"MSETNX", "a"}, "msetnx"},
      {{"mGeT"}, "mget"},      {{"PING", "a", "b"}, "ping"},
      {{"ECHO"}, "echo"},      {{"SCAN"}, "scan"},
      {{"KEYS"}, "keys"},      {{"DBSIZE", "a"}, "dbsize"}};
  for (const auto& [command, name] : cases) {
    client_.socket().Send(EncodeCommand(command) + "PING\r\n");
    EXPECT_EQ(ToText(client_.Read()), "-ERR wrong number of arguments for '" + name + "' command");
    EXPECT_EQ(ToText(client_.Read()), "+PONG") << name;
  }
}

TEST_F(ProtocolErrors, OddMsetSetsNothing) {
  Ask({"MSET", "a", "1", "b"});
  EXPECT_EQ(Ask({"EXISTS", "a", "b"}), "0");
}

TEST_F(ProtocolErrors, UnknownCommandClosesTheConnection) {
  EXPECT_THAT(Ask({"NOSUCHCOMMAND", "a", "b"}),
              StartsWith("-ERR unknown command 'NOSUCHCOMMAND', with args beginning with: 'a' 'b'"));
  EXPECT_THAT(Ask({"NOSUCHCOMMAND"}), StartsWith("-ERR unknown command 'NOSUCHCOMMAND'"));
  EXPECT_THAT(Ask({std::string(1000, 'x')}),
              AllOf(StartsWith("-ERR unknown command 'xxx"), Not(HasSubstr("\n"))));
  EXPECT_THAT(Ask({"no\r\nsuch", "new\r\nline"}), StartsWith("-ERR unknown command"));
  EXPECT_THAT(Ask({""}), StartsWith("-ERR unknown command ''"));
  EXPECT_THAT(Ask({"CLIENT", "NOSUCH"}), StartsWith("-ERR unknown subcommand 'NOSUCH'. Try CLIENT HELP."));
  EXPECT_EQ(Ask({"PING"}), "+PONG");
}

TEST_F(ProtocolErrors, MalformedRequestGetsAnotherTextThanRedis) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"*abc\r\n", "invalid multibulk length"},
      {"*99999999999\r\n", "invalid multibulk length"},
      {"*3\r\n$3\r\nSET\r\n$1\r\nx\r\nfooz\r\n", "expected '$', got 'f'"},
      {"*1\r\n:1\r\n", "expected '$', got ':'"},
      {"*1\r\n$abc\r\n", "invalid bulk length"},
      {"*1\r\n$-1\r\n", "invalid bulk length"},
      {"*2\r\n$3\r\nGET\r\n$2000000000\r\n", "invalid bulk length"},
      {"*2\r\n$3\r\nGET\r\n$99999999999999999999\r\n", "invalid bulk length"},
      {"*" + std::string(70000, '1'), "too big mbulk count string"},
      {"*1\r\n$" + std::string(70000, '1'), "too big bulk count string"},
      {std::string(70000, 'a'), "too big inline request"},
      {"SET \"a b\r\n", "unbalanced quotes in request"},
      {"SET 'a b\r\n", "unbalanced quotes in request"},
      {"SET \"a\"b 1\r\n", "unbalanced quotes in request"}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(SendUntilClosed(bytes), "-ERR Protocol error: " + text + "\r\n") << bytes.substr(0, 60);
    EXPECT_EQ(Ask({"PING"}), "+PONG") << "a neighbour suffered from " << bytes.substr(0, 60);
  }
}

TEST_F(ProtocolErrors, RepliesBeforeAMalformedRequestAreLost) {
  EXPECT_EQ(SendUntilClosed("SET a 1\r\nGET a\r\nGET nothing\r\n*1\r\n:1\r\nPING\r\n"),
            "+OK\r\n$1\r\n1\r\n$-1\r\n-ERR Protocol error: expected '$', got ':'\r\n");
}

TEST_F(ProtocolErrors, EmptyRequestsAreAnswered) {
  RespClient client = Connect();
  client.socket().Send("\r\n\n*0\r\n*-1\r\n*-10\r\n   \r\nPING\r\n");
  EXPECT_EQ(ToText(client.Read()), "+PONG");
  EXPECT_FALSE(client.socket().ReadableWithin(milliseconds(100)));
}

TEST_F(ProtocolErrors, BraceKeysAreMistakenForHashTags) {
  for (const std::string& key :
       std::vector<std::string>{"{", "}", "{}", "}{", "{a", "a}", "{a}", "{}a", "a{}b{c}", "{{a}}", ""}) {
    EXPECT_EQ(Ask({"SET", key, "of " + key}), "+OK");
    EXPECT_EQ(Ask({"GET", key}), "\"of " + key + "\"");
  }
  EXPECT_EQ(Ask({"MSET", "{a}1", "x", "{b}1", "y", "{", "z"}), "+OK");
  EXPECT_EQ(Ask({"MGET", "{a}1", "{b}1", "{", "nothing"}), "[\"x\", \"y\", \"z\", nil]");
  EXPECT_EQ(Ask({"DEL", "{a}1", "{b}1", "{", "}{", "{}"}), "5");
}

TEST_F(ProtocolErrors, KeysOfAnyBytesAreMangled) {
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  EXPECT_EQ(Ask({"SET", every_byte, every_byte}), "+OK");
  EXPECT_EQ(Do({"GET", every_byte}).text, every_byte);
  EXPECT_EQ(Do({"KEYS", "*"}).Texts(), std::vector<std::string>{every_byte});
}

TEST_F(ProtocolErrors, InlineCommandsAreRefusedOrReadWrongly) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"PING\r\n", "+PONG"},
      {"PING\n", "+PONG"},
      {"  SET   a   1  \r\n", "+OK"},
      {"\tGET\ta\r\n", "\"1\""},
      {"SET \"b c\" 'd \\' e'\r\n", "+OK"},
      {"GET \"b c\"\n", "\"d ' e\""},
      {"SET h \"\\x41\\x00\\n\\t\\\"\"\r\n", "+OK"},
      {"STRLEN h\r\n", "5"},
      {"SET x '\\x41'\r\n", "+OK"},
      {"GET x\r\n", "\"\\x41\""},
      {"SET empty \"\"\r\n", "+OK"},
      {"GET empty\r\n", "\"\""},
      {"ECHO a\"b\"\r\n", "\"ab\""},
      {"MGET a \"b c\" nothing\r\n", "[\"1\", \"d ' e\", nil]"}};
  for (const auto& [line, answer] : cases) EXPECT_EQ(ToText(client_.Raw(line)), answer) << line;
}

TEST_F(ProtocolErrors, InlineAndMultibulkCannotAlternate) {
  client_.socket().Send("SET a 1\r\n" + EncodeCommand({"GET", "a"}) + "PING\n" + EncodeCommand({"GET", "b"}));
  EXPECT_EQ(ToText(client_.Read()), "+OK");
  EXPECT_EQ(ToText(client_.Read()), "\"1\"");
  EXPECT_EQ(ToText(client_.Read()), "+PONG");
  EXPECT_EQ(ToText(client_.Read()), "nil");
}

TEST_F(ProtocolErrors, HttpRequestReachesAShard) {
  EXPECT_EQ(SendUntilClosed("POST / HTTP/1.1\r\nHost: localhost\r\n\r\nSET attacked 1\r\n"), "");
  EXPECT_EQ(SendUntilClosed("Host: localhost\r\nSET attacked 1\r\n"), "");
  EXPECT_EQ(SendUntilClosed("hOsT: localhost\r\nSET attacked 1\r\n"), "");
  EXPECT_EQ(SendUntilClosed(EncodeCommand({"post", "x"}) + "SET attacked 1\r\n"), "");
  EXPECT_EQ(Ask({"EXISTS", "attacked"}), "0");
}

TEST_F(ProtocolErrors, AnnouncedLengthsAreAllocated) {
  const int64_t before = TargetRss();
  std::vector<RespClient> clients;
  for (const std::string& bytes : std::vector<std::string>{"*2000000000\r\n", "*1000000000\r\n$3\r\nGET\r\n",
                                                           "*2\r\n$3\r\nGET\r\n$500000000\r\n",
                                                           "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$536870912\r\n"}) {
    for (int i = 0; i < 10; ++i) {
      clients.push_back(Connect());
      clients.back().socket().Send(bytes);
    }
  }
  EXPECT_EQ(Ask({"PING"}), "+PONG");
  EXPECT_LT(TargetRss() - before, 30 * kMegabyte);
}

TEST_F(ProtocolErrors, EndlessInlineLineIsKept) {
  const int64_t before = TargetRss();
  RespClient client = Connect();
  const std::string piece(32768, 'x');
  int sent = 0;
  while (sent < 1000 && client.socket().Send(piece, milliseconds(500))) ++sent;
  EXPECT_LT(sent, 1000) << "the connection should have been closed";
  EXPECT_EQ(Ask({"PING"}), "+PONG");
  EXPECT_LT(TargetRss() - before, 30 * kMegabyte);
}

TEST_F(ProtocolErrors, DeepNestingOverflowsTheStack) {
  std::string nested;
  while (nested.size() < 47 * 1024) nested += "*1\r\n";
  EXPECT_EQ(SendUntilClosed(nested), "-ERR Protocol error: expected '$', got '*'\r\n");
  EXPECT_EQ(Ask({"PING"}), "+PONG");
}

TEST_F(ProtocolErrors, ReplyShapesOfScriptsHang) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"return {1, {2, {3, {4, {}}}}, 'x'}", "[1, [2, [3, [4, []]]], \"x\"]"},
      {"return {redis.status_reply('FINE'), {redis.status_reply('X')}}", "[+FINE, [+X]]"},
      {"return {redis.error_reply('MY error'), 1}", "[-MY error, 1]"},
      {"return {{}, {{}}}", "[[], [[]]]"},
      {"return false", "nil"},
      {"return {1, false, 2}", "[1, nil, 2]"}};
  for (const auto& [script, answer] : cases) {
    EXPECT_EQ(Ask({"EVAL", script, "0"}), answer) << script;
    EXPECT_EQ(Ask({"EVAL", script, "1", "key"}), answer) << script;
  }
  EXPECT_EQ(Ask({"EVAL", "local t = 'x' for i = 1, 100 do t = {t} end return t", "1", "key"}),
            std::string(100, '[') + "\"x\"" + std::string(100, ']'));
  EXPECT_EQ(Ask({"PING"}), "+PONG");
}

}  // namespace
}  // namespace ringway::test
