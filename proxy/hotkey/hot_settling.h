#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "proxy/hotkey/hot_entry.h"
#include "proxy/move/drain.h"
#include "proxy/move/topology_ack.h"

namespace ringway::proxy {

// Ends writes of which a worker does not know when they will have been carried out: those it had sent before
// it knew that a key is hot, and those that were not answered. A server can carry out nothing more of them
// when it has answered all that was under way to it, and its connections that were lost have been ended on
// it. Thread: one worker. Owns: the keys that wait. Limits: HotSet::kMaxKeys and what is in doubt.
class HotSettling {
 public:
  // Has these connections ended on their server; they vanish from ShardPool::lost() when that has been done.
  using AskFence = std::function<void(std::vector<LostConnection>)>;
  static constexpr int64_t kFenceAgainUsec = 1'000'000;

  HotSettling(ShardPool& pool, HotKeyHome& home) : pool_(pool), home_(home) {}
  void set_ask_fence(AskFence ask_fence) { ask_fence_ = std::move(ask_fence); }

  // Ends one write of the key, which has begun, when these servers can carry out nothing more.
  void Add(const std::shared_ptr<HotKey>& key, const std::vector<uint32_t>& servers);
  // At the end of a turn or some times a second.
  void Tick(int64_t now_usec);
  bool idle() const { return servers_.empty(); }

 private:
  struct Server {
    explicit Server(ShardPool& pool) : drain(pool, DrainFor::kHotKeys) {}
    std::vector<std::shared_ptr<HotKey>> waiting;  // for the next drain
    std::vector<std::shared_ptr<HotKey>> draining;
    Drain drain;
    int64_t next_fence_usec = 0;
  };

  bool Settled(uint32_t id, Server& server, int64_t now_usec);

  ShardPool& pool_;
  HotKeyHome& home_;
  AskFence ask_fence_;
  std::map<uint32_t, Server> servers_;  // by id
};

}  // namespace ringway::proxy
