// Sections that Redis does not have, but for the ring's.
#include "proxy/info/info_sections.h"
#include "proxy/info/info_text.h"
#include "proxy/worker.h"

namespace ringway::proxy {

// No key is spread over several shards.
void WriteHotKeys(const InfoFacts&, std::string& out) {
  InfoText text(out);
  for (const std::string_view name :
       {"hotkeys_tracked", "hotkeys_spread", "hotkey_bucket_reads", "hotkey_fills", "hotkey_invalidations"}) {
    text.Field(name, 0);
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
