#include "proxy/control/move_sides.h"

#include <algorithm>
#include <utility>

namespace ringway::proxy {
namespace {

bool Names(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const Shard* FindByName(const std::vector<Shard>& shards, const std::string& name) {
  const auto found = std::find_if(shards.begin(), shards.end(),
                                  [&name](const Shard& shard) { return shard.config.name == name; });
  return found == shards.end() ? nullptr : &*found;
}

}  // namespace

SavedMove MoveSides::ToSaved(SavedMove::Phase phase, const MigrationReport& report) const {
  SavedMove saved;
  saved.phase = phase;
  saved.from = proxy::ToSaved(from);
  saved.to = proxy::ToSaved(to);
  saved.given_up = given_up;
  saved.replaced = replaced;
  saved.report = report;
  return saved;
}

std::shared_ptr<const MovePlan> MakePlan(ProxyState& state, uint64_t id, const MoveSides& sides,
                                         std::string* problem) {
  const auto config = state.config();
  std::vector<Shard> from = state.Identify(sides.from);
  std::vector<config::ShardConfig> wanted = sides.to;
  std::sort(wanted.begin(), wanted.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::vector<Shard> to;
  for (auto& shard : wanted) {
    const Shard* known = Names(sides.replaced, shard.name) ? nullptr : FindByName(from, shard.name);
    std::optional<uint32_t> shard_id;
    shard_id = known != nullptr ? known->id : state.NewShardId();
    if (!shard_id.has_value()) {
      *problem = "this process has seen as many shards as it can tell apart: restart it first";
      return nullptr;
    }
    to.push_back({*shard_id, std::move(shard)});
  }
  ring::HashRing from_ring = RingOf(from, config->ring);
  ring::HashRing to_ring = RingOf(to, config->ring);
  if (const auto unlike = ring::RingDiff::CheckComparable(from_ring, to_ring)) {
    *problem = *unlike;
    return nullptr;
  }
  std::vector<uint32_t> given_up;
  for (const Shard& shard : from) {
    if (Names(sides.given_up, shard.config.name)) given_up.push_back(shard.id);
  }
  return std::make_shared<const MovePlan>(id, std::move(from), std::move(from_ring), std::move(to),
                                          std::move(to_ring), given_up, config->migration.mover);
}

std::shared_ptr<const MovePlan> ReversedPlan(const MovePlan& plan) {
  return std::make_shared<const MovePlan>(plan.id(), plan.to(), plan.diff().to(), plan.from(),
                                          plan.diff().from(), std::vector<uint32_t>(), plan.mover());
}

std::vector<Shard> ServersOf(const MovePlan& plan) {
  std::vector<Shard> servers = plan.Joining();
  for (uint32_t i = 0; i < plan.from().size(); ++i) {
    if (!plan.IsGivenUp(i)) servers.push_back(plan.from()[i]);
  }
  return servers;
}

void EstimateRemaining(const ShardBoard& board, const MovePlan& plan) {
  for (size_t i = 0; i < plan.pairs().size(); ++i) {
    const MovePlan::Pair& pair = plan.pairs()[i];
    const double share = plan.diff().from().Share(pair.from);
    if (share <= 0) continue;
    const auto keys = static_cast<double>(board.Get(plan.from()[pair.from].id).keys);
    plan.figures().pairs[i].remaining.store(static_cast<int64_t>(keys * pair.share / share),
                                            std::memory_order_relaxed);
  }
}

}  // namespace ringway::proxy
