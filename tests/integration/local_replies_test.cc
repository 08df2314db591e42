// What the proxy answers itself, beside what a real server answers to the same: byte by byte, in RESP2 and
// RESP3.
#include <set>

#include "tests/integration/proxy_test.h"
#include "tests/support/made_request.h"

namespace ringway::test {
namespace {

// The test's proxy and one plain server, asked the same on a connection each.
class LocalReplies : public ProxyTest {
 protected:
  // Says where the replies to `lines` differ; empty when they are alike. '' in a line is an empty argument.
  std::vector<std::string> Differences(const std::vector<std::string>& lines, const std::string& resp) {
    RespClient ours = Connect();
    RespClient theirs(server_.address());
    if (resp == "3") {
      ours.Do({"HELLO", "3"});
      theirs.Do({"HELLO", "3"});
    }
    std::vector<std::string> differences;
    for (const std::string& line : lines) {
      const std::string here = WithoutId(ours.DoRaw(Words(line)));
      const std::string there = WithoutId(theirs.DoRaw(Words(line)));
      if (here != there) differences.push_back(line + ": " + here + " instead of " + there);
    }
    return differences;
  }

  void ExpectAlike(const std::vector<std::string>& lines) {
    for (const char* resp : {"2", "3"}) EXPECT_THAT(Differences(lines, resp), IsEmpty()) << "RESP" << resp;
  }

  RedisServer server_;

 private:
  // HELLO tells the connection's number, which is each server's own.
  static std::string WithoutId(std::string reply) {
    const std::string before = "$2\r\nid\r\n:";
    const size_t found = reply.find(before);
    if (found == std::string::npos) return reply;
    const size_t begin = found + before.size();
    return reply.replace(begin, reply.find('\r', begin) - begin, "#");
  }
};

TEST_F(LocalReplies, ComparisonIsBlind) {
  EXPECT_THAT(Differences({"PING", "CLIENT SETNAME a", "PING again"}, "2"), IsEmpty());
  // The two have ports of their own; in direct mode too.
  EXPECT_THAT(Differences({"CONFIG GET port"}, "2"), SizeIs(1));
  EXPECT_THAT(Differences({"CONFIG GET port"}, "3"), SizeIs(1));
}

TEST_F(LocalReplies, ConnectionCommandsStray) {
  ExpectAlike({"PING", "PING x", "PING x y", "ECHO a", "ECHO", "TIME x", "SELECT 15", "SELECT 16",
               "SELECT -1", "SELECT a", "SELECT 01", "SELECT", "AUTH", "AUTH a", "AUTH a b", "AUTH a b c",
               "AUTH default x", "HELLO", "HELLO x", "HELLO 4", "HELLO 1", "HELLO 0",
               "HELLO 99999999999999999999", "HELLO 3 FOO", "HELLO 3 AUTH x", "HELLO 3 AUTH u p",
               "HELLO 3 SETNAME", "HELLO 2 SETNAME abc", "CLIENT GETNAME",
               "HELLO 3 AUTH default whatever SETNAME zz", "CLIENT GETNAME", "HELLO 3 SETNAME \x01",
               // An option before the wrong one has taken effect.
               "HELLO 2 SETNAME before AUTH u p", "CLIENT GETNAME", "HELLO 2", "HELLO 3", "CLIENT SETNAME ''",
               "CLIENT GETNAME", "HELLO", "CLIENT SETNAME gone", "SELECT 3", "RESET", "CLIENT GETNAME",
               "RESET x", "HELLO"});
}

TEST_F(LocalReplies, ClientCommandsStray) {
  ExpectAlike({"CLIENT",
               "CLIENT FOO",
               "CLIENT FOO x",
               "CLIENT ID x",
               "CLIENT SETNAME",
               "CLIENT SETNAME \x7f",
               "CLIENT SETNAME name",
               "CLIENT GETNAME",
               "CLIENT GETNAME x",
               "CLIENT INFO x",
               "CLIENT REPLY",
               "CLIENT REPLY foo",
               "CLIENT REPLY ON",
               "client reply on",
               "CLIENT NO-EVICT on",
               "CLIENT NO-EVICT OFF",
               "CLIENT NO-EVICT x",
               "CLIENT NO-EVICT",
               "CLIENT GETREDIR",
               "CLIENT GETREDIR x",
               "CLIENT TRACKINGINFO",
               "CLIENT UNBLOCK",
               "CLIENT UNBLOCK 1",
               "CLIENT UNBLOCK x",
               "CLIENT UNBLOCK 1 FOO",
               "CLIENT UNBLOCK 1 ERROR",
               "CLIENT UNBLOCK 1 timeout",
               "CLIENT UNBLOCK x FOO",
               "CLIENT UNBLOCK 1 ERROR x",
               "CLIENT HELP",
               "CLIENT HELP x",
               "CLIENT LIST x",
               "CLIENT LIST TYPE foo",
               "CLIENT LIST TYPE",
               "CLIENT LIST TYPE master",
               "CLIENT LIST TYPE replica",
               "CLIENT LIST TYPE slave",
               "CLIENT LIST TYPE pubsub",
               "CLIENT LIST ID",
               "CLIENT LIST ID x",
               "CLIENT LIST ID 999999",
               "CLIENT LIST ID 999999 -5",
               "CLIENT LIST TYPE normal x",
               "CLIENT KILL",
               "CLIENT KILL 1.1.1.1:1",
               "CLIENT KILL ID 0",
               "CLIENT KILL ID x",
               "CLIENT KILL ID -1",
               "CLIENT KILL ID 99999",
               "CLIENT KILL ID 99999 FOO",
               "CLIENT KILL ID 99999 FOO BAR",
               "CLIENT KILL TYPE foo",
               "CLIENT KILL TYPE master",
               "CLIENT KILL TYPE pubsub SKIPME no",
               "CLIENT KILL USER nobody",
               "CLIENT KILL USER default ID 99999",
               "CLIENT KILL SKIPME maybe",
               "CLIENT KILL LADDR 1.1.1.1:1",
               "CLIENT KILL ADDR 1.1.1.1:1",
               "CLIENT KILL ADDR",
               "CLIENT PAUSE",
               "CLIENT PAUSE x",
               "CLIENT PAUSE -1",
               "CLIENT PAUSE 1 FOO",
               "CLIENT PAUSE x FOO",
               "CLIENT PAUSE 1 ALL x",
               "CLIENT PAUSE 0",
               "CLIENT PAUSE 0 WRITE",
               "CLIENT UNPAUSE",
               "CLIENT UNPAUSE x",
               "CLIENT PAUSE 30 WRITE",
               "SET a b",
               "CLIENT PAUSE 30 all",
               "GET a"});
}

TEST_F(LocalReplies, CommandCommandsStray) {
  ExpectAlike({"COMMAND COUNT",
               "COMMAND COUNT x",
               "COMMAND FOO",
               "COMMAND INFO get",
               "COMMAND INFO GET nosuch config|get",
               "COMMAND INFO config|foo client|list|x get|x CONFIG|GET '' |",
               "COMMAND GETKEYS",
               "COMMAND GETKEYS get",
               "COMMAND GETKEYS get a",
               "COMMAND GETKEYS get a b",
               "COMMAND GETKEYS nosuch a",
               "COMMAND GETKEYS mset a b c d",
               "COMMAND GETKEYS mset a b c",
               "COMMAND GETKEYS ping x",
               "COMMAND GETKEYS eval x 0",
               "COMMAND GETKEYS eval x 2 a b c",
               "COMMAND GETKEYS eval x 5 a b c",
               "COMMAND GETKEYS eval x y a b c",
               "COMMAND GETKEYS xinfo stream k",
               "COMMAND GETKEYS xinfo foo k",
               "COMMAND GETKEYS xinfo k",
               "COMMAND GETKEYS xread streams a b c d",
               "COMMAND GETKEYS sort a store b",
               "COMMAND GETKEYS zunionstore d 2 a b",
               "COMMAND GETKEYS zunionstore d 3 a b",
               "COMMAND GETKEYS migrate h 1 '' 0 1 keys a b",
               "COMMAND GETKEYS object encoding a",
               "COMMAND GETKEYS client list x",
               "COMMAND GETKEYS spublish a b",
               "COMMAND GETKEYSANDFLAGS get a",
               "COMMAND GETKEYSANDFLAGS set a b get",
               "COMMAND GETKEYSANDFLAGS ping x",
               "COMMAND HELP",
               "COMMAND HELP x",
               "COMMAND LIST x",
               "COMMAND LIST FILTERBY",
               "COMMAND LIST FILTERBY FOO x",
               "COMMAND LIST FILTERBY MODULE x",
               "COMMAND LIST FILTERBY ACLCAT x",
               "COMMAND LIST FILTERBY PATTERN nosuch*",
               "COMMAND LIST FILTERBY PATTERN getd*",
               "COMMAND LIST FILTERBY PATTERN CLIENT|LI*",
               "COMMAND DOCS get",
               "COMMAND DOCS nosuch"});
}

TEST_F(LocalReplies, ConfigCommandsStray) {
  ExpectAlike({"CONFIG",
               "CONFIG FOO",
               "CONFIG GET",
               "CONFIG GET maxclients",
               "CONFIG GET MaxClients",
               "CONFIG GET maxcl*",
               "CONFIG GET maxclients maxcl*",
               "CONFIG GET save",
               "CONFIG GET appendonly",
               "CONFIG GET maxmemory-policy",
               "CONFIG GET nosuch",
               "CONFIG GET nosuch*",
               "CONFIG GET requirepass",
               "CONFIG GET databases",
               "CONFIG GET maxmemory-c*",
               "CONFIG SET",
               "CONFIG SET foo bar",
               "CONFIG SET foo",
               "CONFIG SET maxclients",
               "CONFIG SET maxclients 100 maxclients 200",
               "CONFIG SET databases 3",
               "CONFIG SET DataBases 3",
               "CONFIG SET maxclients 100 foo bar",
               "CONFIG GET maxclients",
               "CONFIG SET timeout 3 timeout",
               "CONFIG SET save x",
               "CONFIG SET maxmemory 100mb",
               "CONFIG GET maxmemory",
               "CONFIG SET maxmemory 0 timeout 500",
               "CONFIG GET maxmemory",
               "CONFIG GET timeout",
               "CONFIG SET slowlog-max-len 5",
               "CONFIG GET slowlog-max-len",
               "CONFIG SET slowlog-max-len 128",
               "CONFIG SET timeout 0",
               "CONFIG REWRITE x",
               "CONFIG RESETSTAT x",
               "CONFIG RESETSTAT",
               "CONFIG HELP"});
}

TEST_F(LocalReplies, ServerCommandsStray) {
  ExpectAlike({"ROLE",
               "ROLE x",
               "ACL",
               "ACL WHOAMI",
               "ACL WHOAMI x",
               "ACL FOO",
               "LOLWUT VERSION x",
               "CLUSTER",
               "CLUSTER INFO",
               "CLUSTER HELP",
               "CLUSTER FOO",
               "CLUSTER SLOTS",
               "CLUSTER SLOTS x",
               "CLUSTER NODES",
               "CLUSTER KEYSLOT a",
               "CLUSTER SHARDS",
               "CLUSTER MYID",
               "CLUSTER COUNTKEYSINSLOT 1",
               "ASKING",
               "READONLY",
               "READWRITE",
               "READONLY x",
               "OBJECT",
               "OBJECT HELP",
               "MEMORY",
               "MEMORY HELP",
               "SCRIPT",
               "SCRIPT HELP",
               "MODULE",
               "MODULE LIST",
               "MODULE HELP"});
}

// The order of commands is free; what is said of each is not. Remarks on key specifications are left out.
TEST_F(LocalReplies, WholeTableStrays) {
  const auto names = [](const Reply& reply) {
    std::set<std::string> all;
    for (const Reply& entry : reply.elements)
      all.insert(entry.IsArray() ? entry.elements.at(0).text : entry.text);
    return all;
  };
  RespClient server(server_.address());
  for (const Command& command : std::vector<Command>{{"COMMAND"},
                                                     {"COMMAND", "INFO"},
                                                     {"COMMAND", "LIST"},
                                                     {"COMMAND", "LIST", "FILTERBY", "ACLCAT", "dangerous"},
                                                     {"COMMAND", "LIST", "FILTERBY", "PATTERN", "*|*"}}) {
    EXPECT_EQ(names(Do(command)), names(server.Do(command))) << command.back();
  }
}

TEST_F(LocalReplies, RepliesComeOrMissWithReplyOffAndSkip) {
  const std::vector<std::string> lines = {"CLIENT REPLY SKIP",
                                          "PING skipped",
                                          "PING a",
                                          "CLIENT REPLY SKIP",
                                          "CLIENT REPLY SKIP",
                                          "PING skipped",
                                          "PING b",
                                          "CLIENT REPLY SKIP",
                                          "GET x",
                                          "PING c",
                                          "CLIENT REPLY SKIP",
                                          "CLIENT LIST",
                                          "PING d",
                                          "CLIENT REPLY OFF",
                                          "GET x",
                                          "PING off",
                                          "CLIENT REPLY SKIP",
                                          "PING off",
                                          "CLIENT REPLY foo",
                                          "CLIENT LIST",
                                          "CLIENT REPLY ON",
                                          "PING e",
                                          "CLIENT REPLY SKIP",
                                          "CLIENT REPLY ON",
                                          "PING f",
                                          "CLIENT REPLY SKIP",
                                          "CLIENT REPLY OFF",
                                          "PING off",
                                          "RESET",
                                          "PING g",
                                          "CLIENT REPLY SKIP",
                                          "MGET a b c",
                                          "PING h",
                                          "CLIENT REPLY OFF",
                                          "QUIT"};
  std::string bytes;
  for (const std::string& line : lines) bytes += EncodeCommand(Words(line));
  std::string expected;
  for (const std::string& address : {server_.address(), cluster_->address()}) {
    RespSocket socket;
    ASSERT_TRUE(socket.Connect(address));
    ASSERT_TRUE(socket.Send(bytes));
    const auto all = socket.ReadUntilClosed();
    ASSERT_TRUE(all.has_value());
    if (expected.empty()) expected = *all;
    EXPECT_EQ(*all, expected);
  }
}

}  // namespace
}  // namespace ringway::test
