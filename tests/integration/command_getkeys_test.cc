// FindKeys against COMMAND GETKEYS of a real server, over written and random requests; the same for rows
// learnt from that server's COMMAND as if the table knew none of them.
#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/command_info.h"
#include "protocol/command_keys.h"
#include "protocol/learned_commands.h"
#include "tests/support/made_request.h"
#include "tests/support/redis_server.h"

namespace ringway::test {
namespace {

using protocol::AllCommands;
using protocol::CommandRow;
using protocol::KeyKind;
using protocol::KeyStatus;

struct Keys {
  KeyStatus status;
  std::vector<std::string> names;
};

const CommandRow& RowOf(const Command& command) {
  const CommandRow* row = protocol::FindCommand(command[0]);
  if (HasSubcommands(*row)) row = protocol::FindSubcommand(*row, command[1]);
  return *row;
}

Keys OurKeys(const CommandRow& row, const Command& command) {
  const MadeRequest request(command);
  protocol::KeyList list;
  Keys keys{FindKeys(row, request.view(), &list), {}};
  for (const uint32_t index : list) keys.names.emplace_back(request.view()[index]);
  return keys;
}

// Whether our answer says what the server's does.
bool Agrees(const Keys& ours, const Reply& theirs) {
  if (theirs.IsArray() && !theirs.elements.empty()) return ours.names == theirs.Texts();
  if (theirs.IsArray())
    return ours.status != KeyStatus::kOk;  // a script without keys, or with a broken count
  if (theirs.text.find("no key arguments") != std::string::npos) return ours.status == KeyStatus::kNoKeys;
  return theirs.IsErrorStartingWith("ERR Invalid arguments") && ours.status == KeyStatus::kInvalid;
}

Command GetKeys(const Command& command) {
  Command request = {"COMMAND", "GETKEYS"};
  request.insert(request.end(), command.begin(), command.end());
  return request;
}

std::string Joined(const Command& command) {
  std::string text;
  for (const std::string& word : command) text.append(word.empty() ? "''" : word).append(" ");
  return text;
}

// Command and subcommand of a row, as a client sends them.
Command NameWords(const CommandRow& row) {
  const size_t bar = row.name.find('|');
  Command words = {std::string(row.name.substr(0, bar))};
  if (bar != std::string_view::npos) words.emplace_back(row.name.substr(bar + 1));
  return words;
}

const std::vector<std::string>& Written() {
  static const std::vector<std::string> kWritten = {
      "GET k",
      "MGET a b c",
      "MSET a 1 b 2",
      "MSETNX a 1 b",
      "SET k v GET EX 5",
      "GETEX k PERSIST",
      "BITFIELD k GET u8 0",
      "BITOP NOT d a",
      "BITOP AND d a b c",
      "LCS a b LEN",
      "SORT k",
      "SORT k STORE d",
      "SORT k BY w_* GET # GET o_* LIMIT 0 5 STORE d",
      "SORT k STORE a STORE b",
      "SORT k BY store STORE d",
      "SORT k GET STORE STORE",
      "SORT k LIMIT STORE STORE STORE d",
      "SORT k STORE",
      "SORT_RO k BY w_* GET o_*",
      "SORT_RO k STORE d",
      "GEORADIUS k 1 2 3 m",
      "GEORADIUS k 1 2 3 m STORE d",
      "GEORADIUS k 1 2 3 m STOREDIST d",
      "GEORADIUS k 1 2 3 m STORE d STOREDIST e",
      "GEORADIUS k 1 2 3 m STOREDIST e STORE d",
      "GEORADIUS k 1 2 3 m COUNT 5 ASC STORE d",
      "GEORADIUS k 1 2 3 m STORE",
      "GEORADIUS k 1 2 3 m STORE store",
      "GEORADIUSBYMEMBER k store 3 m",
      "GEORADIUSBYMEMBER k m 3 m STORE d",
      "GEORADIUSBYMEMBER k m 3 m STOREDIST",
      "GEORADIUS_RO k 1 2 3 m STORE d",
      "GEOSEARCHSTORE d k FROMMEMBER a BYRADIUS 1 m",
      "ZUNIONSTORE d 2 a b",
      "ZUNIONSTORE d 2 a b WEIGHTS 1 2",
      "ZUNIONSTORE d 3 a b",
      "ZUNIONSTORE d 0 a",
      "ZUNIONSTORE d x a",
      "ZUNIONSTORE d 1x a",
      "ZUNIONSTORE d +1 a",
      "ZUNIONSTORE d 01 a",
      "ZUNIONSTORE d -1 a",
      "ZINTERSTORE d 1 a",
      "ZDIFFSTORE d 2 a b",
      "ZUNION 2 a b WITHSCORES",
      "ZINTER 1 a",
      "ZDIFF 2 a b",
      "ZINTERCARD 2 a b LIMIT 1",
      "SINTERCARD 2 a b",
      "SINTERCARD 3 a b",
      "SINTERCARD '' a",
      "ZRANGESTORE d s 0 -1",
      "LMPOP 2 a b LEFT",
      "ZMPOP 1 a MIN",
      "BLMPOP 0 2 a b LEFT",
      "BZMPOP 0 1 a MAX",
      "BLMPOP 0 9 a b LEFT",
      "BLPOP a b 0",
      "BRPOP a 0",
      "BZPOPMIN a b c 1",
      "BRPOPLPUSH a b 0",
      "BLMOVE a b LEFT RIGHT 0",
      "EVAL s 2 a b c",
      "EVAL s 0",
      "EVAL s 0 a",
      "EVAL s 3 a b",
      "EVAL s x a",
      "EVAL s -1 a",
      "EVAL s 1x a",
      "EVALSHA s 1 a",
      "EVAL_RO s 1 a",
      "EVALSHA_RO s 1 a b",
      "FCALL f 1 a b",
      "FCALL_RO f 0",
      "FCALL f 99999999999999999999 a",
      "XREAD STREAMS a 0",
      "XREAD COUNT 2 STREAMS a b 0 0",
      "XREAD BLOCK 0 COUNT 1 STREAMS a b c 0 0 0",
      "XREAD STREAMS a b 0",

      "XREAD COUNT STREAMS a 0",
      "XREAD STREAMS STREAMS 0",
      "XREADGROUP GROUP g c STREAMS a >",
      "XREADGROUP GROUP g c COUNT 1 BLOCK 5 NOACK STREAMS a b > >",
      "XREADGROUP GROUP streams c STREAMS a >",
      "XREADGROUP GROUP g streams STREAMS a >",
      "XREADGROUP GROUP g c d e f a >",
      "XGROUP CREATE k g $",
      "XGROUP SETID k g 0",
      "XGROUP DESTROY k g",
      "XGROUP CREATECONSUMER k g c",
      "XGROUP DELCONSUMER k g c",
      "XINFO STREAM k FULL",
      "XINFO GROUPS k",
      "XINFO CONSUMERS k g",
      "XAUTOCLAIM k g c 0 0",
      "XCLAIM k g c 0 1-1",
      "XPENDING k g",
      "XADD k * a b",
      "OBJECT ENCODING k",
      "OBJECT FREQ k",
      "OBJECT IDLETIME k",
      "OBJECT REFCOUNT k",
      "OBJECT HELP",
      "MEMORY USAGE k SAMPLES 5",
      "MEMORY DOCTOR",
      "MIGRATE h 1 k 0 5",
      "MIGRATE h 1 k 0 5 COPY REPLACE",
      "MIGRATE h 1 '' 0 5 KEYS a",
      "MIGRATE h 1 '' 0 5 COPY AUTH p KEYS a b",
      "MIGRATE h 1 '' 0 5 AUTH2 u p KEYS a b",
      "MIGRATE h 1 '' 0 5 AUTH keys KEYS a",
      "MIGRATE h 1 '' 0 5 AUTH KEYS",
      "MIGRATE h 1 k 0 5 KEYS a",
      "MIGRATE h 1 '' 0 5",
      "MIGRATE h 1 '' 0 5 KEYS",
      "MIGRATE keys 1 k 0 5",
      "MIGRATE h keys '' 0 5 REPLACE",
      "MIGRATE h 1 '' keys 5 KEYS a",
      "MIGRATE h 1 '' 0 5 AUTH AUTH2 KEYS a b KEYS c",
      "COPY a b REPLACE",
      "RENAME a b",
      "RENAMENX a b",
      "SMOVE a b m",
      "RPOPLPUSH a b",
      "LMOVE a b LEFT LEFT",
      "PFCOUNT a b",
      "PFMERGE d a b",

      "PFDEBUG GETREG k",
      "RESTORE k 0 x",
      "RESTORE-ASKING k 0 x",
      "WATCH a b",
      "TOUCH a b",
      "DEL a b",
      "UNLINK a",
      "EXISTS a a",
      "SDIFF a b",
      "SINTERSTORE d a b",
      "SUNION a",
      "ECHO x",
      "SPUBLISH c m",
      "SSUBSCRIBE c",
      "CLIENT LIST",
      "SELECT 0",
      "CONFIG GET x",
  };
  return kWritten;
}

class CommandKeysAgainstServer : public ::testing::Test {
 protected:
  // Compares for every command; `expected_row` gives the row to find keys by.
  template <typename RowFor>
  void Compare(const std::vector<Command>& commands, RowFor row_for) {
    std::vector<Command> requests;
    for (const Command& command : commands) requests.push_back(GetKeys(command));
    const std::vector<Reply> replies = client_.Pipeline(requests);
    ASSERT_EQ(replies.size(), commands.size());
    for (size_t i = 0; i < commands.size(); ++i) {
      const CommandRow& row = row_for(commands[i]);
      if (row.key_kind == KeyKind::kAskServer) continue;
      EXPECT_TRUE(Agrees(OurKeys(row, commands[i]), replies[i]))
          << Joined(commands[i]) << "\nours:   " << ::testing::PrintToString(OurKeys(row, commands[i]).names)
          << "\ntheirs: " << ToText(replies[i]);
      ++compared_;
      if (replies[i].IsArray() && !replies[i].elements.empty()) with_keys_.insert(std::string(row.name));
    }
  }

  // A request of as many arguments as the command takes at least and up to seven more, made of words that
  // mean something to some command. No count is so large that the server would make room for it.
  Command RandomCommand(const CommandRow& row) {
    static const std::vector<std::string> kWords = {"a",
                                                    "b",
                                                    "{t}c",
                                                    "",
                                                    "0",
                                                    "1",
                                                    "2",
                                                    "3",
                                                    "4",
                                                    "5",
                                                    "-1",
                                                    "1x",
                                                    "+2",
                                                    " 3",
                                                    "02",
                                                    "4294967297",
                                                    "99999999999999999999",
                                                    "STORE",
                                                    "storedist",
                                                    "STREAMS",
                                                    "streams",
                                                    "KEYS",
                                                    "BY",
                                                    "get",
                                                    "LIMIT",
                                                    "COUNT",
                                                    "BLOCK",
                                                    "GROUP",
                                                    "NOACK",
                                                    "AUTH",
                                                    "AUTH2",
                                                    "COPY",
                                                    "REPLACE",
                                                    "#",
                                                    "*"};
    Command command = NameWords(row);
    const size_t least = static_cast<size_t>(std::abs(row.arity));
    const size_t size = row.arity > 0 ? least : least + random_() % 8;
    while (command.size() < size) command.push_back(kWords[random_() % kWords.size()]);
    return command;
  }

  RedisServer server_;
  RespClient client_{server_.address()};
  std::mt19937_64 random_ = TestRandom();
  size_t compared_ = 0;
  std::set<std::string> with_keys_;
};

TEST_F(CommandKeysAgainstServer, WrittenRequests) {
  std::vector<Command> commands;
  for (const std::string& text : Written()) commands.push_back(Words(text));
  Compare(commands, [](const Command& command) -> const CommandRow& { return RowOf(command); });
  EXPECT_EQ(compared_, Written().size());
}

// Where we depart from COMMAND GETKEYS for what the server will really do; see command_keys.cc.
bool MayDepart(const CommandRow& row, const Command& command) {
  const auto count = [&](std::string_view lower, size_t end = SIZE_MAX) {
    return std::count_if(command.begin(),
                         command.begin() + static_cast<std::ptrdiff_t>(std::min(end, command.size())),
                         [&](const std::string& word) {
                           return std::equal(word.begin(), word.end(), lower.begin(), lower.end(),
                                             [](char a, char b) { return (a | 0x20) == b; });
                         });
  };
  if (row.key_kind == KeyKind::kStore) return count("store") + count("storedist") > 1;
  // XREADGROUP cannot begin with STREAMS: the command is wrong, whatever it might mean.
  if (row.key_kind == KeyKind::kStreams)
    return count("streams") > 1 || (row.arity == -7 && count("streams", 4) > 0);
  return row.name == "pfmerge" && command.size() == 2;
}

TEST_F(CommandKeysAgainstServer, RandomRequestsOfEveryKeyedCommand) {
  const int64_t rounds = EnvironmentInteger("RINGWAY_KEYS_ROUNDS", 200);
  std::set<std::string> keyed;
  for (const CommandRow& row : AllCommands()) {
    if (row.key_kind == KeyKind::kNone) continue;
    keyed.emplace(row.name);
    std::vector<Command> commands;
    // Movable keys have far more shapes than one fixed position.
    const int64_t repeat = row.flags & protocol::kMovableKeys ? rounds * 20 : rounds / 10;
    for (int64_t i = 0; i < repeat; ++i) {
      Command command = RandomCommand(row);
      if (!MayDepart(row, command)) commands.push_back(std::move(command));
    }
    Compare(commands, [&](const Command&) -> const CommandRow& { return row; });
    if (HasFailure()) break;
  }
  EXPECT_EQ(with_keys_, keyed) << "a command was never seen with keys, so nothing was compared for it";
  RecordProperty("compared", static_cast<int>(compared_));
}

// The departures themselves: what the server would say, and why that would be the wrong shard.
TEST_F(CommandKeysAgainstServer, DeparturesFollowWhatTheCommandDoes) {
  client_.Do({"GEOADD", "k", "13", "38", "m"});
  client_.Do(Words("GEORADIUS k 13 38 10 m STORE a STORE b"));
  EXPECT_EQ(client_.Do({"EXISTS", "a"}).integer, 0);
  EXPECT_EQ(client_.Do({"EXISTS", "b"}).integer, 1);
  const Command georadius = Words("GEORADIUS k 13 38 10 m STORE a STORE b");
  EXPECT_EQ(client_.Do(GetKeys(georadius)).Texts(), Words("k a"));
  EXPECT_EQ(OurKeys(RowOf(georadius), georadius).names, Words("k a b"));

  client_.Do(Words("XGROUP CREATE x g $ MKSTREAM"));
  client_.Do(Words("XADD x 1-1 f v"));
  const Command xreadgroup = Words("XREADGROUP NOACK GROUP g streams STREAMS x >");
  EXPECT_EQ(client_.Do(GetKeys(xreadgroup)).Texts(), Words("STREAMS"));
  EXPECT_EQ(OurKeys(RowOf(xreadgroup), xreadgroup).names, Words("x"));
  EXPECT_EQ(client_.Do(xreadgroup).elements.at(0).elements.at(0).text, "x");

  EXPECT_TRUE(client_.Do(GetKeys(Words("PFMERGE p"))).IsError());
  EXPECT_TRUE(client_.Do(Words("PFMERGE p")).IsOk());
  EXPECT_EQ(client_.Do({"EXISTS", "p"}).integer, 1);
  EXPECT_EQ(OurKeys(RowOf({"PFMERGE"}), Words("PFMERGE p")).names, Words("p"));
}

TEST_F(CommandKeysAgainstServer, TheComparisonSeesAWrongKeyAMissingOneAndOneTooMany) {
  const Reply theirs = client_.Do(Words("COMMAND GETKEYS MGET a b"));
  EXPECT_TRUE(Agrees({KeyStatus::kOk, {"a", "b"}}, theirs));
  EXPECT_FALSE(Agrees({KeyStatus::kOk, {"a", "c"}}, theirs));
  EXPECT_FALSE(Agrees({KeyStatus::kOk, {"b", "a"}}, theirs));
  EXPECT_FALSE(Agrees({KeyStatus::kOk, {"a"}}, theirs));
  EXPECT_FALSE(Agrees({KeyStatus::kOk, {"a", "b", "c"}}, theirs));
  EXPECT_FALSE(Agrees({KeyStatus::kNoKeys, {}}, theirs));
  const Reply none = client_.Do(Words("COMMAND GETKEYS ECHO x"));
  EXPECT_TRUE(Agrees({KeyStatus::kNoKeys, {}}, none));
  EXPECT_FALSE(Agrees({KeyStatus::kInvalid, {}}, none));
  const Reply invalid = client_.Do(Words("COMMAND GETKEYS ZUNION 0 a"));
  EXPECT_TRUE(Agrees({KeyStatus::kInvalid, {}}, invalid));
  EXPECT_FALSE(Agrees({KeyStatus::kOk, {"a"}}, invalid));
}

// The server's COMMAND with "x." before every name, so that the table knows none of them.
std::string Renamed(const Reply& reply, int depth = 0) {
  std::string bytes(1, reply.type);
  if (reply.type == ':') return bytes.append(std::to_string(reply.integer)).append("\r\n");
  if (reply.type == '+') return bytes.append(reply.text).append("\r\n");
  if (reply.type == '$')
    return bytes.append(std::to_string(reply.text.size())).append("\r\n").append(reply.text).append("\r\n");
  const size_t count = reply.type == '%' ? reply.elements.size() / 2 : reply.elements.size();
  bytes.append(std::to_string(count)).append("\r\n");
  const bool is_entry = reply.elements.size() == 10 && (depth == 1 || depth == 3);
  for (size_t i = 0; i < reply.elements.size(); ++i) {
    Reply element = reply.elements[i];
    if (is_entry && i == 0) element.text.insert(0, "x.");
    bytes.append(Renamed(element, depth + 1));
  }
  return bytes;
}

TEST_F(CommandKeysAgainstServer, LearntRowsAreAsGoodAsTheTable) {
  for (const char* resp : {"2", "3"}) {
    client_.Do({"HELLO", resp});
    const std::string reply = Renamed(client_.Do({"COMMAND"}));
    client_.Do({"HELLO", "2"});
    const auto learned = protocol::LearnedCommands::FromReply(reply);
    ASSERT_NE(learned, nullptr);
    EXPECT_EQ(learned->size(), protocol::kCommandCount);
    std::map<std::string, const CommandRow*> rows;
    for (const CommandRow& row : learned->rows()) rows[std::string(row.name.substr(2))] = &row;

    size_t must_ask = 0;
    for (const CommandRow& row : AllCommands()) {
      const CommandRow& learnt = *rows.at(std::string(row.name));
      std::string ours;
      std::string theirs;
      protocol::ReplyWriter our_writer(ours, 2);
      protocol::ReplyWriter their_writer(theirs, 2);
      WriteCommandInfo(row, {}, our_writer);
      CommandRow renamed = learnt;
      renamed.name = row.name;
      WriteCommandInfo(renamed, {}, their_writer);
      EXPECT_EQ(ours, theirs) << row.name;
      must_ask += learnt.key_kind == KeyKind::kAskServer;
      EXPECT_EQ(learnt.key_kind == KeyKind::kNone, row.key_kind == KeyKind::kNone) << row.name;
    }
    EXPECT_EQ(must_ask, 3u) << "SORT, SORT_RO and MIGRATE";

    std::vector<Command> commands;
    for (const CommandRow& row : AllCommands()) {
      // What specifications alone cannot tell falls to functions of the server's own.
      if (row.flags & protocol::kMovableKeys || row.key_kind == KeyKind::kNone) continue;
      for (int i = 0; i < 5; ++i) {
        Command command = RandomCommand(row);
        if (!MayDepart(row, command)) commands.push_back(std::move(command));
      }
    }
    for (const char* text :
         {"EVAL s 2 a b c", "ZUNIONSTORE d 2 a b WEIGHTS 1 2", "XREAD COUNT 1 STREAMS a b 0 0", "EVAL s 0",
          "GEORADIUS k 1 2 3 m STORE d", "XREADGROUP GROUP g c STREAMS a >", "LMPOP 2 a b LEFT"}) {
      commands.push_back(Words(text));
    }
    Compare(commands, [&](const Command& command) -> const CommandRow& {
      return *rows.at(std::string(RowOf(command).name));
    });
  }
}

}  // namespace
}  // namespace ringway::test
