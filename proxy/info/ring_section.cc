// The ring: who owns how much of it, what it is asked for, and how the shards do.
#include <algorithm>
#include <charconv>
#include <vector>

#include "proxy/info/info_sections.h"
#include "proxy/info/info_text.h"

namespace ringway::proxy {
namespace {

// Each shard's part of the requests of the last seconds; of all since the start when there were none. 0
// before the first request.
std::vector<double> RequestShares(const std::vector<ShardFigures>& figures) {
  std::vector<double> shares;
  for (const auto member : {&ShardFigures::recent_requests, &ShardFigures::requests}) {
    uint64_t total = 0;
    for (const ShardFigures& shard : figures) total += shard.*member;
    shares.clear();
    for (const ShardFigures& shard : figures) {
      shares.push_back(total == 0 ? 0 : static_cast<double>(shard.*member) / static_cast<double>(total));
    }
    if (total > 0) break;
  }
  return shares;
}

// The most loaded shard's requests relative to what its weight asks for.
double LoadMaxOverMean(const Topology& topology, const std::vector<double>& shares) {
  double max = 0;
  for (uint32_t i = 0; i < shares.size(); ++i) {
    const double wanted = topology.WantedShare(i);
    if (wanted > 0) max = std::max(max, shares[i] / wanted);
  }
  return max;
}

// The shortest text that is read back as the same number: "1", "0.5".
std::string ShortNumber(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return std::string(text, static_cast<size_t>(end - text));
}

void WriteShard(const InfoFacts& facts, uint32_t index, const ShardFigures& figures, double request_share,
                std::string& out) {
  const Shard& shard = facts.topology->shards[index];
  const ShardReport& report = facts.shards[index];
  InfoLine line("shard" + std::to_string(index));
  line.Add("name", shard.config.name)
      .Add("addr", shard.config.address)
      .Add("state", report.up ? "up" : "down")
      .Add("weight", ShortNumber(shard.config.weight))
      .Add("points", facts.topology->Points(index))
      .Decimal("share", facts.topology->Share(index), 4)
      .Decimal("share_wanted", facts.topology->WantedShare(index), 4);
  // What nobody told is left out: a 0 would be taken for a figure.
  if (report.info.has_value()) {
    line.Add("keys", report.info->keys()).Add("used_memory", report.info->Number("used_memory"));
  }
  line.Add("requests", figures.requests)
      .Decimal("request_share", request_share, 4)
      .Add("errors", figures.errors)
      .Add("in_flight", figures.in_flight)
      .Add("latency_usec_p50", figures.latency.Percentile(0.5))
      .Add("latency_usec_p99", figures.latency.Percentile(0.99))
      .EndInto(out);
}

}  // namespace

void WriteRing(const InfoFacts& facts, std::string& out) {
  const ring::HashRing& ring = facts.topology->ring;
  std::vector<ShardFigures> figures;
  for (const Shard& shard : facts.topology->shards) figures.push_back(FiguresOfShard(facts.state, shard.id));
  const std::vector<double> shares = RequestShares(figures);
  InfoText text(out);
  text.Field("ring_epoch", facts.topology->epoch);
  text.Field("ring_distribution", ring::Name(ring.options().distribution));
  text.Field("ring_hash", ring::Name(ring.options().hash));
  text.Field("ring_virtual_nodes", ring.options().virtual_nodes);
  text.Field("ring_points", ring.total_points());
  text.Field("ring_shards", facts.topology->shards.size());
  text.Field("ring_shards_up", std::count_if(facts.shards.begin(), facts.shards.end(),
                                             [](const ShardReport& shard) { return shard.up; }));
  text.Decimal("ring_share_max_over_mean", ring.balance().max_over_mean, 4);
  text.Decimal("ring_share_min_over_mean", ring.balance().min_over_mean, 4);
  text.Decimal("ring_share_stddev", ring.balance().stddev, 4);
  text.Decimal("ring_load_max_over_mean", LoadMaxOverMean(*facts.topology, shares), 4);
  for (uint32_t i = 0; i < figures.size(); ++i) WriteShard(facts, i, figures[i], shares[i], out);
}

}  // namespace ringway::proxy
