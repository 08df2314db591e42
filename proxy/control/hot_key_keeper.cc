#include "proxy/control/hot_key_keeper.h"

#include <algorithm>

#include "proxy/log.h"
#include "proxy/worker.h"

namespace ringway::proxy {

namespace {

constexpr int64_t kUsecPerMs = 1000;

// Without the key itself: bucket 1 and up.
std::vector<uint32_t> ShardsOfBuckets(const Topology& topology, uint64_t hash, uint32_t buckets) {
  std::vector<uint32_t> members;
  topology.ring.Successors(hash, buckets, &members);
  std::vector<uint32_t> ids;
  for (size_t i = 1; i < members.size(); ++i) ids.push_back(topology.shards[members[i]].id);
  return ids;
}

bool HasBuckets(const HotPlacement& placement, const std::vector<uint32_t>& shard_ids) {
  return std::equal(placement.buckets.begin(), placement.buckets.end(), shard_ids.begin(), shard_ids.end(),
                    [](const auto& bucket, uint32_t id) { return bucket->shard_id == id; });
}

}  // namespace

HotKeyKeeper::HotKeyKeeper(ProxyState& state, EventLoop& loop)
    : state_(state),
      loop_(loop),
      links_{loop, state.resolver, state.connection_name_stem(), state.connection_name_prefix(), {}},
      published_(std::make_shared<HotSet>()) {}

void HotKeyKeeper::PostReport(uint32_t worker, KeyReport report) {
  loop_.Post([this, worker, report = std::move(report)]() mutable {
    reports_.resize(state_.workers.size());
    reports_[worker] = std::move(report);
  });
}

void HotKeyKeeper::Tick() {
  if (loop_.now_usec() < next_round_usec_) return;
  next_round_usec_ = loop_.now_usec() + HotKeyJudge::kReportUsec;
  Decide();
}

void HotKeyKeeper::Decide() {
  const std::shared_ptr<const Topology> topology = state_.topology();
  const std::vector<ring::Member>& members = topology->ring.members();
  const auto shards = static_cast<uint32_t>(std::count_if(
      members.begin(), members.end(), [](const ring::Member& member) { return member.weight > 0; }));
  const std::vector<HotKeyJudge::Verdict> verdicts =
      judge_.Decide(reports_, shards, state_.config()->hot_keys);
  std::map<DbKey, std::shared_ptr<HotPlacement>> hot;
  auto tracked = std::make_shared<std::vector<TrackedKey>>();
  for (const HotKeyJudge::Verdict& verdict : verdicts) {
    TrackedKey entry{verdict.db, verdict.key, verdict.rate, verdict.share, nullptr};
    DbKey key(verdict.db, verdict.key);
    if (verdict.buckets > 1) entry.placement = PlacementOf(key, verdict.buckets);
    if (entry.placement != nullptr) hot.emplace(std::move(key), entry.placement);
    tracked->push_back(std::move(entry));
  }
  for (const auto& [key, placement] : hot_) {
    if (hot.contains(key)) continue;
    placement->key->Retire();
    LogDebug("a hot key has cooled");
  }
  hot_ = std::move(hot);
  placed_on_ = topology->holding() ? nullptr : topology;
  state_.hot_keys.Set(std::move(tracked));
  Publish();
}

std::shared_ptr<HotPlacement> HotKeyKeeper::PlacementOf(const DbKey& key, uint32_t buckets) {
  const std::shared_ptr<const Topology> topology = state_.topology();
  const auto known = hot_.find(key);
  const std::shared_ptr<HotPlacement> before = known == hot_.end() ? nullptr : known->second;
  // Owners are about to change: whoever has buckets keeps them until it is known.
  if (before != nullptr && topology->holding()) return before;
  if (before != nullptr && topology == placed_on_ && before->buckets.size() + 1 == buckets) return before;
  const uint64_t hash = topology->ring.Hash(key.second);
  const std::vector<uint32_t> shard_ids = ShardsOfBuckets(*topology, hash, buckets);
  if (before != nullptr && HasBuckets(*before, shard_ids)) return before;
  if (shard_ids.empty()) return nullptr;
  std::shared_ptr<HotKey> hot_key =
      before == nullptr ? std::make_shared<HotKey>(key.first, key.second, state_.workers.size())
                        : before->key;
  return std::make_shared<HotPlacement>(std::move(hot_key), hash, shard_ids);
}

void HotKeyKeeper::Publish() {
  auto set = std::make_shared<HotSet>();
  for (const auto& [key, placement] : hot_) set->keys.push_back(placement);
  if (set->keys == published_->keys) return;
  published_ = set;
  for (Worker* worker : state_.workers) worker->PostHotSet(published_);
}

void HotKeyKeeper::OnTopology(const Topology& topology) {
  if (topology.holding()) return;
  for (auto& [key, placement] : hot_) {
    const auto buckets = static_cast<uint32_t>(placement->buckets.size() + 1);
    if (auto placed = PlacementOf(key, buckets)) placement = std::move(placed);
  }
  Publish();
}

// --- fences ---

void HotKeyKeeper::PostFence(uint32_t worker, std::vector<LostConnection> lost) {
  loop_.Post([this, worker, lost = std::move(lost)] { RunFence(worker, lost); });
}

void HotKeyKeeper::RunFence(uint32_t worker, const std::vector<LostConnection>& lost) {
  const std::shared_ptr<const Topology> topology = state_.topology();
  std::vector<Shard> servers;
  for (const Shard& shard : topology->shards) {
    const bool concerned = std::any_of(lost.begin(), lost.end(),
                                       [&](const LostConnection& one) { return one.shard_id == shard.id; });
    if (concerned) servers.push_back(shard);
  }
  // Servers that have left hold no keys of the ring.
  std::vector<LostConnection> gone = lost;
  std::erase_if(gone, [&](const LostConnection& one) {
    return std::any_of(servers.begin(), servers.end(),
                       [&](const Shard& shard) { return shard.id == one.shard_id; });
  });
  if (!gone.empty()) state_.workers[worker]->PostFenced(std::move(gone));
  if (servers.empty()) return;
  Fence* fence = fences_.emplace_back(std::make_unique<Fence>(links_)).get();
  fence->Start(servers, lost, state_.config()->timeouts.connect_ms * kUsecPerMs,
               [this, fence, worker, lost](const std::vector<Fence::Verdict>& verdicts) {
                 OnFenced(worker, lost, verdicts);
                 std::erase_if(fences_, [fence](const auto& item) { return item.get() == fence; });
               });
}

void HotKeyKeeper::OnFenced(uint32_t worker, const std::vector<LostConnection>& lost,
                            const std::vector<Fence::Verdict>& verdicts) {
  std::vector<LostConnection> ended;
  for (const LostConnection& one : lost) {
    const bool over = std::any_of(verdicts.begin(), verdicts.end(), [&](const Fence::Verdict& verdict) {
      return verdict.shard_id == one.shard_id && verdict.outcome != Fence::Outcome::kUnanswered;
    });
    if (over) ended.push_back(one);
  }
  if (!ended.empty()) state_.workers[worker]->PostFenced(std::move(ended));
}

}  // namespace ringway::proxy
