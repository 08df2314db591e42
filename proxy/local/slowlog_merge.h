#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "protocol/reply_writer.h"

namespace ringway::proxy {

// One shard's answer to SLOWLOG GET.
struct SlowlogPart {
  uint32_t shard_id;  // Shard::id
  std::string_view reply;
};

// The `count` newest entries of all shards, the newest first. Shards count their entries each for itself, so
// an entry's id becomes id * WorkerStats::kMaxShardIds + shard id: no two are alike, and it stays the same
// from call to call, also when shards come and go. Entries that are none are left out.
void MergeSlowlogs(std::span<const SlowlogPart> parts, size_t count, protocol::ReplyWriter& reply);

}  // namespace ringway::proxy
