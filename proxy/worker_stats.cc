#include "proxy/worker_stats.h"

#include <algorithm>

namespace ringway::proxy {

std::string_view NameOfCommand(size_t command_id) {
  if (command_id < protocol::kCommandCount) return protocol::AllCommands()[command_id].name;
  return command_id == WorkerStats::kRingId ? "ring" : "other";
}

void WorkerStats::NoteError(std::string_view reply) {
  if (!reply.empty() && reply.front() == '-') reply.remove_prefix(1);
  const std::string_view word = reply.substr(0, std::min(reply.find_first_of(" \r\n"), size_t{40}));
  MutexLock lock(errors_mutex_);
  const auto found = errors_.find(word);
  if (found != errors_.end()) {
    ++found->second;
  } else if (errors_.size() < kMaxErrorKinds) {
    errors_.emplace(word, 1);
  }
}

std::map<std::string, uint64_t> WorkerStats::Errors() const {
  MutexLock lock(errors_mutex_);
  return {errors_.begin(), errors_.end()};
}

void WorkerStats::Reset() {
  for (Counter* counter : {&connections_accepted, &connections_rejected, &commands, &turns, &shard_writes,
                           &client_writes, &bytes_in, &bytes_out, &input_overflows, &output_overflows,
                           &bucket_reads, &bucket_fills, &bucket_invalidations}) {
    counter->Set(0);
  }
  for (size_t i = 0; i < kCommandIds; ++i) {
    CommandStats* stats = by_command.Peek(i);
    if (stats == nullptr) continue;
    for (Counter* counter : {&stats->calls, &stats->usec, &stats->rejected, &stats->failed}) counter->Set(0);
    stats->latency.Reset();
  }
  for (size_t i = 0; i < kMaxShardIds; ++i) {
    ShardStats* stats = by_shard.Peek(i);
    if (stats == nullptr) continue;
    for (Counter* counter :
         {&stats->requests, &stats->errors, &stats->bytes_in, &stats->bytes_out, &stats->reconnects}) {
      counter->Set(0);
    }
    stats->latency.Reset();
  }
  MutexLock lock(errors_mutex_);
  errors_.clear();
}

}  // namespace ringway::proxy
