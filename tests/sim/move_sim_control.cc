#include "tests/sim/move_sim_control.h"

#include <algorithm>
#include <map>
#include <utility>

#include "proxy/move/test_fault.h"

namespace ringway::proxy {
namespace {

constexpr size_t kMostMembers = 4;

// Making one takes longer than many steps of a simulation.
ring::HashRing CachedRing(const std::vector<Shard>& members) {
  static std::map<std::string, ring::HashRing> rings;
  std::string name;
  for (const Shard& shard : members) {
    name += shard.config.name + "*" + std::to_string(shard.config.weight) + " ";
  }
  const auto found = rings.find(name);
  if (found != rings.end()) return found->second;
  ring::RingOptions options;
  options.virtual_nodes = 64;
  return rings.emplace(name, RingOf(members, options)).first->second;
}

void SortByName(std::vector<Shard>& shards) {
  std::sort(shards.begin(), shards.end(),
            [](const Shard& a, const Shard& b) { return a.config.name < b.config.name; });
}

}  // namespace

MoveSimControl::MoveSimControl(MoveSimShared& shared, config::Mover mover)
    : shared_(shared),
      mover_(mover),
      migration_(shared.now_usec),
      members_([this] {
        std::vector<Shard> members;
        const uint64_t count = 1 + Below(3);
        for (uint64_t i = 0; i < count; ++i) members.push_back(NewServer("s" + std::to_string(i), 1));
        return members;
      }()),
      ring_(CachedRing(members_)) {
  const auto topology = StableTopology(epoch_, generation_, ring_, members_);
  for (MoveSimWorker* worker : shared_.workers) worker->Adopt(topology, [](const TopologyAck&) {});
}

Shard MoveSimControl::NewServer(const std::string& name, uint32_t weight) {
  Shard shard;
  shard.id = next_server_id_++;
  shard.config.name = name;
  shard.config.host = MoveSimShared::HostOf(shard.id);
  shard.config.port = 6379;
  shard.config.address = shard.config.host + ":6379";
  shard.config.weight = weight;
  shared_.servers[shard.id] = std::make_unique<ModelServer>(shared_.environment, shard.config.host);
  return shard;
}

std::vector<Shard> MoveSimControl::ChangedMembers() {
  std::vector<Shard> changed = members_;
  for (uint64_t changes = 1 + Below(2); changes > 0; --changes) {
    const size_t i = Below(changed.size());
    switch (Below(4)) {
      case 0:
        if (changed.size() > 1) changed.erase(changed.begin() + static_cast<ptrdiff_t>(i));
        break;
      case 1:
        changed[i].config.weight = 1 + static_cast<uint32_t>(Below(2));
        break;
      case 2:
        changed[i] = NewServer(changed[i].config.name, static_cast<uint32_t>(changed[i].config.weight));
        break;
      default: {
        const std::string name = "s" + std::to_string(Below(kMostMembers));
        const bool known = std::any_of(changed.begin(), changed.end(),
                                       [&name](const Shard& shard) { return shard.config.name == name; });
        if (!known) changed.push_back(NewServer(name, 1));
      }
    }
  }
  SortByName(changed);
  return changed;
}

void MoveSimControl::StartMove() {
  const std::vector<Shard> after = ChangedMembers();
  plan_ = std::make_shared<const MovePlan>(next_plan_id_++, members_, ring_, after, CachedRing(after),
                                           std::vector<uint32_t>(), mover_);
  if (plan_->pairs().empty()) return;
  Migration::Facts facts;
  facts.epoch = epoch_;
  facts.generation = generation_;
  for (uint32_t i = 0; i < shared_.workers.size(); ++i) facts.participants.insert(i);
  facts.leaving = !plan_->Leaving().empty();
  facts.joining = !plan_->Joining().empty();
  migration_.Start(facts);
}

// --- steps ---

void MoveSimControl::Step() {
  for (uint64_t i = shared_.calm ? events_.size() : Below(3); i > 0 && !events_.empty(); --i) {
    const auto event = std::move(events_.front());
    events_.pop_front();
    event();
  }
  migration_.Tick();
  // First what is left to do of the last move: it ends with an epoch.
  while (const auto action = migration_.NextAction()) Act(*action);
  if (!shared_.calm) Steer();
  if (shared_.calm && !migration_.idle()) migration_.Resume();
  while (const auto action = migration_.NextAction()) Act(*action);
  StepMover();
}

void MoveSimControl::Steer() {
  if (migration_.idle()) {
    if (shared_.OneIn(60)) StartMove();
    return;
  }
  switch (Below(400)) {
    case 0:
      migration_.Abort();
      return;
    case 1:
      migration_.Pause();
      return;
    case 2:
    case 3:
    case 4:
      migration_.Resume();
      return;
    case 5:
      shared_.Server(members_[Below(members_.size())].id).full = true;
      return;
    case 6:
    case 7:
      for (auto& [id, server] : shared_.servers) server->full = false;
      return;
    default:
      return;
  }
}

void MoveSimControl::Act(const Action& action) {
  using Kind = Action::Kind;
  const bool fails = !shared_.calm && shared_.OneIn(20);
  switch (action.kind) {
    case Kind::kCheck:
      Later([this] { migration_.OnChecked(""); });
      return;
    case Kind::kSave:
      Later([this, fails] { migration_.OnSaved(fails ? "the disk is full" : ""); });
      return;
    case Kind::kFence:
      if (!fails) Fence();
      Later([this, fails] { migration_.OnFenced(fails ? "a server does not answer" : ""); });
      return;
    case Kind::kTurnBack:
      forward_ = plan_;
      plan_ = std::make_shared<const MovePlan>(next_plan_id_++, forward_->to(), forward_->diff().to(),
                                               forward_->from(), forward_->diff().from(),
                                               std::vector<uint32_t>(), mover_);
      return;
    case Kind::kStartMover:
      mover_on_ = true;
      mover_told_idle_ = mover_stopping_ = false;
      mover_paused_ = action.paused;
      return;
    case Kind::kPauseMover:
    case Kind::kResumeMover:
      mover_paused_ = action.kind == Kind::kPauseMover;
      return;
    case Kind::kStopMover:
      mover_stopping_ = true;
      return;
    case Kind::kCheckLeavers:
      CheckLeavers();
      Later([this] { migration_.OnLeaversChecked(); });
      return;
    case Kind::kStopChecking:
    case Kind::kWarn:
      return;
    case Kind::kFinish:
      Finish(action);
      return;
    default:
      Publish(action);
  }
}

void MoveSimControl::Publish(const Action& action) {
  using Kind = Action::Kind;
  epoch_ = action.epoch;
  generation_ = action.generation;
  lost_.clear();
  std::shared_ptr<const Topology> topology;
  switch (action.kind) {
    case Kind::kPublishHolding:
      topology = HoldingTopology(epoch_, generation_, plan_);
      break;
    case Kind::kPublishMoving:
      topology = MovingTopology(epoch_, generation_, plan_);
      break;
    case Kind::kPublishBefore:
      ++figures_.holds_called_off;
      topology = forward_ != nullptr ? MovingTopology(epoch_, generation_, forward_)
                                     : StableTopology(epoch_, generation_, ring_, members_);
      break;
    case Kind::kPublishLeaving:
      members_ = plan_->to();
      ring_ = plan_->diff().to();
      topology = StableTopology(epoch_, generation_, ring_, members_, plan_->Leaving());
      break;
    default:
      topology = StableTopology(epoch_, generation_, ring_, members_);
  }
  for (MoveSimWorker* worker : shared_.workers) {
    worker->Post([this, worker, topology] {
      worker->Adopt(topology, [this](const TopologyAck& ack) { Later([this, ack] { OnAck(ack); }); });
    });
  }
}

void MoveSimControl::OnAck(const TopologyAck& ack) {
  if (ack.epoch == epoch_) lost_.insert(lost_.end(), ack.lost.begin(), ack.lost.end());
  migration_.OnAck(ack.worker, ack.epoch, ack.kind, !ack.lost.empty());
}

void MoveSimControl::Fence() {
  if (CurrentTestFault() == TestFault::kSkipFence) return;
  for (MoveSimWorker* worker : shared_.workers) {
    worker->DropGhosts(lost_);
    worker->Post([worker, lost = lost_] { worker->world().pool.lost().Forget(lost); });
  }
}

void MoveSimControl::CheckLeavers() {
  for (const Shard& shard : plan_->Leaving()) {
    ModelStore& store = shared_.Server(shard.id).store();
    store.DropExpired(shared_.now_usec);
    if (store.entries().empty() || !shared_.problem.empty()) continue;
    shared_.problem = shard.config.name + " leaves with the key " + store.entries().begin()->first.second;
  }
}

void MoveSimControl::Finish(const Action& action) {
  using Result = Action::Result;
  (action.result == Result::kSettled   ? figures_.settled
   : action.result == Result::kAborted ? figures_.aborted
                                       : figures_.failed) += 1;
  mover_on_ = false;
  for (const auto& plan : {plan_, forward_}) {
    if (plan == nullptr) continue;
    for (const MoveFigures::Pair& pair : plan->figures().pairs)
      figures_.keys_on_access += pair.keys_on_access;
  }
  forward_ = nullptr;
}

// --- the mover ---

void MoveSimControl::StepMover() {
  if (!mover_on_) return;
  if (mover_stopping_) {
    if (relays_ > 0) return;
    mover_on_ = mover_stopping_ = false;
    Later([this] { migration_.OnMoverStopped(); });
    return;
  }
  if (mover_paused_ || relays_ > 3 || (!shared_.calm && !shared_.OneIn(4))) return;
  for (uint32_t i = 0; i < plan_->pairs().size(); ++i) {
    const size_t before = figures_.keys_background + relays_;
    MoveBatch(plan_->pairs()[i], i);
    if (figures_.keys_background + relays_ != before || !mover_on_) return;
  }
}

void MoveSimControl::MoveBatch(const MovePlan::Pair& pair, uint32_t pair_index) {
  ModelServer& source = shared_.Server(plan_->from()[pair.from].id);
  source.store().DropExpired(shared_.now_usec);
  std::vector<ModelStore::Key> keys;
  for (const auto& [key, entry] : source.store().entries()) {
    const uint64_t hash = ring_.Hash(key.second);
    if (!plan_->Moves(hash) || plan_->FromIndex(hash) != pair.from || plan_->ToIndex(hash) != pair.to)
      continue;
    if (keys.empty() || keys.front().first == key.first) keys.push_back(key);
  }
  if (keys.empty()) {
    // The mover is done when no pair has anything left.
    if (relays_ > 0 || mover_told_idle_ || pair_index + 1 < plan_->pairs().size()) return;
    for (const MovePlan::Pair& other : plan_->pairs()) {
      ModelStore& store = shared_.Server(plan_->from()[other.from].id).store();
      store.DropExpired(shared_.now_usec);
      for (const auto& [key, entry] : store.entries()) {
        const uint64_t hash = ring_.Hash(key.second);
        if (plan_->Moves(hash) && plan_->FromIndex(hash) == other.from) return;
      }
    }
    mover_told_idle_ = true;
    Later([this] { migration_.OnMoverIdle(); });
    return;
  }
  if (mover_ == config::Mover::kRelay) {
    const ModelStore::Key& key = keys[Below(keys.size())];
    RelayOne(pair_index, key.first, key.second);
    return;
  }
  std::vector<std::string> names;
  for (uint64_t i = 1 + Below(3); i > 0; --i) {
    const std::string& name = keys[Below(keys.size())].second;
    if (std::count(names.begin(), names.end(), name) == 0) names.push_back(name);
  }
  figures_.keys_background += names.size();
  const std::string reply =
      source.Migrate(shared_.Server(plan_->to()[pair.to].id), keys.front().first, names);
  if (reply.front() == '-') {
    migration_.OnMoverTrouble(reply);
  } else {
    migration_.OnMoverWell();
  }
}

void MoveSimControl::RelayOne(uint32_t pair_index, uint32_t db, const std::string& key) {
  ++relays_;
  MoveSimWorker* worker = shared_.workers[Relay::WorkerOf(key, shared_.workers.size())];
  worker->Post([this, worker, plan = plan_, pair_index, db, key] {
    worker->world().relay.Move(plan, pair_index, db, key, [this](const Relay::Result& result) {
      figures_.keys_background += result.moved ? 1 : 0;
      Later([this] { --relays_; });
    });
  });
}

}  // namespace ringway::proxy
