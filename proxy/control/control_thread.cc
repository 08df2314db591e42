#include "proxy/control/control_thread.h"

#include <algorithm>
#include <string>
#include <utility>

#include "proxy/log.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

// How exact the monitors' times are.
constexpr int64_t kTickUsec = 100'000;

}  // namespace

ControlThread::ControlThread(ProxyState& state, std::unique_ptr<StateFile> state_file, Beginning beginning,
                             config::Config file)
    : state_(state),
      hot_keys_(state, loop_),
      migrator_(state, loop_, static_cast<Migrator::Host&>(*this), std::move(state_file),
                std::move(beginning), std::move(file)) {
  state_.control_loop = &loop_;
  state_.migrator = &migrator_;
  state_.hot_key_keeper = &hot_keys_;
  OnTopology(*state_.topology());
  tick_event_.Assign(loop_.base(), -1, EV_PERSIST, &ControlThread::OnTick, this);
}

ControlThread::~ControlThread() {
  Stop();
  state_.migrator = nullptr;
  state_.hot_key_keeper = nullptr;
}

void ControlThread::Start() {
  thread_ = std::thread([this] {
    tick_event_.AddTimeout(kTickUsec);
    // The first attempts are made at once.
    for (auto& [id, watch] : watches_) watch.monitor->Tick(state_.config()->timeouts.connect_ms * 1000);
    migrator_.Begin();
    loop_.Run([] {});
    migrator_.End();
    hot_keys_.End();
    watches_.clear();
  });
}

void ControlThread::Stop() {
  if (!thread_.joinable()) return;
  loop_.PostStop();
  thread_.join();
}

void ControlThread::OnTopology(const Topology& topology) {
  bool unlearned = false;
  std::erase_if(watches_, [&](const auto& item) {
    const uint32_t id = item.first;
    const bool stays = std::any_of(topology.shards.begin(), topology.shards.end(),
                                   [id](const Shard& shard) { return shard.id == id; });
    if (stays) return false;
    state_.board.Forget(id);
    if (learned_.Forget(id)) unlearned = true;
    return true;
  });
  for (const Shard& shard : topology.shards) {
    const auto found = watches_.find(shard.id);
    if (found == watches_.end()) {
      AddWatch(shard);
    } else {
      found->second.monitor->Follow(shard.config);
    }
  }
  if (unlearned) PostLearned();
  hot_keys_.OnTopology(topology);
}

void ControlThread::AddWatch(const Shard& shard) {
  Watch watch;
  watch.link = std::make_unique<ShardMonitorConnection>(loop_, state_.resolver);
  watch.monitor = std::make_unique<ShardMonitor>(shard, *watch.link, *this, loop_.now_reference(), seeds_());
  watch.link->set_user(watch.monitor.get());
  watches_.emplace(shard.id, std::move(watch));
}

void ControlThread::OnTick(evutil_socket_t, short, void* argument) {
  auto* self = static_cast<ControlThread*>(argument);
  self->loop_.NoteWake();
  const int64_t timeout_usec = self->state_.config()->timeouts.connect_ms * 1000;
  for (auto& [id, watch] : self->watches_) watch.monitor->Tick(timeout_usec);
  self->migrator_.Tick();
  self->hot_keys_.Tick();
}

void ControlThread::OnDown(const ShardMonitor& monitor, ShardMonitor::Trouble trouble) {
  const std::string line = "shard " + monitor.Label() + " " + monitor.sight().problem;
  // Only an operator can put this right.
  if (trouble == ShardMonitor::Trouble::kClusterNode) {
    LogError(line);
  } else {
    LogWarn(line);
  }
}

void ControlThread::OnBack(const ShardMonitor& monitor) { LogInfo("shard " + monitor.Label() + " is back"); }

void ControlThread::OnSight(const ShardMonitor& monitor) {
  state_.board.Set(monitor.shard().id, monitor.sight());
}

void ControlThread::OnCommands(const ShardMonitor& monitor, std::string_view reply) {
  if (!learned_.Take(monitor.shard().id, reply)) return;
  LogInfo("shard " + monitor.Label() + " changes what is known beyond Redis's own commands: " +
          std::to_string(learned_.learned()->size()) + " now");
  PostLearned();
}

void ControlThread::PostLearned() {
  for (Worker* worker : state_.workers) worker->PostLearnedCommands(learned_.learned());
}

}  // namespace ringway::proxy
