#include "proxy/move/puller.h"

#include <algorithm>
#include <utility>

#include "protocol/error_replies.h"
#include "protocol/reply_cursor.h"

namespace ringway::proxy {
namespace {

// How soon a batch is tried again that the gate or a full connection kept back.
constexpr int64_t kRetryUsec = 1'000;

std::string Label(const Shard& shard) { return shard.config.name + " " + shard.config.address; }

}  // namespace

// Waits for the reply to a batch.
class Puller::BatchCollector final : public ReplyCollector {
 public:
  BatchCollector(Puller& puller, Lane& lane) : puller_(puller), lane_(lane) {}

  void OnPart(Request&, uint32_t, const Slice& reply) override { reply_ = reply; }
  bool OnAllParts(Request&) override {
    puller_.OnBatch(lane_, reply_.view());
    return true;
  }
  void Finish(Request&, OutputQueue&) override {}

 private:
  Puller& puller_;
  Lane& lane_;
  Slice reply_;
};

// Waits for the reply to a PING.
class Puller::ProbeCollector final : public ReplyCollector {
 public:
  ProbeCollector(Puller& puller, uint32_t target_id) : puller_(puller), target_id_(target_id) {}

  void OnPart(Request&, uint32_t, const Slice& reply) override {
    puller_.OnProbe(target_id_, !protocol::IsError(reply.view()));
  }
  void Finish(Request&, OutputQueue&) override {}

 private:
  Puller& puller_;
  const uint32_t target_id_;
};

Puller::Puller(ShardPool& pool, RequestTable& requests, const ShardEnvironment& environment,
               std::function<void(int64_t)> wake_after, RelayFunction relay)
    : pool_(pool),
      requests_(requests),
      environment_(environment),
      wake_after_(std::move(wake_after)),
      relay_(std::move(relay)) {}

Puller::~Puller() = default;

void Puller::Adopt(const Topology& topology) {
  if (plan_ == topology.move.get() && topology.moving()) return;
  plan_ = topology.moving() ? topology.move.get() : nullptr;
  pulled_.Clear();
  rests_.clear();
}

void Puller::Pull(const std::shared_ptr<const MovePlan>& plan, uint64_t hash, uint32_t db,
                  std::string_view key, Request& request, PullWaiter& waiter) {
  Lane& lane = LaneOf(plan, plan->PairOf(plan->FromIndex(hash), plan->ToIndex(hash)), db);
  ++waiting_;
  const auto known = lane.by_key.find(key);
  if (known != lane.by_key.end()) {
    known->second->waiting.push_back({&request, &waiter});
    return;
  }
  auto entry = std::make_unique<Entry>();
  entry->key = key;
  entry->waiting.push_back({&request, &waiter});
  lane.by_key.emplace(entry->key, entry.get());
  lane.queue.push_back(std::move(entry));
  List(lane);
}

Puller::Lane& Puller::LaneOf(const std::shared_ptr<const MovePlan>& plan, uint32_t pair, uint32_t db) {
  for (auto& lane : lanes_) {
    if (lane->plan == plan && lane->pair == pair && lane->db == db) return *lane;
  }
  // Lanes of a plan that is no longer carried out go when they are empty.
  std::erase_if(lanes_, [&plan](const auto& lane) {
    return lane->plan != plan && lane->by_key.empty() && !lane->under_way && !lane->listed;
  });
  lanes_.push_back(std::make_unique<Lane>(Lane{plan, pair, db, {}, {}, {}}));
  return *lanes_.back();
}

void Puller::List(Lane& lane) {
  if (lane.under_way || lane.queue.empty() || std::exchange(lane.listed, true)) return;
  ready_.push_back(&lane);
}

void Puller::Pump() {
  std::vector<Lane*> ready;
  ready.swap(ready_);
  bool again = false;
  for (Lane* lane : ready) {
    lane->listed = false;
    if (StartBatch(*lane)) continue;
    again = true;
    List(*lane);
  }
  if (again) wake_after_(kRetryUsec);
}

// --- batches ---

bool Puller::StartBatch(Lane& lane) {
  if (lane.under_way || lane.queue.empty()) return true;
  if (lane.plan->Relays(lane.pair)) {
    StartRelays(lane);
    return true;
  }
  const std::string why = WhyTargetRests(lane);
  if (!why.empty()) {
    FailQueue(lane, {PullOutcome::Kind::kTargetTrouble, protocol::MoveFail(why)});
    return true;
  }
  ShardConnection* source = pool_.FirstById(lane.source().id, lane.db, 2);
  if (source == nullptr || source->admission() == ShardConnection::Admission::kDown) {
    const std::string error =
        source == nullptr ? "SHARDDOWN " + Label(lane.source()) + " has left the ring" : source->DownError();
    FailQueue(lane, {PullOutcome::Kind::kSourceTrouble, error});
    return true;
  }
  if (source->admission() == ShardConnection::Admission::kFull) return false;
  if (!lane.plan->figures().gate.BeginBatch(requests_.now_usec())) return false;
  TakeBatch(lane);
  SendBatch(lane, *source);
  return true;
}

void Puller::TakeBatch(Lane& lane) {
  const bool probing = rests_.contains(lane.target().id);
  const size_t most = probing || lane.queue.front()->alone ? 1 : kMaxBatchKeys;
  while (!lane.queue.empty() && lane.batch.size() < most) {
    if (!lane.batch.empty() && lane.queue.front()->alone) break;
    lane.batch.push_back(std::move(lane.queue.front()));
    lane.queue.pop_front();
  }
}

void Puller::SendBatch(Lane& lane, ShardConnection& source) {
  std::vector<std::string_view> keys;
  int64_t timeout_ms = MigrateTimeoutMs();
  for (const EntryPtr& entry : lane.batch) {
    keys.push_back(entry->key);
    timeout_ms = std::max(timeout_ms, entry->timeout_ms);
  }
  frames_.clear();
  AppendMigrateBatch(frames_, lane.target().config, lane.db, timeout_ms, keys, true);
  lane.under_way = true;
  Request* request = requests_.NewInternal(CollectorPtr(new BatchCollector(*this, lane)));
  request->parts_pending = 1;
  source.SendBatch(request, frames_, MigrateBatchReplies(keys.size(), true));
}

int64_t Puller::MigrateTimeoutMs() const {
  const int64_t request_ms = environment_.settings.request_timeout_usec / 1000;
  return request_ms == 0 ? kMigrateTimeoutMs : std::clamp<int64_t>(request_ms / 2, 100, kMigrateTimeoutMs);
}

void Puller::OnBatch(Lane& lane, std::string_view reply) {
  lane.plan->figures().gate.EndBatch();
  const MigrateBatchResult result = ReadMigrateBatch(reply, lane.batch.size(), true);
  std::vector<EntryPtr> batch = std::move(lane.batch);
  lane.batch.clear();
  lane.under_way = false;
  lane.figures().keys_on_access.fetch_add(result.moved, std::memory_order_relaxed);
  using Verdict = MigrateBatchResult::Verdict;
  if (result.verdict == Verdict::kMoved) {
    lane.figures().keys_absent.fetch_add(batch.size() - result.found, std::memory_order_relaxed);
    lane.figures().bytes.fetch_add(result.bytes, std::memory_order_relaxed);
    if (!rests_.empty()) rests_.erase(lane.target().id);
    for (const EntryPtr& entry : batch) {
      if (plan_ == lane.plan.get()) pulled_.Add(lane.db, entry->key);
      lane.by_key.erase(entry->key);
    }
    List(lane);
    Finish(std::move(batch), {});
    return;
  }
  lane.figures().errors.fetch_add(1, std::memory_order_relaxed);
  if (TryAgainApart(lane, batch, result)) {
    List(lane);
    return;
  }
  if (result.verdict == Verdict::kTargetUnreachable) NoteFailure(lane, result.error);
  const PullOutcome outcome = OutcomeOf(lane, result);
  for (const EntryPtr& entry : batch) lane.by_key.erase(entry->key);
  // What cannot be reached now is not asked again for each that waits: every attempt takes a timeout.
  if (result.verdict != Verdict::kTargetRefused) FailQueue(lane, outcome);
  List(lane);
  Finish(std::move(batch), outcome);
}

// One key's trouble is not that of its neighbours; and a large one needs more time than others get.
bool Puller::TryAgainApart(Lane& lane, std::vector<EntryPtr>& batch, const MigrateBatchResult& result) {
  using Verdict = MigrateBatchResult::Verdict;
  const bool large = result.verdict == Verdict::kTargetUnreachable && result.bytes >= kLargeBytes;
  const bool refused = result.verdict == Verdict::kTargetRefused;
  if (batch.size() > 1 ? !large && !refused : !large || batch.front()->timeout_ms != 0) return false;
  const int64_t timeout_ms =
      batch.size() > 1 ? 0 : MigrateTimeoutMs() + static_cast<int64_t>(result.bytes / kBytesPerMs);
  for (auto entry = batch.rbegin(); entry != batch.rend(); ++entry) {
    (*entry)->alone = true;
    (*entry)->timeout_ms = timeout_ms;
    lane.queue.push_front(std::move(*entry));
  }
  batch.clear();
  return true;
}

// A key's own worker keeps others waiting, so nothing is gained by batches.
void Puller::StartRelays(Lane& lane) {
  while (!lane.queue.empty()) {
    lane.batch.push_back(std::move(lane.queue.front()));
    lane.queue.pop_front();
    // A copy: the entry may be gone before the call returns.
    const std::string key = lane.batch.back()->key;
    relay_(lane.plan, lane.pair, lane.db, key,
           [this, &lane, key](const Relay::Result& result) { OnRelayed(lane, key, result); });
  }
}

void Puller::OnRelayed(Lane& lane, const std::string& key, const Relay::Result& result) {
  const auto entry = std::find_if(lane.batch.begin(), lane.batch.end(),
                                  [&key](const EntryPtr& item) { return item->key == key; });
  std::vector<EntryPtr> ended;
  ended.push_back(std::move(*entry));
  lane.batch.erase(entry);
  lane.by_key.erase(ended.front()->key);
  MoveFigures::Pair& figures = lane.figures();
  if (result.outcome.kind != PullOutcome::Kind::kPulled) {
    figures.errors.fetch_add(1, std::memory_order_relaxed);
  } else {
    (result.moved ? figures.keys_on_access : figures.keys_absent).fetch_add(1, std::memory_order_relaxed);
    figures.bytes.fetch_add(result.bytes, std::memory_order_relaxed);
    if (plan_ == lane.plan.get()) pulled_.Add(lane.db, key);
  }
  Finish(std::move(ended), result.outcome);
}

PullOutcome Puller::OutcomeOf(const Lane& lane, const MigrateBatchResult& result) const {
  using Verdict = MigrateBatchResult::Verdict;
  if (result.verdict == Verdict::kSourceFailed) {
    // The proxy's own words name the shard already.
    const bool own = result.error.starts_with("SHARD");
    return {PullOutcome::Kind::kSourceTrouble,
            own ? result.error : protocol::MoveFail(Label(lane.source()) + ": " + result.error)};
  }
  return {PullOutcome::Kind::kTargetTrouble,
          protocol::MoveFail(Label(lane.target()) + " does not take the key: " + result.error)};
}

void Puller::FailQueue(Lane& lane, const PullOutcome& outcome) {
  std::vector<EntryPtr> failed;
  for (EntryPtr& entry : lane.queue) {
    lane.by_key.erase(entry->key);
    failed.push_back(std::move(entry));
  }
  lane.queue.clear();
  Finish(std::move(failed), outcome);
}

void Puller::Finish(std::vector<EntryPtr> entries, const PullOutcome& outcome) {
  for (const EntryPtr& entry : entries) {
    for (const Waiting& waiting : entry->waiting) {
      --waiting_;
      waiting.waiter->OnKeyPulled(*waiting.request, outcome);
    }
  }
  WakeClients();
}

void Puller::WakeClients() {
  if (clients_.empty() || waiting_ > environment_.settings.in_flight / 2) return;
  std::vector<uint64_t> clients;
  clients.swap(clients_);
  for (const uint64_t client : clients) environment_.resume_client(client);
}

// --- targets ---

std::string Puller::WhyTargetRests(const Lane& lane) {
  const uint32_t id = lane.target().id;
  ShardConnection* target = pool_.FirstById(id, lane.db, 2);
  if (target != nullptr && target->admission() == ShardConnection::Admission::kDown) {
    return target->DownError().substr(sizeof("SHARDDOWN ") - 1);
  }
  const auto found = rests_.find(id);
  if (found == rests_.end()) return "";
  Rest& rest = found->second;
  const std::string why = Label(lane.target()) + " does not take keys: " + rest.why;
  if (requests_.now_usec() < rest.until_usec) return why;
  if (rest.answered) return "";
  if (!rest.asked) Probe(id, rest);
  return why;
}

void Puller::NoteFailure(const Lane& lane, const std::string& why) {
  Rest& rest = rests_[lane.target().id];
  rest.length_usec = std::clamp(rest.length_usec * 2, kFirstRestUsec, kMaxRestUsec);
  rest.until_usec = requests_.now_usec() + rest.length_usec;
  rest.answered = false;
  rest.why = why;
  if (!rest.asked) Probe(lane.target().id, rest);
}

void Puller::Probe(uint32_t target_id, Rest& rest) {
  ShardConnection* target = pool_.FirstById(target_id, 0, 2);
  if (target == nullptr || target->admission() != ShardConnection::Admission::kOpen) return;
  rest.asked = true;
  Request* request = requests_.NewInternal(CollectorPtr(new ProbeCollector(*this, target_id)));
  request->parts_pending = 1;
  target->Send(request, 0, "*1\r\n$4\r\nPING\r\n", nullptr);
}

void Puller::OnProbe(uint32_t target_id, bool answered) {
  const auto found = rests_.find(target_id);
  if (found == rests_.end()) return;
  found->second.asked = false;
  found->second.answered = answered;
}

}  // namespace ringway::proxy
