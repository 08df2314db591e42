#include "tests/integration/hot_work.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>

namespace ringway::test {

namespace {

const char kNil[] = "nil ";

std::string Word(const std::string& text) { return text + " "; }
std::string Number(size_t number) { return std::to_string(number) + " "; }

// The value of the key at version `version`, or the part of it that changes.
std::string Text(const HotNames& names, int64_t version) {
  return names.key + "@" + std::to_string(version) + ";";
}

using Commands = std::vector<Command>;

// For each kind the seven writes between two removals; a place names its version's text "$", the text of the
// version before "<", its number "#", the key "K", the other key "O", and a time to live "~".
const std::vector<Commands>& Writes(HotKind kind) {
  static const std::map<HotKind, std::vector<Commands>> writes = {
      {HotKind::kString,
       {{{"SET", "K", "$"}},
        {{"MSET", "C0", "C0", "K", "$", "C1", "C1"}},
        {{"APPEND", "K", "$"}},
        {{"EVAL", kAppendScript, "1", "K", "$"}},
        {{"GETSET", "K", "$"}},
        {{"INCRBY", "O", "1"}, {"SET", "K", "#"}},
        {{"INCRBY", "K", "7"}}}},
      {HotKind::kReplaced,
       {{{"SET", "O", "$"}, {"RENAME", "O", "K"}},
        {{"GETDEL", "K"}},
        {{"SETNX", "K", "$"}},
        {{"RENAME", "K", "O"}},
        {{"SET", "O", "$"}, {"RENAME", "O", "K"}},
        {{"SET", "O", "$"}, {"RENAME", "O", "K"}},
        {{"EVAL", kAppendScript, "1", "K", "$"}}}},
      {HotKind::kHash,
       {{{"HSET", "K", "a", "$"}},
        {{"HSET", "K", "b", "$"}},
        {{"HINCRBY", "K", "n", "1"}},
        {{"HSET", "K", "a", "$"}},
        {{"HDEL", "K", "b"}},
        {{"HSET", "K", "b", "$"}},
        {{"HINCRBY", "K", "n", "#"}}}},
      {HotKind::kList,
       {{{"RPUSH", "K", "$"}},
        {{"RPUSH", "K", "$"}},
        {{"LPUSH", "K", "$"}},
        {{"LPOP", "K"}},
        {{"RPUSH", "K", "$"}},
        {{"RPOP", "K"}},
        {{"LPUSH", "K", "$"}}}},
      {HotKind::kSet,
       {{{"SADD", "K", "$"}},
        {{"SADD", "K", "$"}},
        {{"SREM", "K", "<"}},
        {{"SADD", "O", "$"}, {"SUNIONSTORE", "K", "O"}},
        {{"SADD", "K", "$"}},
        {{"SREM", "K", "<"}},
        {{"SADD", "K", "$"}}}},
      {HotKind::kSortedSet,
       {{{"ZINCRBY", "K", "1", "a"}},
        {{"ZINCRBY", "K", "#", "$"}},
        {{"ZREM", "K", "<"}},
        {{"ZINCRBY", "K", "#", "a"}},
        {{"ZINCRBY", "K", "#", "$"}},
        {{"ZINCRBY", "K", "1", "a"}},
        {{"ZINCRBY", "K", "#", "$"}}}},
      {HotKind::kStream,
       {{{"XADD", "K", "#-0", "f", "$"}},
        {{"XADD", "K", "#-0", "f", "$"}},
        {{"XADD", "K", "#-0", "f", "$"}},
        {{"XTRIM", "K", "MAXLEN", "1"}},
        {{"XADD", "K", "#-0", "f", "$"}},
        {{"XADD", "K", "#-0", "f", "$"}},
        {{"XTRIM", "K", "MAXLEN", "2"}}}},
      {HotKind::kExpiring,
       {{{"SET", "K", "$", "PX", "~"}},
        {},
        {{"SET", "K", "$"}},
        {{"PEXPIRE", "K", "~"}},
        {},
        {{"SET", "K", "$", "PX", "100000"}},
        {{"PERSIST", "K"}}}},
      {HotKind::kFlushed,
       {{{"SET", "K", "$"}},
        {{"APPEND", "K", "$"}},
        {{"FLUSHDB"}},
        {{"SET", "K", "$"}},
        {{"SET", "K", "$"}},
        {{"FLUSHDB"}},
        {{"SETNX", "K", "$"}}}},
  };
  return writes.at(kind);
}

const Commands& Reads(HotKind kind) {
  static const Commands strings = {
      {"GET", "K"},    {"GET", "K"},          {"STRLEN", "K"},           {"GETRANGE", "K", "0", "-1"},
      {"EXISTS", "K"}, {"EXISTS", "C0", "K"}, {"MGET", "C0", "K", "C1"}, {"MGET", "K"}};
  static const Commands bare = {{"GET", "K"}, {"MGET", "K"}, {"STRLEN", "K"}, {"EXISTS", "K"}};
  static const std::map<HotKind, Commands> reads = {
      {HotKind::kString, strings},
      {HotKind::kReplaced, strings},
      {HotKind::kExpiring, strings},
      {HotKind::kFlushed, bare},
      {HotKind::kHash,
       {{"HGET", "K", "a"},
        {"HGET", "K", "b"},
        {"HGET", "K", "none"},
        {"HMGET", "K", "a", "none", "b"},
        {"HGETALL", "K"},
        {"HLEN", "K"},
        {"HEXISTS", "K", "b"}}},
      {HotKind::kList,
       {{"LRANGE", "K", "0", "-1"},
        {"LINDEX", "K", "-1"},
        {"LINDEX", "K", "2"},
        {"LRANGE", "K", "2", "9"},
        {"LLEN", "K"}}},
      {HotKind::kSet, {{"SMEMBERS", "K"}, {"SCARD", "K"}, {"SISMEMBER", "K", "none"}}},
      {HotKind::kSortedSet,
       {{"ZSCORE", "K", "a"}, {"ZSCORE", "K", "none"}, {"ZCARD", "K"}, {"ZRANGE", "K", "0", "-1"}}},
      {HotKind::kStream,
       {{"XREVRANGE", "K", "+", "-", "COUNT", "1"},
        {"XRANGE", "K", "-", "+"},
        {"XREAD", "STREAMS", "K", "0"},
        {"XLEN", "K"}}},
  };
  return reads.at(kind);
}

int64_t TtlMs(int64_t version) { return 30 + version * 37 % 270; }

Command Named(const Command& row, const HotNames& names, int64_t version) {
  Command command;
  for (const std::string& word : row) {
    std::string named = word;
    if (word == "K") named = names.key;
    if (word == "O") named = names.other;
    if (word == "C0") named = names.cold[0];
    if (word == "C1") named = names.cold[1];
    if (word == "$") named = Text(names, version);
    if (word == "<") named = Text(names, version - 1);
    if (word == "~") named = std::to_string(TtlMs(version));
    if (word[0] == '#') named = std::to_string(version) + word.substr(1);
    command.push_back(std::move(named));
  }
  return command;
}

const ModelValue* Find(const ModelStore& store, const std::string& key) {
  const auto found = store.find(key);
  return found == store.end() ? nullptr : &found->second;
}

std::string Value(const ModelStore& store, const std::string& key) {
  const ModelValue* value = Find(store, key);
  return value == nullptr ? kNil : Word(value->text);
}

std::string Field(const ModelValue& value, const std::string& field) {
  const auto found = value.pairs.find(field);
  return found == value.pairs.end() ? kNil : Word(found->second);
}

std::string Elements(const std::vector<std::string>& list, size_t from) {
  std::string all;
  for (size_t i = from; i < list.size(); ++i) all += Word(list[i]);
  return all;
}

// Members by score, then by name.
std::string Members(const ModelValue& value) {
  std::vector<std::pair<int64_t, std::string>> members;
  for (const auto& [member, score] : value.pairs) members.emplace_back(std::atoll(score.c_str()), member);
  std::sort(members.begin(), members.end());
  std::string all;
  for (const auto& [score, member] : members) all += Word(member);
  return all;
}

// What is read of one key; `value` is empty when there is none.
std::string ReadOne(const ModelValue& value, const Command& args) {
  const std::string& name = args[0];
  const size_t list_size = value.list.size();
  if (name == "STRLEN") return Number(value.text.size());
  if (name == "GETRANGE") return Word(value.text);
  if (name == "HGET" || name == "ZSCORE") return Field(value, args[2]);
  if (name == "HLEN" || name == "SCARD" || name == "ZCARD") return Number(value.pairs.size());
  if (name == "HEXISTS" || name == "SISMEMBER") return Number(value.pairs.count(args[2]));
  if (name == "LLEN" || name == "XLEN") return Number(list_size);
  if (name == "LRANGE") return Elements(value.list, static_cast<size_t>(std::atoll(args[2].c_str())));
  if (name == "LINDEX") {
    const size_t at = args[2] == "-1" ? list_size - 1 : static_cast<size_t>(std::atoll(args[2].c_str()));
    return at < list_size ? Word(value.list[at]) : kNil;
  }
  if (name == "ZRANGE") return Members(value);
  if (name == "XRANGE") return Elements(value.list, 0);
  if (name == "XREVRANGE") return Elements(value.list, list_size == 0 ? 0 : list_size - 1);
  std::string all;
  for (const auto& [field, text] : value.pairs) {
    if (name == "HMGET") break;
    all += name == "SMEMBERS" ? Word(field) : Word(field) + Word(text);
  }
  for (size_t i = 2; name == "HMGET" && i < args.size(); ++i) all += Field(value, args[i]);
  return all;
}

void Flatten(const Reply& reply, std::string* out) {
  if (reply.null) {
    *out += kNil;
  } else if (reply.IsArray()) {
    for (const Reply& element : reply.elements) Flatten(element, out);
  } else if (reply.IsInteger()) {
    *out += Word(std::to_string(reply.integer));
  } else {
    *out += Word((reply.IsError() ? "-" : "") + reply.text);
  }
}

std::string ApplyStreamWrite(ModelStore* store, const Command& args) {
  std::vector<std::string>& list = (*store)[args[1]].list;
  if (args[0] == "XADD") {
    list.push_back(args[2] + " " + args[3] + " " + args[4]);
    return Word(args[2]);
  }
  const auto most = static_cast<size_t>(std::atoll(args[3].c_str()));
  const size_t removed = list.size() > most ? list.size() - most : 0;
  list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(removed));
  return Number(removed);
}

}  // namespace

HotNames::HotNames(const std::string& tag)
    : key("hot:{" + tag + "}"),
      other("other:{" + tag + "}"),
      cold({"cold:" + tag + ":a", "cold:" + tag + ":b"}) {}

std::vector<std::string> HotNames::All() const { return {key, other, cold[0], cold[1]}; }

HotWrite MakeHotWrite(HotKind kind, const HotNames& names, int64_t version) {
  HotWrite write;
  write.version = version;
  const int64_t place = version % kHotRound;
  if (place == 0) {
    write.command = {version / kHotRound % 2 == 0 ? "DEL" : "UNLINK", names.key};
    write.before = {{"DEL", names.other}};
    if (kind == HotKind::kFlushed) return write;
    // They may have been lost with a server.
    for (const std::string& key : names.cold) write.before.push_back({"SET", key, key});
    return write;
  }
  const Commands& rows = Writes(kind)[static_cast<size_t>(place - 1)];
  for (const Command& row : rows) write.before.push_back(Named(row, names, version));
  write.command = std::move(write.before.back());
  write.before.pop_back();
  if (rows.back().back() == "~") write.ttl_ms = TtlMs(version);
  return write;
}

std::vector<Command> HotReads(HotKind kind, const HotNames& names) {
  std::vector<Command> reads;
  for (const Command& row : Reads(kind)) reads.push_back(Named(row, names, 0));
  return reads;
}

ModelStore EmptyHotStore(HotKind kind, const HotNames& names) {
  ModelStore store;
  if (kind == HotKind::kFlushed) return store;
  for (const std::string& key : names.cold) store[key].text = key;
  return store;
}

std::string ApplyHotWrite(ModelStore* store, const HotWrite& write) {
  static constexpr Moment kNoMatter = {0, 0};
  for (const Command& command : write.before) ApplyCommand(store, command, kNoMatter, 0);
  if (write.command[0][0] == 'X') return ApplyStreamWrite(store, write.command);
  std::string answer = ApplyCommand(store, write.command, kNoMatter, 0).text;
  return answer == "nil" ? kNil : Word(answer.substr(1));
}

std::string ExpectedHotRead(const ModelStore& store, const Command& command) {
  if (command[0] == "GET") return Value(store, command[1]);
  if (command[0] == "MGET") {
    std::string all;
    for (size_t i = 1; i < command.size(); ++i) all += Value(store, command[i]);
    return all;
  }
  if (command[0] == "EXISTS") {
    size_t count = 0;
    for (size_t i = 1; i < command.size(); ++i) count += Find(store, command[i]) != nullptr ? 1 : 0;
    return Number(count);
  }
  if (command[0] == "XREAD") {
    const ModelValue* value = Find(store, command[2]);
    return value == nullptr ? kNil : Word(command[2]) + Elements(value->list, 0);
  }
  static const ModelValue nothing;
  const ModelValue* value = Find(store, command[1]);
  return ReadOne(value == nullptr ? nothing : *value, command);
}

std::string HotAnswer(const Command& command, const Reply& reply) {
  const size_t step = command[0] == "HGETALL" ? 2 : command[0] == "SMEMBERS" ? 1 : 0;
  std::string all;
  if (step == 0 || !reply.IsArray() || reply.elements.size() % step != 0) {
    Flatten(reply, &all);
    return all;
  }
  std::vector<std::string> groups;
  for (size_t i = 0; i < reply.elements.size(); i += step) {
    groups.emplace_back();
    for (size_t j = i; j < i + step; ++j) Flatten(reply.elements[j], &groups.back());
  }
  std::sort(groups.begin(), groups.end());
  for (const std::string& group : groups) all += group;
  return all;
}

}  // namespace ringway::test
