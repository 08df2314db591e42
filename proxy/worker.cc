#include "proxy/worker.h"

#include <algorithm>
#include <utility>

#include <sys/socket.h>

#include "protocol/error_replies.h"
#include "proxy/check.h"
#include "proxy/control/hot_key_keeper.h"
#include "proxy/info/info_facts.h"
#include "proxy/log.h"
#include "proxy/net/clock.h"

namespace ringway::proxy {
namespace {

// How often timeouts are looked at; a request's timeout is exact to this much.
constexpr int64_t kTickUsec = 100'000;
constexpr int64_t kIdleCheckUsec = 1'000'000;

// Room in a request for what stands beside one largest argument.
constexpr int64_t kFrameBytes = 1024 * 1024;

// Positions in a request have 32 bits, which ends what may be configured just below 4 GiB.
protocol::RequestLimits RequestLimitsFor(int64_t largest_argument) {
  protocol::RequestLimits limits;
  const int64_t argument = std::min<int64_t>(largest_argument, protocol::kMaxRequestBytes - kFrameBytes);
  limits.max_bulk_bytes = static_cast<uint32_t>(argument);
  limits.max_request_bytes =
      std::max(limits.max_request_bytes, static_cast<uint32_t>(argument + kFrameBytes));
  return limits;
}

}  // namespace

Worker::Worker(ProxyState& state, uint32_t index)
    : state_(state),
      index_(index),
      requests_(blocks_, stats_, loop_.now_reference()),
      shard_environment_{loop_,
                         requests_,
                         dirty_shards_,
                         state.resolver,
                         ShardSettings{},
                         [this](uint64_t id) {
                           if (ClientConnection* client = FindClient(id)) client->session().MarkResumable();
                         },
                         std::minstd_rand(std::random_device{}()),
                         {},
                         state.connection_name_prefix(),
                         {}},
      pool_(shard_environment_, stats_),
      relay_(pool_, requests_, [this](int64_t usec) { pull_event_.AddTimeout(usec); }),
      puller_(
          pool_, requests_, shard_environment_, [this](int64_t usec) { pull_event_.AddTimeout(usec); },
          [this](const auto& plan, uint32_t pair, uint32_t db, const std::string& key, Relay::Done done) {
            RelayKey(plan, pair, db, key, std::move(done));
          }),
      local_(*this),
      router_(pool_, requests_, state.scripts, local_, puller_),
      drain_(pool_),
      session_environment_{blocks_, requests_, router_, dirty_clients_, SessionLimits{}, BlockRef(), {}},
      config_(state.config()) {
  ApplyConfig();
  router_.set_copies(&state.copies);
  router_.set_sessions(&session_environment_);
  router_.Adopt(state.topology());
  pool_.Adopt(router_.topology());
  router_.hot_keys().set_ask_fence([this](std::vector<LostConnection> lost) {
    state_.hot_key_keeper->PostFence(index_, std::move(lost));
  });
  tick_event_.Assign(loop_.base(), -1, EV_PERSIST, &Worker::OnTick, this);
  tick_event_.AddTimeout(kTickUsec);
  pull_event_.Assign(loop_.base(), -1, 0, &Worker::OnPullWake, this);
}

Worker::~Worker() {
  clients_.clear();
  router_.Close();
  relay_.Close();
  pool_.Close();
  // Those that wait for keys are told while what their requests refer to is there.
  puller_.Pump();
}

void Worker::Listen(std::shared_ptr<UniqueFd> fd) {
  listeners_.push_back(std::make_unique<Listener>(loop_, std::move(fd),
                                                  [this](UniqueFd client) { OnAccept(std::move(client)); }));
}

void Worker::Start() {
  thread_ = std::thread([this] { loop_.Run([this] { AfterTurn(); }); });
}

void Worker::Join() { thread_.join(); }

// --- messages ---

void Worker::PostTopology(std::shared_ptr<const Topology> topology, TopologyAckFunction ack) {
  Post([this, topology = std::move(topology), ack = std::move(ack)]() mutable {
    Adopt(std::move(topology), std::move(ack));
  });
}

void Worker::Adopt(std::shared_ptr<const Topology> topology, TopologyAckFunction ack) {
  drain_.Begin(router_.epoch_token());
  router_.Adopt(topology);
  pool_.Adopt(*topology);
  router_.ResumeParked();
  ResumeStopped();
  awaiting_ack_ = std::move(ack);
  if (awaiting_ack_ == nullptr) return;
  awaiting_ack_({TopologyAck::Kind::kAdopted, index_, topology->epoch, {}});
  AckWhenDrained();
}

void Worker::AckWhenDrained() {
  const Topology& topology = router_.topology();
  const std::vector<uint32_t> servers = topology.ServersInMotion();
  if (!router_.BlockedAreReleased()) return;
  if (!drain_.Ended(servers, topology.phase == Topology::Phase::kLeaving)) return;
  TopologyAck drained{TopologyAck::Kind::kDrained, index_, topology.epoch, {}};
  for (const LostConnection& lost : pool_.lost().all()) {
    if (std::find(servers.begin(), servers.end(), lost.shard_id) != servers.end())
      drained.lost.push_back(lost);
  }
  std::exchange(awaiting_ack_, nullptr)(drained);
}

void Worker::PostFenced(std::vector<LostConnection> fenced) {
  Post([this, fenced = std::move(fenced)] { pool_.lost().Forget(fenced); });
}

void Worker::PostHotSet(std::shared_ptr<const HotSet> set) {
  Post([this, set = std::move(set)] { router_.Adopt(set); });
}

void Worker::PostRelay(std::shared_ptr<const MovePlan> plan, uint32_t pair, uint32_t db,
                       std::vector<std::string> keys, Relay::Done done) {
  Post([this, plan = std::move(plan), pair, db, keys = std::move(keys), done = std::move(done)] {
    for (const std::string& key : keys) relay_.Move(plan, pair, db, key, done);
  });
}

// On the key's own worker, and back.
void Worker::RelayKey(const std::shared_ptr<const MovePlan>& plan, uint32_t pair, uint32_t db,
                      const std::string& key, Relay::Done done) {
  Worker* owner = state_.workers[Relay::WorkerOf(key, state_.workers.size())];
  if (owner == this) {
    relay_.Move(plan, pair, db, key, std::move(done));
    return;
  }
  owner->PostRelay(plan, pair, db, {key}, [this, done = std::move(done)](const Relay::Result& result) {
    Post([done, result] { done(result); });
  });
}

void Worker::PostLearnedCommands(std::shared_ptr<const protocol::LearnedCommands> learned) {
  Post([this, learned = std::move(learned)] { router_.Adopt(learned); });
}

void Worker::PostConfig(std::shared_ptr<const config::Config> config) {
  Post([this, config = std::move(config)] {
    config_ = config;
    ApplyConfig();
  });
}

void Worker::PostPause(const Pause& pause) {
  Post([this, pause] {
    router_.set_pause(pause);
    ResumeStopped();
  });
}

void Worker::PostDrain(int64_t timeout_usec) {
  Post([this, timeout_usec] {
    listeners_.clear();
    drain_until_usec_ = loop_.now_usec() + timeout_usec;
    for (auto& [id, client] : clients_) client->Drain();
    EndIfDrained();
  });
}

void Worker::ApplyConfig() {
  shard_environment_.settings = {config_->timeouts.connect_ms * 1000, config_->timeouts.request_ms * 1000,
                                 static_cast<size_t>(config_->limits.in_flight_per_shard)};
  session_environment_.limits.request = RequestLimitsFor(config_->limits.request_bytes);
  session_environment_.limits.pipeline = static_cast<size_t>(config_->limits.pipeline);
  session_environment_.limits.client_output = static_cast<size_t>(config_->limits.client_output_bytes);
  if (config_->requirepass.empty()) {
    for (auto& [id, client] : clients_) client->session().state().authenticated = true;
  }
  const auto workers = static_cast<size_t>(std::max<int64_t>(config_->threads, 1));
  pool_.own().set_limit((static_cast<size_t>(config_->limits.own_connections) + workers - 1) / workers);
  router_.hot_keys().set_fill_settings(
      {state_.run_id(), config_->hot_keys.max_staleness_ms, config_->hot_keys.max_bytes}, &state_.copies);
  router_.sampler().set_enabled(config_->hot_keys.detect || !config_->hot_keys.patterns.empty());
  router_.set_same_shard_is_enough(config_->multi_key == config::MultiKey::kSameShard);
  ResumeStopped();
}

// What kept clients from going on may be over: a pause, or a limit that has been raised.
void Worker::ResumeStopped() {
  for (auto& [id, client] : clients_) {
    if (client->session().stopped()) client->session().MarkResumable();
  }
}

// --- clients ---

void Worker::OnAccept(UniqueFd fd) {
  // Counted first, so that workers together never exceed the limit.
  if (state_.connected_clients.fetch_add(1, std::memory_order_relaxed) >=
      state_.max_clients.load(std::memory_order_relaxed)) {
    state_.connected_clients.fetch_sub(1, std::memory_order_relaxed);
    stats_.connections_rejected.Add();
    const std::string refusal = "-" + std::string(protocol::kMaxClients) + "\r\n";
    [[maybe_unused]] const ssize_t sent = ::send(fd.get(), refusal.data(), refusal.size(), MSG_NOSIGNAL);
    return;
  }
  stats_.connections_accepted.Add();
  stats_.clients.Set(clients_.size() + 1);
  const int number = fd.get();
  ClientConnection::Owner& owner = *this;
  auto client = std::make_unique<ClientConnection>(loop_, session_environment_, owner, std::move(fd));
  SessionState& session = client->session().state();
  session.id = state_.NextClientId();
  session.fd = number;
  session.authenticated = config_->requirepass.empty();
  session.connected_usec = session.last_active_usec = loop_.now_usec();
  session.peer_address = PeerAddress(number).ToString();
  session.local_address = LocalAddress(number).ToString();
  clients_.emplace(session.id, std::move(client));
}

ClientConnection* Worker::FindClient(uint64_t id) {
  const auto found = clients_.find(id);
  return found == clients_.end() ? nullptr : found->second.get();
}

void Worker::OnClientClosed(ClientConnection& connection) { closed_clients_.push_back(connection.id()); }

void Worker::DeleteClosedClients() {
  for (const uint64_t id : closed_clients_) {
    clients_.erase(id);
    state_.connected_clients.fetch_sub(1, std::memory_order_relaxed);
  }
  closed_clients_.clear();
  stats_.clients.Set(clients_.size());
  EndIfDrained();
}

size_t Worker::PausedClients() const {
  if (router_.pause().mode == Pause::Mode::kNone) return 0;
  return static_cast<size_t>(std::count_if(
      clients_.begin(), clients_.end(), [](const auto& entry) { return entry.second->session().stalled(); }));
}

void Worker::CloseIdleClients() {
  const int64_t limit_usec = config_->timeouts.idle_client_ms * 1000;
  if (limit_usec == 0) return;
  for (auto& [id, client] : clients_) {
    const ClientSession& session = client->session();
    if (session.pending() == 0 && !session.stalled() &&
        loop_.now_usec() - session.state().last_active_usec > limit_usec) {
      client->CloseSoon();
    }
  }
}

// --- turns ---

void Worker::AfterTurn() {
  stats_.turns.Add();
  // Answering may let a client parse on, which makes shards dirty again; it ends because each round takes
  // input.
  while (true) {
    relay_.Pump();
    puller_.Pump();
    while (!session_environment_.resumable.empty()) {
      std::vector<ClientSession*> resumable;
      resumable.swap(session_environment_.resumable);
      for (ClientSession* session : resumable) session->host().Resume();
    }
    if (dirty_shards_.empty() && dirty_clients_.empty()) break;
    dirty_shards_.FlushAll();
    dirty_clients_.FlushAll();
  }
  pool_.own().EndReleased();
  router_.UpdateCare();
  if (awaiting_ack_ != nullptr) AckWhenDrained();
  if (!shard_environment_.paused_streams.empty()) pool_.ResumeStreams();
  if (!closed_clients_.empty()) DeleteClosedClients();
  stats_.block_bytes.Set(blocks_.bytes_in_use());
}

void Worker::OnTick(evutil_socket_t, short, void* argument) {
  auto* self = static_cast<Worker*>(argument);
  self->loop_.NoteWake();
  self->Tick();
}

// The turn that it begins ends with a look at the pulls.
void Worker::OnPullWake(evutil_socket_t, short, void* argument) {
  auto* self = static_cast<Worker*>(argument);
  self->loop_.NoteWake();
  self->pull_event_.NoteFired();
}

void Worker::Tick() {
  pool_.Tick();
  router_.hot_keys().Tick(loop_.now_usec());
  router_.TickBlocked();
  stats_.blocked_clients.Set(router_.blocked_clients() + PausedClients());
  if (loop_.now_usec() >= next_key_report_usec_) {
    next_key_report_usec_ = loop_.now_usec() + HotKeyJudge::kReportUsec;
    state_.hot_key_keeper->PostReport(index_, router_.sampler().TakeReport());
  }
  if (index_ == 0) SampleRates(state_, loop_.now_usec());
  if (loop_.now_usec() >= next_idle_check_usec_) {
    next_idle_check_usec_ = loop_.now_usec() + kIdleCheckUsec;
    blocks_.Trim();
    CloseIdleClients();
  }
  const Pause& pause = router_.pause();
  if (pause.mode != Pause::Mode::kNone && loop_.now_usec() >= pause.until_usec) {
    router_.set_pause(Pause{});
    ResumeStopped();
  }
  EndIfDrained();
}

void Worker::EndIfDrained() {
  if (!drain_until_usec_.has_value()) return;
  if (clients_.size() == closed_clients_.size() || loop_.now_usec() >= *drain_until_usec_) loop_.PostStop();
}

}  // namespace ringway::proxy
