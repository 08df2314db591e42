#include "tests/integration/move_store.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

namespace ringway::test {

const char kAppendScript[] =
    "local v = redis.call('GET', KEYS[1]) or '' v = v .. ARGV[1] redis.call('SET', KEYS[1], v) return v";
const char kTransferScript[] =
    "local a = redis.call('INCRBY', KEYS[1], -ARGV[1]) local b = redis.call('INCRBY', KEYS[2], ARGV[1]) "
    "return {a, b}";

namespace {

constexpr int64_t kUsecPerMs = 1000;
// Redis's clock has milliseconds, and may be the one of the iteration before.
constexpr int64_t kClockSlackUsec = 5 * kUsecPerMs;

std::string Integer(int64_t value) { return ":" + std::to_string(value); }
std::string Bulk(const std::string& text) { return "$" + text; }
const char kNil[] = "nil";
const char kOk[] = "+OK";

std::string Array(const std::vector<std::string>& elements) {
  std::string text = "[";
  for (const std::string& element : elements) text += element + ",";
  return text + "]";
}

std::string Plain(const Reply& reply) {
  if (reply.null) return kNil;
  if (reply.IsArray()) {
    std::vector<std::string> elements;
    for (const Reply& element : reply.elements) elements.push_back(Plain(element));
    return Array(elements);
  }
  if (reply.IsInteger()) return Integer(reply.integer);
  return reply.type + reply.text;
}

// One command on the store.
class Call {
 public:
  Call(ModelStore* store, const Command& command, const Moment& moment, int64_t transit)
      : store_(*store), args_(command), moment_(moment), transit_(transit) {}

  ExpectedReply Run();

 private:
  using Row = std::pair<std::string_view, std::string (Call::*)()>;

  const std::string& Key() const { return args_[1]; }
  ModelValue* Find(const std::string& key) {
    const auto found = store_.find(key);
    return found == store_.end() ? nullptr : &found->second;
  }
  bool Erase(const std::string& key) { return store_.erase(key) > 0; }
  void EraseEmpty(const std::string& key) {
    if (ModelValue* value = Find(key); value->list.empty() && value->pairs.empty()) Erase(key);
  }
  std::string Value(const std::string& key) {
    ModelValue* value = Find(key);
    return value == nullptr ? kNil : Bulk(value->text);
  }
  void Live(ModelValue* value, const std::string& ttl_ms) {
    const int64_t ttl = std::atoll(ttl_ms.c_str()) * kUsecPerMs;
    value->end = {moment_.sent + ttl - kClockSlackUsec, moment_.answered + ttl + kClockSlackUsec};
  }
  int64_t Add(const std::string& key, int64_t amount) {
    ModelValue& value = store_[key];
    const int64_t sum = std::atoll(value.text.c_str()) + amount;
    value.text = std::to_string(sum);
    return sum;
  }
  void Put(const std::string& key, const std::string& text) { store_[key] = {text, {}, {}, std::nullopt}; }

  std::string Get() { return Value(Key()); }
  std::string Set() {
    Put(Key(), args_[2]);
    if (args_.size() == 5) Live(&store_[Key()], args_[4]);
    return kOk;
  }
  std::string Del() {
    int64_t count = 0;
    for (size_t i = 1; i < args_.size(); ++i) count += Erase(args_[i]) ? 1 : 0;
    return Integer(count);
  }
  std::string Exists() {
    int64_t count = 0;
    for (size_t i = 1; i < args_.size(); ++i) count += Find(args_[i]) != nullptr ? 1 : 0;
    return Integer(count);
  }
  std::string Incr() { return Integer(Add(Key(), 1)); }
  std::string IncrBy() { return Integer(Add(Key(), std::atoll(args_[2].c_str()))); }
  std::string Append() {
    ModelValue& value = store_[Key()];
    value.text += args_[2];
    return Integer(static_cast<int64_t>(value.text.size()));
  }
  std::string Strlen() {
    const ModelValue* value = Find(Key());
    return Integer(value == nullptr ? 0 : static_cast<int64_t>(value->text.size()));
  }
  std::string GetDel() {
    const std::string before = Get();
    Erase(Key());
    return before;
  }
  std::string GetSet() {
    const std::string before = Get();
    Put(Key(), args_[2]);
    return before;
  }
  std::string SetNx() {
    if (Find(Key()) != nullptr) return Integer(0);
    Put(Key(), args_[2]);
    return Integer(1);
  }
  std::string PExpire() {
    ModelValue* value = Find(Key());
    if (value == nullptr) return Integer(0);
    Live(value, args_[2]);
    return Integer(1);
  }
  std::string Persist() {
    ModelValue* value = Find(Key());
    if (value == nullptr || !value->end) return Integer(0);
    value->end.reset();
    return Integer(1);
  }
  std::string MSet() {
    for (size_t i = 1; i + 1 < args_.size(); i += 2) Put(args_[i], args_[i + 1]);
    return kOk;
  }
  std::string MGet() {
    std::vector<std::string> values;
    for (size_t i = 1; i < args_.size(); ++i) values.push_back(Value(args_[i]));
    return Array(values);
  }
  std::string Push(bool front) {
    std::vector<std::string>& list = store_[Key()].list;
    for (size_t i = 2; i < args_.size(); ++i) list.insert(front ? list.begin() : list.end(), args_[i]);
    return Integer(static_cast<int64_t>(list.size()));
  }
  std::string RPush() { return Push(false); }
  std::string LPush() { return Push(true); }
  std::string Pop(bool front) {
    ModelValue* value = Find(Key());
    if (value == nullptr) return kNil;
    const auto at = front ? value->list.begin() : value->list.end() - 1;
    const std::string element = *at;
    value->list.erase(at);
    EraseEmpty(Key());
    return Bulk(element);
  }
  std::string LPop() { return Pop(true); }
  std::string RPop() { return Pop(false); }
  std::string LLen() {
    const ModelValue* value = Find(Key());
    return Integer(value == nullptr ? 0 : static_cast<int64_t>(value->list.size()));
  }
  std::string LRange() {
    std::vector<std::string> elements;
    if (const ModelValue* value = Find(Key()); value != nullptr) {
      for (const std::string& element : value->list) elements.push_back(Bulk(element));
    }
    return Array(elements);
  }
  std::string HSet() {
    return Integer(store_[Key()].pairs.insert_or_assign(args_[2], args_[3]).second ? 1 : 0);
  }
  std::string HGet() {
    const ModelValue* value = Find(Key());
    if (value == nullptr || !value->pairs.contains(args_[2])) return kNil;
    return Bulk(value->pairs.at(args_[2]));
  }
  std::string HIncrBy() {
    std::string& field = store_[Key()].pairs[args_[2]];
    field = std::to_string(std::atoll(field.c_str()) + std::atoll(args_[3].c_str()));
    return Integer(std::atoll(field.c_str()));
  }
  std::string RemoveMember() {
    ModelValue* value = Find(Key());
    if (value == nullptr) return Integer(0);
    const size_t removed = value->pairs.erase(args_[2]);
    EraseEmpty(Key());
    return Integer(static_cast<int64_t>(removed));
  }
  std::string HGetAll() {
    std::vector<std::string> elements;
    if (const ModelValue* value = Find(Key()); value != nullptr) {
      for (const auto& [field, text] : value->pairs) {
        elements.push_back(Bulk(field));
        elements.push_back(Bulk(text));
      }
    }
    return Array(elements);
  }
  std::string SAdd() { return Integer(store_[Key()].pairs.emplace(args_[2], "").second ? 1 : 0); }
  std::string Count() {
    const ModelValue* value = Find(Key());
    return Integer(value == nullptr ? 0 : static_cast<int64_t>(value->pairs.size()));
  }
  std::string SMembers() {
    std::vector<std::string> elements;
    if (const ModelValue* value = Find(Key()); value != nullptr) {
      for (const auto& pair : value->pairs) elements.push_back(Bulk(pair.first));
    }
    return Array(elements);
  }
  std::string SUnionStore() {
    ModelValue all;
    for (size_t i = 2; i < args_.size(); ++i) {
      if (const ModelValue* value = Find(args_[i]); value != nullptr) {
        all.pairs.insert(value->pairs.begin(), value->pairs.end());
      }
    }
    const auto count = static_cast<int64_t>(all.pairs.size());
    Erase(Key());
    if (count > 0) store_[Key()] = std::move(all);
    return Integer(count);
  }
  std::string ZIncrBy() {
    std::string& score = store_[Key()].pairs[args_[3]];
    score = std::to_string(std::atoll(score.c_str()) + std::atoll(args_[2].c_str()));
    return Bulk(score);
  }
  std::string ZScore() { return HGet(); }
  std::string Rename() {
    const auto found = store_.find(Key());
    if (found == store_.end()) return "-ERR no such key";
    ModelValue value = std::move(found->second);
    store_.erase(found);
    store_[args_[2]] = std::move(value);
    return kOk;
  }
  std::string Eval() {
    if (Key() == kAppendScript) {
      const ModelValue* value = Find(args_[3]);
      Put(args_[3], (value == nullptr ? "" : value->text) + args_[4]);
      return Value(args_[3]);
    }
    const int64_t amount = std::atoll(args_[5].c_str());
    const int64_t first = Add(args_[3], -amount);
    return Array({Integer(first), Integer(Add(args_[4], amount))});
  }
  std::string FlushDb() {
    store_.clear();
    return kOk;
  }

  static const std::map<std::string_view, std::string (Call::*)()>& Rows();

  ModelStore& store_;
  const Command& args_;
  const Moment& moment_;
  const int64_t transit_;
};

const std::map<std::string_view, std::string (Call::*)()>& Call::Rows() {
  static const std::map<std::string_view, std::string (Call::*)()> rows = {
      {"GET", &Call::Get},
      {"SET", &Call::Set},
      {"DEL", &Call::Del},
      {"EXISTS", &Call::Exists},
      {"INCR", &Call::Incr},
      {"INCRBY", &Call::IncrBy},
      {"APPEND", &Call::Append},
      {"STRLEN", &Call::Strlen},
      {"GETDEL", &Call::GetDel},
      {"GETSET", &Call::GetSet},
      {"SETNX", &Call::SetNx},
      {"PEXPIRE", &Call::PExpire},
      {"PERSIST", &Call::Persist},
      {"MSET", &Call::MSet},
      {"MGET", &Call::MGet},
      {"RPUSH", &Call::RPush},
      {"LPUSH", &Call::LPush},
      {"LPOP", &Call::LPop},
      {"RPOP", &Call::RPop},
      {"LLEN", &Call::LLen},
      {"LRANGE", &Call::LRange},
      {"HSET", &Call::HSet},
      {"HGET", &Call::HGet},
      {"HINCRBY", &Call::HIncrBy},
      {"HDEL", &Call::RemoveMember},
      {"HGETALL", &Call::HGetAll},
      {"SADD", &Call::SAdd},
      {"SREM", &Call::RemoveMember},
      {"SCARD", &Call::Count},
      {"SMEMBERS", &Call::SMembers},
      {"ZCARD", &Call::Count},
      {"ZINCRBY", &Call::ZIncrBy},
      {"ZSCORE", &Call::ZScore},
      {"ZREM", &Call::RemoveMember},
      {"SUNIONSTORE", &Call::SUnionStore},
      {"RENAME", &Call::Rename},
      {"EVAL", &Call::Eval},
      {"FLUSHDB", &Call::FlushDb},
      {"UNLINK", &Call::Del},
  };
  return rows;
}

ExpectedReply Call::Run() {
  if (args_[0] == "PTTL") {
    const ModelValue* value = Find(Key());
    if (value == nullptr) return {Integer(-2)};
    if (!value->end) return {Integer(-1)};
    return {"", true, (value->end->sent - moment_.answered) / kUsecPerMs - 1,
            (value->end->answered + transit_ - moment_.sent) / kUsecPerMs + 1};
  }
  return {(this->*Rows().at(args_[0]))()};
}

}  // namespace

int64_t NowUsec() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

ExpectedReply ApplyCommand(ModelStore* store, const Command& command, const Moment& moment,
                           int64_t transit_usec) {
  return Call(store, command, moment, transit_usec).Run();
}

std::string CanonicalReply(const Command& command, const Reply& reply) {
  if (!reply.IsArray()) return Plain(reply);
  const size_t step = command[0] == "HGETALL" ? 2 : command[0] == "SMEMBERS" ? 1 : reply.elements.size();
  if (step == 0 || reply.elements.size() % step != 0) return Plain(reply);
  std::vector<std::string> groups;
  for (size_t i = 0; i < reply.elements.size(); i += step) {
    std::string group;
    for (size_t j = i; j < i + step; ++j) group += Plain(reply.elements[j]) + ",";
    groups.push_back(std::move(group));
  }
  std::sort(groups.begin(), groups.end());
  std::string text = "[";
  for (const std::string& group : groups) text += group;
  return text + "]";
}

bool Matches(const ExpectedReply& expected, const Command& command, const Reply& reply) {
  if (expected.is_range) {
    return reply.IsInteger() && reply.integer >= expected.least && reply.integer <= expected.most;
  }
  return CanonicalReply(command, reply) == expected.text;
}

bool IsRead(const Command& command) {
  static const std::set<std::string_view> reads = {"GET",   "EXISTS", "STRLEN", "PTTL",  "MGET",
                                                   "LLEN",  "LRANGE", "HGET",   "SCARD", "SMEMBERS",
                                                   "ZCARD", "ZSCORE", "HGETALL"};
  return reads.contains(command[0]);
}

}  // namespace ringway::test
