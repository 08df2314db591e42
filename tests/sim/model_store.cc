#include "tests/sim/model_store.h"

#include <array>
#include <string_view>

#include "tests/sim/core_world.h"

namespace ringway::proxy {
namespace {

constexpr const char* kNull = "$-1\r\n";
constexpr const char* kOk = "+OK\r\n";

std::string Integer(int64_t value) { return ":" + std::to_string(value) + "\r\n"; }

}  // namespace

std::string ModelStore::Run(uint32_t db, const Args& args, int64_t now_usec) {
  const Call call{db, args, now_usec};
  const std::string& name = args[0];
  if (name == "get") return Get(call);
  if (name == "set") return Set(call);
  if (name == "incr") return Incr(call);
  if (name == "append") return Append(call);
  if (name == "del") return Count(call, true);
  if (name == "exists") return Count(call, false);
  if (name == "mget") return Mget(call);
  if (name == "mset") return Mset(call);
  if (name == "pexpire") return Pexpire(call);
  if (name == "pttl") return Pttl(call);
  if (name == "rename") return Rename(call);
  if (name == "copy") return Copy(call);
  if (name == "move") return Move(call);
  if (name == "eval") return Eval(call);
  return "-ERR the model does not know '" + name + "'\r\n";
}

bool ModelStore::IsWrite(const Args& args) {
  static constexpr std::array<std::string_view, 4> kReads = {"get", "exists", "mget", "pttl"};
  for (const std::string_view read : kReads) {
    if (args[0] == read) return false;
  }
  return true;
}

std::optional<ModelStore::Entry> ModelStore::Find(const Key& key, int64_t now_usec) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  if (found->second.expires_usec == 0 || found->second.expires_usec > now_usec) return found->second;
  entries_.erase(found);
  return std::nullopt;
}

void ModelStore::DropExpired(int64_t now_usec) {
  std::erase_if(entries_, [now_usec](const auto& item) {
    return item.second.expires_usec != 0 && item.second.expires_usec <= now_usec;
  });
}

std::string ModelStore::Get(const Call& call, size_t index) {
  const auto entry = Find(call.key(index), call.now_usec);
  return entry ? Bulk(entry->value) : kNull;
}

// SET key value [px milliseconds]
std::string ModelStore::Set(const Call& call) {
  Entry entry{call.args[2]};
  if (call.args.size() > 4) entry.expires_usec = call.now_usec + std::stoll(call.args[4]) * 1000;
  Put(call.key(), entry);
  return kOk;
}

int64_t ModelStore::AddOne(const Key& key, int64_t now_usec) {
  Entry entry = Find(key, now_usec).value_or(Entry{"0"});
  const int64_t value = std::stoll(entry.value) + 1;
  entry.value = std::to_string(value);
  Put(key, entry);
  return value;
}

std::string ModelStore::Incr(const Call& call) { return Integer(AddOne(call.key(), call.now_usec)); }

std::string ModelStore::Append(const Call& call) {
  Entry entry = Find(call.key(), call.now_usec).value_or(Entry{});
  entry.value += call.args[2];
  Put(call.key(), entry);
  return Integer(static_cast<int64_t>(entry.value.size()));
}

std::string ModelStore::Count(const Call& call, bool erase) {
  int64_t count = 0;
  for (size_t i = 1; i < call.args.size(); ++i) {
    if (!Find(call.key(i), call.now_usec)) continue;
    ++count;
    if (erase) Erase(call.key(i));
  }
  return Integer(count);
}

std::string ModelStore::Mget(const Call& call) {
  std::string reply = "*" + std::to_string(call.args.size() - 1) + "\r\n";
  for (size_t i = 1; i < call.args.size(); ++i) reply += Get(call, i);
  return reply;
}

std::string ModelStore::Mset(const Call& call) {
  for (size_t i = 1; i + 1 < call.args.size(); i += 2) Put(call.key(i), Entry{call.args[i + 1]});
  return kOk;
}

std::string ModelStore::Pexpire(const Call& call) {
  auto entry = Find(call.key(), call.now_usec);
  if (!entry) return Integer(0);
  entry->expires_usec = call.now_usec + std::stoll(call.args[2]) * 1000;
  Put(call.key(), *entry);
  return Integer(1);
}

std::string ModelStore::Pttl(const Call& call) {
  const auto entry = Find(call.key(), call.now_usec);
  if (!entry) return Integer(-2);
  return Integer(entry->expires_usec == 0 ? -1 : (entry->expires_usec - call.now_usec) / 1000);
}

std::string ModelStore::Rename(const Call& call) {
  const auto entry = Find(call.key(), call.now_usec);
  if (!entry) return "-ERR no such key\r\n";
  Erase(call.key());
  Put(call.key(2), *entry);
  return kOk;
}

// COPY from to db n replace
std::string ModelStore::Copy(const Call& call) {
  const auto entry = Find(call.key(), call.now_usec);
  if (!entry) return Integer(0);
  Put({static_cast<uint32_t>(std::stoul(call.args[4])), call.args[2]}, *entry);
  return Integer(1);
}

std::string ModelStore::Move(const Call& call) {
  const Key to{static_cast<uint32_t>(std::stoul(call.args[2])), call.args[1]};
  const auto entry = Find(call.key(), call.now_usec);
  if (!entry || Find(to, call.now_usec)) return Integer(0);
  Erase(call.key());
  Put(to, *entry);
  return Integer(1);
}

// EVAL script numkeys key ...
std::string ModelStore::Eval(const Call& call) {
  int64_t sum = 0;
  for (size_t i = 3; i < call.args.size(); ++i) sum += AddOne(call.key(i), call.now_usec);
  return Integer(sum);
}

}  // namespace ringway::proxy
