#include "proxy/control/ring_forecast.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace ringway::proxy {
namespace {

bool Names(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The servers after the changes; those that are new get ids that nothing else has here.
std::vector<Shard> ShardsAfter(const std::vector<Shard>& before, const ChangedShards& after) {
  uint32_t fresh_id = 0;
  for (const Shard& shard : before) fresh_id = std::max(fresh_id, shard.id + 1);
  std::vector<Shard> shards;
  for (const config::ShardConfig& config : after.shards) {
    const auto known = std::find_if(before.begin(), before.end(), [&config](const Shard& shard) {
      return shard.config.name == config.name;
    });
    const bool stays = known != before.end() && !Names(after.replaced, config.name);
    shards.push_back({stays ? known->id : fresh_id++, config});
  }
  std::sort(shards.begin(), shards.end(),
            [](const Shard& a, const Shard& b) { return a.config.name < b.config.name; });
  return shards;
}

// What the servers' wanted shares lose. A server that is replaced loses all of its own.
double LeastPossibleShare(const MovePlan& plan) {
  double least = 0;
  for (uint32_t from = 0; from < plan.from().size(); ++from) {
    if (plan.IsGivenUp(from)) continue;
    const uint32_t to = plan.diff().NewIndex(from);
    const bool stays = to != ring::HashRing::kNoShard && plan.from()[from].id == plan.to()[to].id;
    const double kept = stays ? plan.diff().to().WantedShare(to) : 0;
    least += std::max(plan.diff().from().WantedShare(from) - kept, 0.0);
  }
  return least;
}

struct PairEstimate {
  const MovePlan::Pair& pair;
  uint64_t keys = 0;
  uint64_t bytes = 0;
};

std::vector<PairEstimate> Estimate(const MovePlan& plan, std::span<const std::optional<ShardLoad>> loads) {
  std::vector<PairEstimate> estimates;
  for (const MovePlan::Pair& pair : plan.pairs()) {
    PairEstimate& estimate = estimates.emplace_back(PairEstimate{pair});
    const double share = plan.diff().from().Share(pair.from);
    if (!loads[pair.from] || share <= 0) continue;
    const double part = std::min(pair.share / share, 1.0);
    estimate.keys = static_cast<uint64_t>(std::llround(static_cast<double>(loads[pair.from]->keys) * part));
    estimate.bytes = static_cast<uint64_t>(std::llround(static_cast<double>(loads[pair.from]->bytes) * part));
  }
  return estimates;
}

class Writer {
 public:
  explicit Writer(protocol::ReplyWriter& reply) : reply_(reply) {}

  void Text(std::string_view key, std::string_view value) {
    reply_.Bulk(key);
    reply_.Bulk(value);
  }
  void Number(std::string_view key, uint64_t value) {
    reply_.Bulk(key);
    reply_.Integer(static_cast<int64_t>(value));
  }
  void Number(std::string_view key, double value) {
    reply_.Bulk(key);
    reply_.Double(value);
  }
  void Names(std::string_view key, const std::vector<std::string>& names) {
    reply_.Bulk(key);
    reply_.Array(names.size());
    for (const std::string& name : names) reply_.Bulk(name);
  }
  void Moves(const MovePlan& plan, const std::vector<PairEstimate>& estimates) {
    reply_.Bulk("moves");
    reply_.Array(estimates.size());
    for (const PairEstimate& estimate : estimates) {
      reply_.Map(5);
      Text("from", plan.from()[estimate.pair.from].config.name);
      Text("to", plan.to()[estimate.pair.to].config.name);
      Number("share", estimate.pair.share);
      Number("keys", estimate.keys);
      Number("bytes", estimate.bytes);
    }
  }
  void Balance(std::string_view key, const ring::HashRing::Balance& balance) {
    reply_.Bulk(key);
    reply_.Map(3);
    Number("max_over_mean", balance.max_over_mean);
    Number("min_over_mean", balance.min_over_mean);
    Number("stddev", balance.stddev);
  }
  void ShardsAfter(const ring::HashRing& ring) {
    reply_.Bulk("shards_after");
    reply_.Array(ring.members().size());
    for (uint32_t i = 0; i < ring.members().size(); ++i) {
      reply_.Map(3);
      Text("name", ring.members()[i].name);
      Number("share", ring.Share(i));
      Number("share_wanted", ring.WantedShare(i));
    }
  }

 private:
  protocol::ReplyWriter& reply_;
};

}  // namespace

RingForecast Forecast(const Topology& before, const ChangedShards& after, const ring::RingOptions& options) {
  std::vector<Shard> to = ShardsAfter(before.shards, after);
  std::vector<uint32_t> given_up;
  for (const Shard& shard : before.shards) {
    if (Names(after.given_up, shard.config.name)) given_up.push_back(shard.id);
  }
  ring::HashRing ring = RingOf(to, options);
  RingForecast forecast;
  forecast.plan = std::make_shared<const MovePlan>(0, before.shards, before.ring, std::move(to),
                                                   std::move(ring), given_up, config::Mover::kMigrate);
  forecast.least_possible_share = LeastPossibleShare(*forecast.plan);
  return forecast;
}

void WriteForecast(const RingForecast& forecast, std::span<const std::optional<ShardLoad>> loads,
                   protocol::ReplyWriter& reply) {
  const MovePlan& plan = *forecast.plan;
  const std::vector<PairEstimate> estimates = Estimate(plan, loads);
  uint64_t keys = 0;
  uint64_t bytes = 0;
  for (const PairEstimate& estimate : estimates) {
    keys += estimate.keys;
    bytes += estimate.bytes;
  }
  std::vector<std::string> silent;
  std::vector<std::string> given_up;
  for (uint32_t i = 0; i < plan.from().size(); ++i) {
    const std::string& name = plan.from()[i].config.name;
    if (plan.IsGivenUp(i)) {
      given_up.push_back(name);
    } else if (!loads[i]) {
      silent.push_back(name);
    }
  }
  Writer writer(reply);
  reply.Map(10);
  writer.Number("moving_share", plan.moving_share());
  writer.Number("least_possible_share", forecast.least_possible_share);
  writer.Number("keys", keys);
  writer.Number("bytes", bytes);
  writer.Moves(plan, estimates);
  writer.Balance("balance_before", plan.diff().from().balance());
  writer.Balance("balance_after", plan.diff().to().balance());
  writer.ShardsAfter(plan.diff().to());
  writer.Names("not_estimated", silent);
  writer.Names("given_up", given_up);
}

}  // namespace ringway::proxy
