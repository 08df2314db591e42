#include "proxy/info/info_facts.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "protocol/command_table.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

// Major, minor and patch, for comparing; parts that are no numbers count as 0.
std::array<int, 3> VersionNumbers(std::string_view version) {
  std::array<int, 3> numbers{};
  const char* at = version.data();
  const char* const end = at + version.size();
  for (int& number : numbers) {
    at = std::from_chars(at, end, number).ptr;
    if (at == end || *at != '.') break;
    ++at;
  }
  return numbers;
}

}  // namespace

uint64_t InfoFacts::Sum(std::string_view field) const {
  uint64_t sum = 0;
  for (const ShardReport& shard : shards) {
    if (shard.info.has_value()) sum += shard.info->Number(field);
  }
  return sum;
}

uint64_t InfoFacts::Max(std::string_view field) const {
  uint64_t max = 0;
  for (const ShardReport& shard : shards) {
    if (shard.info.has_value()) max = std::max(max, shard.info->Number(field));
  }
  return max;
}

size_t InfoFacts::CountWhere(std::string_view field, std::string_view value) const {
  return static_cast<size_t>(std::count_if(shards.begin(), shards.end(), [&](const ShardReport& shard) {
    return shard.info.has_value() && shard.info->Text(field) == value;
  }));
}

std::string InfoFacts::Agreed(std::string_view field) const {
  std::string_view agreed;
  for (const ShardReport& shard : shards) {
    const std::string_view told = shard.info.has_value() ? shard.info->Text(field) : std::string_view();
    if (told.empty()) continue;
    if (!agreed.empty() && told != agreed) return "mixed";
    agreed = told;
  }
  return std::string(agreed);
}

std::string InfoFacts::RedisVersion() const {
  std::string oldest;
  for (size_t i = 0; i < topology->shards.size(); ++i) {
    std::string version = state.board.Get(topology->shards[i].id).redis_version;
    if (i < shards.size() && shards[i].info.has_value()) version = shards[i].info->Text("redis_version");
    if (version.empty()) continue;
    if (oldest.empty() || VersionNumbers(version) < VersionNumbers(oldest)) oldest = version;
  }
  return oldest;
}

uint64_t Total(const ProxyState& state, Counter WorkerStats::*counter) {
  uint64_t total = 0;
  for (const Worker* worker : state.workers) total += (worker->stats().*counter).Get();
  return total;
}

void SampleRates(ProxyState& state, int64_t now_usec) {
  state.rates.commands.Sample(Total(state, &WorkerStats::commands), now_usec);
  state.rates.bytes_in.Sample(Total(state, &WorkerStats::bytes_in), now_usec);
  state.rates.bytes_out.Sample(Total(state, &WorkerStats::bytes_out), now_usec);
  for (const Shard& shard : state.topology()->shards) {
    uint64_t requests = 0;
    for (const Worker* worker : state.workers) {
      if (const ShardStats* stats = worker->stats().by_shard.Peek(shard.id))
        requests += stats->requests.Get();
    }
    state.shard_rates.At(shard.id).Sample(requests, now_usec);
  }
}

ShardFigures FiguresOfShard(const ProxyState& state, uint32_t shard_id) {
  ShardFigures figures;
  if (const RateSampler* rate = state.shard_rates.Peek(shard_id)) figures.recent_requests = rate->Recent();
  for (const Worker* worker : state.workers) {
    const ShardStats* stats = worker->stats().by_shard.Peek(shard_id);
    if (stats == nullptr) continue;
    figures.requests += stats->requests.Get();
    figures.errors += stats->errors.Get();
    figures.in_flight += stats->in_flight.Get();
    figures.latency.Add(stats->latency);
  }
  return figures;
}

CommandFigures FiguresOfCommand(const ProxyState& state, size_t command_id) {
  CommandFigures figures;
  for (const Worker* worker : state.workers) {
    const CommandStats* stats = worker->stats().by_command.Peek(command_id);
    if (stats == nullptr) continue;
    figures.calls += stats->calls.Get();
    figures.usec += stats->usec.Get();
    figures.rejected += stats->rejected.Get();
    figures.failed += stats->failed.Get();
    figures.latency.Add(stats->latency);
  }
  return figures;
}

}  // namespace ringway::proxy
