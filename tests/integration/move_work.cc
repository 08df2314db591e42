#include "tests/integration/move_work.h"

#include <array>
#include <utility>

namespace ringway::test {

namespace {

// What a row of the table works with.
struct Desk {
  const std::string& prefix;
  int64_t* serial;
  std::mt19937_64* random;
  int keys;

  int Pick(int count) const { return static_cast<int>((*random)() % static_cast<uint64_t>(count)); }
  std::string Key(int index) const { return prefix + std::to_string(index); }
  std::string Any() const { return Key(Pick(keys)); }
  // Says whose it is, so that it is known in any other client's hands.
  std::string Value() const { return prefix + "=" + std::to_string(++*serial) + ";"; }
  std::string Field() const { return "f" + std::to_string(Pick(5)); }
};

MoveStep One(Command command) { return {{std::move(command)}, false, false}; }

// Counters of different units differ so much that a stranger's reply is seen.
std::string CounterStart(const Desk& desk) {
  return std::to_string(static_cast<int64_t>(std::hash<std::string>()(desk.prefix) % 1000000) * 1000000);
}

MoveStep Counter(const Desk& desk) {
  const std::string key = desk.Any();
  switch (desk.Pick(8)) {
    case 0:
      return One({"GET", key});
    case 1:
      return One({"INCRBY", key, std::to_string(desk.Pick(1000))});
    case 2:
      return One({"SETNX", key, CounterStart(desk)});
    default:
      return One({"INCR", key});
  }
}

MoveStep Append(const Desk& desk) {
  const std::string key = desk.Any();
  switch (desk.Pick(30)) {
    case 0:
      return One({"DEL", key});
    case 1:
    case 2:
    case 3:
      return One({"GET", key});
    case 4:
      return One({"STRLEN", key});
    default:
      return One({"APPEND", key, std::to_string(++*desk.serial) + ","});
  }
}

MoveStep String(const Desk& desk) {
  const std::string key = desk.Any();
  switch (desk.Pick(10)) {
    case 0:
      return One({"DEL", key});
    case 1:
      return One({"UNLINK", key});
    case 2:
      return One({"GETDEL", key});
    case 3:
      return One({"GETSET", key, desk.Value()});
    case 4:
      return One({"SETNX", key, desk.Value()});
    case 5:
      return One({"EXISTS", key});
    case 6:
      return One({"SET", key, desk.Value()});
    default:
      return One({"GET", key});
  }
}

MoveStep Expire(const Desk& desk) {
  static constexpr std::array<int, 5> kTtls = {50, 80, 300, 1000, 3000};
  const std::string key = desk.Any();
  const std::string ttl = std::to_string(kTtls[static_cast<size_t>(desk.Pick(kTtls.size()))]);
  switch (desk.Pick(10)) {
    case 0:
    case 1:
      return One({"SET", key, desk.Value(), "PX", ttl});
    case 2:
      return One({"PEXPIRE", key, ttl});
    case 3:
      return One({"DEL", key});
    case 4:
      return One({"APPEND", key, std::to_string(++*desk.serial) + ","});
    case 5:
      return desk.Pick(4) == 0 ? One({"PERSIST", key}) : One({"EXISTS", key});
    case 6:
    case 7:
      return One({"PTTL", key});
    default:
      return One({"GET", key});
  }
}

MoveStep List(const Desk& desk) {
  const std::string key = desk.Any();
  switch (desk.Pick(10)) {
    case 0:
      return One({"LPUSH", key, desk.Value()});
    case 1:
    case 2:
      return One({"LPOP", key});
    case 3:
    case 4:
      return One({"RPOP", key});
    case 5:
      return One({"LLEN", key});
    case 6:
      return One({"LRANGE", key, "0", "-1"});
    case 7:
      return One({"RPUSH", key, desk.Value(), desk.Value()});
    default:
      return One({"RPUSH", key, desk.Value()});
  }
}

MoveStep Hash(const Desk& desk) {
  const std::string key = desk.Any();
  switch (desk.Pick(8)) {
    case 0:
      return One({"HDEL", key, desk.Field()});
    case 1:
      return One({"HGET", key, desk.Field()});
    case 2:
      return One({"HGETALL", key});
    case 3:
    case 4:
      return One({"HINCRBY", key, "n", std::to_string(desk.Pick(100))});
    case 5:
      return desk.Pick(5) == 0 ? One({"DEL", key}) : One({"HGET", key, "n"});
    default:
      return One({"HSET", key, desk.Field(), desk.Value()});
  }
}

MoveStep Set(const Desk& desk) {
  const std::string key = desk.Any();
  switch (desk.Pick(5)) {
    case 0:
      return One({"SREM", key, desk.prefix + desk.Field()});
    case 1:
      return One({"SCARD", key});
    case 2:
      return One({"SMEMBERS", key});
    default:
      return One({"SADD", key, desk.prefix + desk.Field()});
  }
}

MoveStep SortedSet(const Desk& desk) {
  const std::string key = desk.Any();
  switch (desk.Pick(5)) {
    case 0:
      return One({"ZREM", key, desk.Field()});
    case 1:
      return One({"ZCARD", key});
    case 2:
      return One({"ZSCORE", key, desk.Field()});
    default:
      return One({"ZINCRBY", key, std::to_string(1 + desk.Pick(9)), desk.Field()});
  }
}

MoveStep Split(const Desk& desk) {
  static constexpr std::array<const char*, 6> kNames = {"MSET", "MSET", "MGET", "MGET", "DEL", "EXISTS"};
  Command command = {kNames[static_cast<size_t>(desk.Pick(kNames.size()))]};
  const int first = desk.Pick(desk.keys);
  const int count = 2 + desk.Pick(3);
  for (int i = 0; i < count; ++i) {
    command.push_back(desk.Key((first + i) % desk.keys));
    if (command[0] == "MSET") command.push_back(desk.Value());
  }
  return {{std::move(command)}, false, true};
}

// Keys 0 and 1 are strings, 2 to 4 sets; all share a tag.
MoveStep Tag(const Desk& desk) {
  switch (desk.Pick(7)) {
    case 0:
      return One({"MSET", desk.Key(0), desk.Value(), desk.Key(1), desk.Value()});
    case 1:
      return One({"RENAME", desk.Key(desk.Pick(2)), desk.Key(1)});
    case 2:
      return One({"SADD", desk.Key(2 + desk.Pick(2)), desk.prefix + desk.Field()});
    case 3:
      return One({"SREM", desk.Key(2 + desk.Pick(2)), desk.prefix + desk.Field()});
    case 4:
      return One({"SUNIONSTORE", desk.Key(4), desk.Key(2), desk.Key(3)});
    case 5:
      return One({"SMEMBERS", desk.Key(2 + desk.Pick(3))});
    default:
      return One({"MGET", desk.Key(0), desk.Key(1)});
  }
}

// Key 0 is a string, 1 and 2 are counters; all share a tag.
MoveStep Script(const Desk& desk) {
  switch (desk.Pick(6)) {
    case 0:
      return desk.Pick(8) == 0 ? One({"DEL", desk.Key(0)}) : One({"GET", desk.Key(0)});
    case 1:
    case 2:
      return One({"EVAL", kTransferScript, "2", desk.Key(1), desk.Key(2), std::to_string(1 + desk.Pick(50))});
    case 3:
      return One({"MGET", desk.Key(1), desk.Key(2)});
    default:
      return One({"EVAL", kAppendScript, "1", desk.Key(0), std::to_string(++*desk.serial) + ","});
  }
}

MoveStep Transaction(const Desk& desk) {
  MoveStep step;
  step.transaction = true;
  step.commands = {{"INCR", desk.Key(0)}, {"SET", desk.Key(1), desk.Value()}, {"GET", desk.Key(0)}};
  if (desk.Pick(3) == 0) step.commands.push_back({"MGET", desk.Key(0), desk.Key(1)});
  if (desk.Pick(6) == 0) step.commands.insert(step.commands.begin(), {"DEL", desk.Key(0), desk.Key(1)});
  return step;
}

MoveStep Flush(const Desk& desk) {
  if (desk.Pick(60) == 0) return {{{"FLUSHDB"}}, false, true};
  return String(desk);
}

struct Row {
  MoveStep (*make)(const Desk& desk);
  int keys;
  bool tagged;
  int pipeline;
};

// By MoveKind. Where one command touches several shards a lost answer leaves many possibilities, so those are
// sent one at a time.
constexpr std::array<Row, kSharedMoveKinds + 1> kRows = {{
    {Counter, 2, false, 20},
    {Append, 1, false, 20},
    {String, 3, false, 20},
    {Expire, 2, false, 4},
    {List, 2, false, 20},
    {Hash, 1, false, 20},
    {Set, 1, false, 20},
    {SortedSet, 1, false, 20},
    {Split, 6, false, 1},
    {Tag, 5, true, 6},
    {Script, 3, true, 6},
    {Transaction, 2, true, 2},
    {Flush, 12, false, 1},
}};

const Row& RowOf(MoveKind kind) { return kRows[static_cast<size_t>(kind)]; }

std::string KeyPrefix(MoveKind kind, const std::string& prefix) {
  return RowOf(kind).tagged ? "{" + prefix + "}" : prefix + ".";
}

}  // namespace

MoveStep NextMoveStep(MoveKind kind, const std::string& prefix, int64_t* serial, std::mt19937_64* random) {
  const std::string start = KeyPrefix(kind, prefix);
  return RowOf(kind).make({start, serial, random, RowOf(kind).keys});
}

std::vector<std::string> MoveKeys(MoveKind kind, const std::string& prefix) {
  std::vector<std::string> keys;
  for (int i = 0; i < RowOf(kind).keys; ++i) keys.push_back(KeyPrefix(kind, prefix) + std::to_string(i));
  return keys;
}

int MovePipeline(MoveKind kind) { return RowOf(kind).pipeline; }

}  // namespace ringway::test
