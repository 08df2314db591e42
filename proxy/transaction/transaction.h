#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/shard/own_connections.h"

namespace ringway::proxy {

// What one client has queued since MULTI, and the keys it watches. Queued commands stand here until EXEC;
// watched keys are known to their server by a connection that the client has for itself.
// Thread: one worker. Owns: the queued frames, the connection. Limits: whoever queues sees to bytes().
class Transaction final : private ConnectionOwner {
 public:
  struct Key {
    uint32_t db;
    std::string key;
    bool written;
  };
  struct Command {
    std::string frame;
    // Not for the shard of the keys: the proxy answers it, or all shards do.
    bool apart = false;
    std::string script_sha;  // of EVALSHA
  };

  // --- MULTI to EXEC ---
  bool open() const { return open_; }
  void Open() { open_ = true; }
  // EXEC will refuse.
  void Taint() { tainted_ = open_; }
  bool tainted() const { return tainted_; }
  void Add(Command command);
  void AddKey(Key key) { keys_.push_back(std::move(key)); }
  const std::vector<Command>& commands() const { return commands_; }
  const std::vector<Key>& keys() const { return keys_; }
  // Of the frames.
  size_t bytes() const { return bytes_; }
  // The key that decides where commands go, if there is one.
  const std::string* first_key() const { return keys_.empty() ? nullptr : &keys_.front().key; }
  bool has_commands_apart() const { return apart_; }
  void NoteWrite() { writes_ = true; }
  bool writes() const { return writes_; }
  // SORT reads keys that its patterns mean.
  void NotePatterns() { patterns_ = true; }
  bool patterns() const { return patterns_; }
  // Forgets what is queued.
  void Close();

  // MULTI, the commands as they are and EXEC, and how many replies that gives.
  struct Batch {
    std::string frames;
    size_t replies;
  };
  Batch MakeBatch() const;

  // --- WATCH ---
  ConnectionOwner& owner() { return *this; }
  // The connection on which keys are watched; empty: none are.
  OwnConnection& watch() { return watch_; }
  bool watching() const { return static_cast<bool>(watch_) || dirty_; }
  // Takes over `connection`, which is told what to watch. `generation`: of the topology.
  void Watch(OwnConnection connection, uint64_t generation);
  uint64_t watch_generation() const { return watch_generation_; }
  // What is watched may have changed unseen: EXEC answers nil.
  bool dirty() const { return dirty_; }
  // What the other watches.
  void TakeWatchOf(Transaction& other);
  // Nothing is watched any more. The connection is to be given back by who has taken it out.
  OwnConnection TakeWatch();
  // The same, with the connection told and given back.
  void Unwatch();

 private:
  void OnPush(ShardConnection&, std::string_view) override {}
  void OnLost(ShardConnection&) override { dirty_ = true; }

  bool open_ = false;
  bool tainted_ = false;
  bool apart_ = false;
  bool writes_ = false;
  bool patterns_ = false;
  std::vector<Command> commands_;
  std::vector<Key> keys_;
  size_t bytes_ = 0;
  OwnConnection watch_;
  uint64_t watch_generation_ = 0;
  bool dirty_ = false;
};

}  // namespace ringway::proxy
