// Sections that Redis does not have, but for the ring's.
#include <algorithm>
#include <vector>

#include "proxy/info/info_sections.h"
#include "proxy/info/info_text.h"
#include "proxy/worker.h"

namespace ringway::proxy {

namespace {

// Of keys, in INFO; RING HOTKEYS tells more.
constexpr size_t kMaxHotKeyLines = 16;

}  // namespace

void WriteHotKeys(const InfoFacts& facts, std::string& out) {
  const auto tracked = facts.state.hot_keys.Get();
  std::vector<const TrackedKey*> keys;
  for (const TrackedKey& key : *tracked) keys.push_back(&key);
  const auto first_other = std::stable_partition(keys.begin(), keys.end(),
                                                 [](const TrackedKey* key) { return key->buckets() > 1; });
  InfoText text(out);
  text.Field("hotkeys_tracked", keys.size());
  text.Field("hotkeys_spread", first_other - keys.begin());
  text.Field("hotkey_bucket_reads", Total(facts.state, &WorkerStats::bucket_reads));
  text.Field("hotkey_fills", Total(facts.state, &WorkerStats::bucket_fills));
  text.Field("hotkey_invalidations", Total(facts.state, &WorkerStats::bucket_invalidations));
  for (size_t i = 0; i < std::min(keys.size(), kMaxHotKeyLines); ++i) {
    const TrackedKey& key = *keys[i];
    InfoLine("hotkey" + std::to_string(i))
        .Add("key", EscapeBytes(key.key))
        .Decimal("rate", key.rate, 1)
        .Decimal("share", key.share, 4)
        .Add("buckets", key.buckets())
        .Add("bucket_hits", key.bucket_hits())
        .Add("db", key.db)
        .EndInto(out);
  }
}

void WriteWorkers(const InfoFacts& facts, std::string& out) {
  for (const Worker* worker : facts.state.workers) {
    const WorkerStats& stats = worker->stats();
    InfoLine("worker" + std::to_string(worker->index()))
        .Add("clients", stats.clients.Get())
        .Add("commands", stats.commands.Get())
        .Add("batches", stats.turns.Get())
        .Add("bytes_in", stats.bytes_in.Get())
        .Add("bytes_out", stats.bytes_out.Get())
        .Add("shard_writes", stats.shard_writes.Get())
        .Add("client_writes", stats.client_writes.Get())
        .Add("block_bytes", stats.block_bytes.Get())
        .EndInto(out);
  }
}

}  // namespace ringway::proxy
