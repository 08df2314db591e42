// The command table against COMMAND of a real server: every fact of every row, and every policy that
// departs from the server's tips must be named here with its reason.
#include "protocol/command_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/command_info.h"
#include "tests/support/redis_server.h"

namespace ringway::test {
namespace {

using protocol::AllCommands;
using protocol::CommandRow;
using protocol::FindByFullName;
using protocol::KeyKind;
using protocol::RequestPolicy;
using protocol::ResponsePolicy;

constexpr size_t kTips = 7;
constexpr size_t kKeySpecs = 8;
constexpr size_t kSubcommands = 9;

// Takes the server's remarks ("notes") out of an entry's key specifications, which we do not carry, and
// brings subcommands, which the server gives in the order of its hash table, into that of their names.
void Normalize(Reply* entry) {
  if (entry->elements.size() != 10) return;
  for (Reply& spec : entry->elements[kKeySpecs].elements) {
    if (!spec.elements.empty() && spec.elements[0].text == "notes") {
      spec.elements.erase(spec.elements.begin(), spec.elements.begin() + 2);
    }
  }
  std::vector<Reply>& subcommands = entry->elements[kSubcommands].elements;
  for (Reply& subcommand : subcommands) Normalize(&subcommand);
  std::sort(subcommands.begin(), subcommands.end(),
            [](const Reply& a, const Reply& b) { return a.elements[0].text < b.elements[0].text; });
}

// The whole of a reply with its types (ToText cuts long texts, and maps lose theirs).
std::string Exactly(const Reply& reply) {
  std::string text(1, reply.type);
  text.append(reply.null ? "null" : reply.text);
  if (reply.type == ':') text.append(std::to_string(reply.integer));
  if (reply.elements.empty()) return text;
  text.append("[");
  for (const Reply& element : reply.elements) text.append(Exactly(element)).append(" ");
  return text.append("]");
}

Reply OurEntry(const CommandRow& row, int resp) {
  std::string bytes;
  protocol::ReplyWriter out(bytes, resp);
  protocol::WriteCommandInfo(row, out);
  return ParseReply(bytes);
}

// Every entry of COMMAND by full name, subcommands included.
class CommandTableAgainstServer : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new RedisServer(); }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }

  static std::map<std::string, Reply> Entries(int resp) {
    RespClient client(server_->address());
    if (resp == 3) client.Do({"HELLO", "3"});
    std::map<std::string, Reply> entries;
    for (const Reply& entry : client.Do({"COMMAND"}).elements) AddEntry(entry, &entries);
    return entries;
  }

  static void AddEntry(const Reply& entry, std::map<std::string, Reply>* entries) {
    if (entry.elements.size() != 10) return;
    for (const Reply& subcommand : entry.elements[kSubcommands].elements) AddEntry(subcommand, entries);
    Reply& kept = (*entries)[entry.elements[0].text];
    kept = entry;
    Normalize(&kept);
  }

  static RedisServer* server_;
};
RedisServer* CommandTableAgainstServer::server_ = nullptr;

TEST_F(CommandTableAgainstServer, NoCommandIsMissingAndNoneIsInvented) {
  std::set<std::string> theirs;
  for (const auto& [name, entry] : Entries(2)) theirs.insert(name);
  std::set<std::string> ours;
  for (const CommandRow& row : AllCommands()) ours.emplace(row.name);
  EXPECT_EQ(ours, theirs);
}

TEST_F(CommandTableAgainstServer, EveryFactOfEveryRowIsTheServers) {
  for (const int resp : {2, 3}) {
    size_t compared = 0;
    for (const auto& [name, entry] : Entries(resp)) {
      const CommandRow* row = FindByFullName(name);
      ASSERT_NE(row, nullptr) << name;
      Reply ours = OurEntry(*row, resp);
      Normalize(&ours);
      EXPECT_EQ(Exactly(ours), Exactly(entry)) << name << " in RESP" << resp;
      ++compared;
    }
    EXPECT_EQ(compared, protocol::kCommandCount);
  }
}

// A comparison that cannot fail proves nothing: each fact, changed, must be seen.
TEST_F(CommandTableAgainstServer, TheComparisonSeesEachFactChanged) {
  const CommandRow& right = *FindByFullName("xreadgroup");
  const std::string exact = Exactly(OurEntry(right, 2));
  const auto differs = [&](auto change) {
    CommandRow wrong = right;
    change(&wrong);
    return Exactly(OurEntry(wrong, 2)) != exact;
  };
  EXPECT_FALSE(differs([](CommandRow*) {}));
  EXPECT_TRUE(differs([](CommandRow* row) { row->arity += 1; }));
  EXPECT_TRUE(differs([](CommandRow* row) { row->first_key += 1; }));
  EXPECT_TRUE(differs([](CommandRow* row) { row->last_key += 1; }));
  EXPECT_TRUE(differs([](CommandRow* row) { row->key_step += 1; }));
  EXPECT_TRUE(differs([](CommandRow* row) { row->tips = "nondeterministic_output"; }));
  EXPECT_TRUE(differs([](CommandRow* row) { row->keys = {}; }));
  for (size_t bit = 0; bit < protocol::CommandFlagNames().size(); ++bit) {
    EXPECT_TRUE(differs([&](CommandRow* row) { row->flags ^= 1u << bit; })) << bit;
  }
  for (size_t bit = 0; bit < protocol::AclCategoryNames().size(); ++bit) {
    EXPECT_TRUE(differs([&](CommandRow* row) { row->acl ^= 1u << bit; })) << bit;
  }
  const auto spec_differs = [&](auto change) {
    protocol::KeySpec spec = right.keys[0];
    change(&spec);
    return differs([&](CommandRow* row) { row->keys = std::span(&spec, 1); });
  };
  EXPECT_FALSE(spec_differs([](protocol::KeySpec*) {}));
  EXPECT_TRUE(spec_differs([](protocol::KeySpec* spec) { spec->position += 1; }));
  EXPECT_TRUE(spec_differs([](protocol::KeySpec* spec) { spec->last += 1; }));
  EXPECT_TRUE(spec_differs([](protocol::KeySpec* spec) { spec->step += 1; }));
  EXPECT_TRUE(spec_differs([](protocol::KeySpec* spec) { spec->limit += 1; }));
  EXPECT_TRUE(spec_differs([](protocol::KeySpec* spec) { spec->keyword = "STREAM"; }));
  EXPECT_TRUE(spec_differs([](protocol::KeySpec* spec) { spec->flags ^= protocol::kRw; }));
  EXPECT_TRUE(spec_differs([](protocol::KeySpec* spec) { spec->begin = protocol::KeySpec::Begin::kIndex; }));
  EXPECT_TRUE(spec_differs([](protocol::KeySpec* spec) { spec->find = protocol::KeySpec::Find::kKeynum; }));
}

TEST_F(CommandTableAgainstServer, CommandInfoOfAllNamesIsTheServers) {
  Command command = {"COMMAND", "INFO"};
  for (const CommandRow& row : AllCommands()) command.emplace_back(row.name);
  Reply theirs = server_->Do(command);
  ASSERT_EQ(theirs.elements.size(), protocol::kCommandCount);
  for (const CommandRow& row : AllCommands()) {
    Normalize(&theirs.elements[row.id]);
    Reply ours = OurEntry(row, 2);
    Normalize(&ours);
    EXPECT_EQ(Exactly(ours), Exactly(theirs.elements[row.id])) << row.name;
  }
}

struct Policy {
  RequestPolicy request;
  ResponsePolicy response;
  bool operator==(const Policy&) const = default;
};

// What Redis's tips ask of a proxy. Without a tip: by its keys, else any shard.
Policy TipsPolicy(const Reply& entry, const CommandRow& row) {
  const std::map<std::string, RequestPolicy> kRequests = {{"all_shards", RequestPolicy::kAllShards},
                                                          {"all_nodes", RequestPolicy::kAllShards},
                                                          {"multi_shard", RequestPolicy::kSplit},
                                                          {"special", RequestPolicy::kSpecial}};
  const std::map<std::string, ResponsePolicy> kResponses = {{"one_succeeded", ResponsePolicy::kOneSucceeded},
                                                            {"all_succeeded", ResponsePolicy::kAllSucceeded},
                                                            {"agg_logical_and", ResponsePolicy::kLogicalAnd},
                                                            {"agg_logical_or", ResponsePolicy::kLogicalOr},
                                                            {"agg_min", ResponsePolicy::kMin},
                                                            {"agg_max", ResponsePolicy::kMax},
                                                            {"agg_sum", ResponsePolicy::kSum},
                                                            {"special", ResponsePolicy::kSpecial}};
  Policy policy{row.key_kind == KeyKind::kNone ? RequestPolicy::kAnyShard : RequestPolicy::kOneShard,
                ResponsePolicy::kPass};
  bool response_tip = false;
  for (const std::string& tip : entry.elements[kTips].Texts()) {
    const std::string value = tip.substr(tip.find(':') + 1);
    if (tip.starts_with("request_policy:")) policy.request = kRequests.at(value);
    if (tip.starts_with("response_policy:")) policy.response = kResponses.at(value), response_tip = true;
  }
  // The defaults that Redis's documentation gives where only the request has a tip.
  if (!response_tip && policy.request == RequestPolicy::kSplit) policy.response = ResponsePolicy::kKeyOrder;
  if (!response_tip && policy.request == RequestPolicy::kAllShards)
    policy.response = ResponsePolicy::kConcatenate;
  if (!response_tip && policy.request == RequestPolicy::kSpecial) policy.response = ResponsePolicy::kSpecial;
  return policy;
}

// Deliberate departures. A command that is not served, or that the proxy answers although Redis gives no
// tip for it, is no departure from a tip and needs no line.
const std::map<std::string, std::string>& Departures() {
  static const std::map<std::string, std::string> kDepartures = {
      {"bgrewriteaof", "Redis has no tip: every shard has a file of its own"},
      {"bgsave", "Redis has no tip: every shard has a file of its own"},
      {"save", "Redis has no tip: every shard has a file of its own"},
      {"lastsave", "Redis has no tip: all is saved since the earliest of the shards' times"},
      {"msetnx", "all or nothing cannot be had over several shards: keys must share a tag"},
      {"randomkey", "one reply of one shard, drawn by its number of keys"},
      {"wait", "shard connections are shared, so a handler of its own decides what to wait for"},
      {"discard", "a state of the session"},
      {"exec", "what was queued goes to its shard"},
      {"multi", "a state of the session"},
      {"unwatch", "on the connection that watches"},
      {"watch", "on a connection of the client's own"},
      {"ping", "the proxy lives, whatever the shards do"},
      {"info", "one page, made by the proxy"},
      {"config|set", "the proxy's own parameters"},
      {"slowlog|get", "measured at the proxy"},
      {"slowlog|len", "measured at the proxy"},
      {"slowlog|reset", "measured at the proxy"},
      {"latency|doctor", "measured at the proxy"},
      {"latency|graph", "measured at the proxy"},
      {"latency|histogram", "measured at the proxy"},
      {"latency|history", "measured at the proxy"},
      {"latency|latest", "measured at the proxy"},
      {"latency|reset", "measured at the proxy"},
      {"memory|doctor", "the state of one server: not served"},
      {"memory|malloc-stats", "the state of one server: not served"},
      {"memory|stats", "the state of one server: not served"},
      {"function|stats", "engines are equal on all shards; one shard's answer has the right shape"},
  };
  return kDepartures;
}

bool Departs(const CommandRow& row, const Reply& entry) {
  const Policy tips = TipsPolicy(entry, row);
  if (tips == Policy{row.request, row.response}) return false;
  const bool has_tip = tips.request != RequestPolicy::kAnyShard && tips.request != RequestPolicy::kOneShard;
  const bool stays_here = row.request == RequestPolicy::kLocal || row.request == RequestPolicy::kUnsupported;
  return has_tip || !stays_here;
}

TEST_F(CommandTableAgainstServer, PoliciesAreTheServersTipsOrNamedDepartures) {
  for (const auto& [name, entry] : Entries(2)) {
    const CommandRow& row = *FindByFullName(name);
    EXPECT_EQ(Departs(row, entry), Departures().contains(name)) << name;
  }
}

TEST_F(CommandTableAgainstServer, TheComparisonOfPoliciesSeesOneChanged) {
  const std::map<std::string, Reply> entries = Entries(2);
  for (const char* name : {"get", "mget", "dbsize", "script|exists", "function|list"}) {
    CommandRow row = *FindByFullName(name);
    ASSERT_FALSE(Departs(row, entries.at(name))) << name;
    row.response = ResponsePolicy::kMax;
    EXPECT_TRUE(Departs(row, entries.at(name))) << name;
  }
}

}  // namespace
}  // namespace ringway::test
