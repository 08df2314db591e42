#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/control/fence.h"
#include "proxy/control/shard_client.h"
#include "proxy/hotkey/hot_key_judge.h"
#include "proxy/hotkey/hot_set.h"
#include "proxy/net/event_loop.h"
#include "proxy/proxy_state.h"

namespace ringway::proxy {

// Decides from the workers' reports which keys are hot, places their buckets on the ring, and tells the
// workers. Has lost connections ended for them, too.
// Thread: the control loop's; Post* from any. Owns: the hot keys, the fences under way.
class HotKeyKeeper {
 public:
  HotKeyKeeper(ProxyState& state, EventLoop& loop);
  HotKeyKeeper(const HotKeyKeeper&) = delete;
  HotKeyKeeper& operator=(const HotKeyKeeper&) = delete;

  // About ten times a second.
  void Tick();
  // Buckets are placed anew.
  void OnTopology(const Topology& topology);
  // The loop has ended.
  void End() { fences_.clear(); }

  // --- any thread ---
  void PostReport(uint32_t worker, KeyReport report);
  // Of connections that a worker has lost: it is told when they can do nothing more.
  void PostFence(uint32_t worker, std::vector<LostConnection> lost);

 private:
  using DbKey = std::pair<uint32_t, std::string>;

  void Decide();
  // Of a hot key, or null if the ring has too few shards for buckets.
  std::shared_ptr<HotPlacement> PlacementOf(const DbKey& key, uint32_t buckets);
  void Publish();
  void RunFence(uint32_t worker, const std::vector<LostConnection>& lost);
  void OnFenced(uint32_t worker, const std::vector<LostConnection>& lost,
                const std::vector<Fence::Verdict>& verdicts);

  ProxyState& state_;
  EventLoop& loop_;
  ControlLinks links_;
  HotKeyJudge judge_;
  std::vector<KeyReport> reports_;  // by worker
  int64_t next_round_usec_ = 0;
  std::map<DbKey, std::shared_ptr<HotPlacement>> hot_;
  std::shared_ptr<const Topology> placed_on_;  // of all of hot_
  std::shared_ptr<const HotSet> published_;
  std::vector<std::unique_ptr<Fence>> fences_;
};

}  // namespace ringway::proxy
