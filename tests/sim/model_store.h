#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ringway::proxy {

// The keys of a Redis server, as far as simulations need them: strings, counters, expiry by a clock that is
// handed in. Two stores that run the same commands at the same times give the same replies.
// Thread: one. Owns: its keys.
class ModelStore {
 public:
  struct Entry {
    std::string value;
    int64_t expires_usec = 0;  // 0: never

    bool operator==(const Entry&) const = default;
  };
  using Key = std::pair<uint32_t, std::string>;  // database, key
  using Args = std::vector<std::string>;

  // GET SET INCR APPEND DEL EXISTS MGET MSET PEXPIRE PTTL RENAME COPY MOVE, in small letters. EVAL, whatever
  // its script, adds one to each of its keys and answers the sum.
  std::string Run(uint32_t db, const Args& args, int64_t now_usec);
  static bool IsWrite(const Args& args);

  std::optional<Entry> Find(const Key& key, int64_t now_usec);
  void Put(const Key& key, Entry entry) { entries_[key] = std::move(entry); }
  bool Erase(const Key& key) { return entries_.erase(key) > 0; }
  void DropExpired(int64_t now_usec);
  const std::map<Key, Entry>& entries() const { return entries_; }

 private:
  // What a command is given.
  struct Call {
    uint32_t db;
    const Args& args;
    int64_t now_usec;

    Key key(size_t index = 1) const { return {db, args[index]}; }
  };
  std::string Get(const Call& call, size_t index = 1);
  std::string Set(const Call& call);
  std::string Incr(const Call& call);
  std::string Append(const Call& call);
  std::string Count(const Call& call, bool erase);
  std::string Mget(const Call& call);
  std::string Mset(const Call& call);
  std::string Pexpire(const Call& call);
  std::string Pttl(const Call& call);
  std::string Rename(const Call& call);
  std::string Copy(const Call& call);
  std::string Move(const Call& call);
  std::string Eval(const Call& call);
  int64_t AddOne(const Key& key, int64_t now_usec);

  std::map<Key, Entry> entries_;
};

}  // namespace ringway::proxy
