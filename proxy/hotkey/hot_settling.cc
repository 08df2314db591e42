#include "proxy/hotkey/hot_settling.h"

#include <algorithm>
#include <utility>

namespace ringway::proxy {

void HotSettling::Add(const std::shared_ptr<HotKey>& key, const std::vector<uint32_t>& servers) {
  // Each server ends one.
  for (size_t i = 1; i < servers.size(); ++i) key->BeginWrite();
  for (const uint32_t id : servers) {
    auto& waiting = servers_.try_emplace(id, pool_).first->second.waiting;
    // One write stands for all that wait for the same drain, however long a server is away.
    if (std::find(waiting.begin(), waiting.end(), key) == waiting.end()) {
      waiting.push_back(key);
    } else {
      key->EndWrite();
    }
  }
}

void HotSettling::Tick(int64_t now_usec) {
  for (auto next = servers_.begin(); next != servers_.end();) {
    auto& [id, server] = *next;
    if (server.draining.empty()) {
      server.draining.swap(server.waiting);
      server.drain.Begin(home_.RenewEpochToken());
    }
    if (!Settled(id, server, now_usec)) {
      ++next;
      continue;
    }
    for (const auto& key : server.draining) key->EndWrite();
    server.draining.clear();
    next = server.waiting.empty() ? servers_.erase(next) : std::next(next);
  }
}

bool HotSettling::Settled(uint32_t id, Server& server, int64_t now_usec) {
  if (!server.drain.Ended({id}, true)) return false;
  std::vector<LostConnection> lost;
  for (const LostConnection& connection : pool_.lost().all()) {
    if (connection.shard_id == id) lost.push_back(connection);
  }
  if (lost.empty()) return true;
  if (now_usec >= server.next_fence_usec && ask_fence_ != nullptr) {
    server.next_fence_usec = now_usec + kFenceAgainUsec;
    ask_fence_(std::move(lost));
  }
  return false;
}

}  // namespace ringway::proxy
