// What the shards hold: sums over those that answered.
#include <cstdio>
#include <map>

#include <unistd.h>

#include "proxy/info/info_sections.h"
#include "proxy/info/info_text.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

// Bytes of memory that this process occupies; 0 where /proc does not tell.
uint64_t ResidentBytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long size = 0;
  unsigned long resident = 0;
  const int read = std::fscanf(file, "%lu %lu", &size, &resident);
  std::fclose(file);
  return read == 2 ? resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

void SumAndHuman(const InfoFacts& facts, InfoText& text, std::string_view name) {
  const uint64_t sum = facts.Sum(name);
  text.Field(name, sum);
  text.Human(std::string(name) + "_human", sum);
}

// One shard without a limit means that there is none for all of them: 0, as Redis tells it.
uint64_t MaxMemory(const InfoFacts& facts) {
  return facts.CountWhere("maxmemory", "0") > 0 ? 0 : facts.Sum("maxmemory");
}

// "ok" unless a shard says otherwise.
std::string_view Status(const InfoFacts& facts, std::string_view field) {
  return facts.CountWhere(field, "err") > 0 ? "err" : "ok";
}

}  // namespace

// People look here for the dataset's size, so the names that Redis has are the shards' sums; the proxy's own
// memory goes by names of its own.
void WriteMemory(const InfoFacts& facts, std::string& out) {
  InfoText text(out);
  for (const std::string_view name : {"used_memory", "used_memory_rss", "used_memory_peak"}) {
    SumAndHuman(facts, text, name);
  }
  for (const std::string_view name :
       {"used_memory_overhead", "used_memory_startup", "used_memory_dataset", "used_memory_lua",
        "used_memory_scripts", "number_of_cached_scripts", "mem_clients_normal"}) {
    text.Field(name, facts.Sum(name));
  }
  const uint64_t max = MaxMemory(facts);
  text.Field("maxmemory", max);
  text.Human("maxmemory_human", max);
  text.Field("maxmemory_policy", facts.Agreed("maxmemory_policy"));
  const uint64_t used = facts.Sum("used_memory");
  text.Decimal("mem_fragmentation_ratio",
               used == 0 ? 0 : static_cast<double>(facts.Sum("used_memory_rss")) / static_cast<double>(used),
               2);
  text.Field("mem_allocator", facts.Agreed("mem_allocator"));
  text.Field("lazyfree_pending_objects", facts.Sum("lazyfree_pending_objects"));
  text.Field("lazyfreed_objects", facts.Sum("lazyfreed_objects"));
  const uint64_t resident = ResidentBytes();
  text.Field("ringway_memory_rss", resident);
  text.Human("ringway_memory_rss_human", resident);
  text.Field("ringway_memory_buffers", Total(facts.state, &WorkerStats::block_bytes));
}

// loading is the proxy's: a library that finds 1 here waits with all its keys, though only those of one shard
// are not to be had. The shards' go by a name of their own.
void WritePersistence(const InfoFacts& facts, std::string& out) {
  InfoText text(out);
  text.Field("loading", 0);
  text.Field("shards_loading", facts.Sum("loading"));
  text.Field("async_loading", facts.Max("async_loading"));
  text.Field("rdb_changes_since_last_save", facts.Sum("rdb_changes_since_last_save"));
  text.Field("rdb_bgsave_in_progress", facts.Max("rdb_bgsave_in_progress"));
  uint64_t oldest = 0;
  for (const ShardReport& shard : facts.shards) {
    if (!shard.info.has_value()) continue;
    const uint64_t saved = shard.info->Number("rdb_last_save_time");
    if (oldest == 0 || saved < oldest) oldest = saved;
  }
  text.Field("rdb_last_save_time", oldest);
  text.Field("rdb_last_bgsave_status", Status(facts, "rdb_last_bgsave_status"));
  text.Field("rdb_saves", facts.Sum("rdb_saves"));
  text.Field("aof_enabled", facts.Max("aof_enabled"));
  text.Field("aof_rewrite_in_progress", facts.Max("aof_rewrite_in_progress"));
  text.Field("aof_rewrite_scheduled", facts.Max("aof_rewrite_scheduled"));
  text.Field("aof_last_bgrewrite_status", Status(facts, "aof_last_bgrewrite_status"));
  text.Field("aof_rewrites", facts.Sum("aof_rewrites"));
  text.Field("aof_last_write_status", Status(facts, "aof_last_write_status"));
}

void WriteStats(const InfoFacts& facts, std::string& out) {
  const InfoRates& rates = facts.state.rates;
  uint64_t errors = 0;
  for (const Worker* worker : facts.state.workers) {
    for (const auto& [code, count] : worker->stats().Errors()) errors += count;
  }
  const auto kilobytes = [](const RateSampler& rate) { return static_cast<double>(rate.PerSecond()) / 1024; };
  InfoText text(out);
  text.Field("total_connections_received", Total(facts.state, &WorkerStats::connections_accepted));
  text.Field("total_commands_processed", Total(facts.state, &WorkerStats::commands));
  text.Field("instantaneous_ops_per_sec", rates.commands.PerSecond());
  text.Field("total_net_input_bytes", Total(facts.state, &WorkerStats::bytes_in));
  text.Field("total_net_output_bytes", Total(facts.state, &WorkerStats::bytes_out));
  text.Decimal("instantaneous_input_kbps", kilobytes(rates.bytes_in), 2);
  text.Decimal("instantaneous_output_kbps", kilobytes(rates.bytes_out), 2);
  text.Field("rejected_connections", Total(facts.state, &WorkerStats::connections_rejected));
  for (const std::string_view name :
       {"expired_keys", "expired_time_cap_reached_count", "evicted_keys", "keyspace_hits", "keyspace_misses",
        "evicted_clients", "sync_full", "sync_partial_ok", "sync_partial_err", "total_forks",
        "active_defrag_hits", "active_defrag_misses", "active_defrag_key_hits", "active_defrag_key_misses"}) {
    text.Field(name, facts.Sum(name));
  }
  for (const std::string_view name :
       {"pubsub_channels", "pubsub_patterns", "pubsubshard_channels", "tracking_total_keys"}) {
    text.Field(name, 0);
  }
  text.Field("latest_fork_usec", facts.Max("latest_fork_usec"));
  text.Field("total_error_replies", errors);
  text.Field("client_query_buffer_limit_disconnections", Total(facts.state, &WorkerStats::input_overflows));
  text.Field("client_output_buffer_limit_disconnections", Total(facts.state, &WorkerStats::output_overflows));
}

void WriteKeyspace(const InfoFacts& facts, std::string& out) {
  std::map<uint32_t, DbFacts> databases;
  std::map<uint32_t, double> ttl_sums;
  for (const ShardReport& shard : facts.shards) {
    if (!shard.info.has_value()) continue;
    for (const auto& [number, told] : shard.info->databases()) {
      databases[number].keys += told.keys;
      databases[number].expires += told.expires;
      ttl_sums[number] += static_cast<double>(told.avg_ttl) * static_cast<double>(told.expires);
    }
  }
  for (const auto& [number, sum] : databases) {
    // A mean over the keys that expire, wherever they are.
    const double ttl = sum.expires == 0 ? 0 : ttl_sums[number] / static_cast<double>(sum.expires);
    InfoLine("db" + std::to_string(number))
        .Add("keys", sum.keys)
        .Add("expires", sum.expires)
        .Add("avg_ttl", FormatDecimal(ttl, 0))
        .EndInto(out);
  }
}

}  // namespace ringway::proxy
