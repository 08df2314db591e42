#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "protocol/reply_writer.h"
#include "proxy/latency_histogram.h"

namespace ringway::proxy {

// The answers of all shards to one LATENCY command made into one; each takes the shards' replies, and passes
// over what is none.

// LATEST: for each event the latest sample of any shard, and the highest of all.
void MergeLatestEvents(std::span<const std::string_view> replies, protocol::ReplyWriter& reply);

// HISTORY: the newest samples of all shards in order of time; the highest of those of one second, as a shard
// does.
void MergeHistories(std::span<const std::string_view> replies, protocol::ReplyWriter& reply);
// As many as Redis keeps for an event.
inline constexpr size_t kMaxLatencySamples = 160;

// GRAPH, DOCTOR: texts below the names of their shards, or the text when all say the same. The first error
// when there is no text. `names` and `replies` are of one length.
void MergeReports(std::span<const std::string_view> names, std::span<const std::string_view> replies,
                  protocol::ReplyWriter& reply);

// HISTOGRAM: how many samples were not above each of Redis's levels, which double from 1 microsecond on; only
// the levels at which the number grows.
struct LatencyLevel {
  uint64_t usec;
  uint64_t samples;
};
std::vector<LatencyLevel> CumulativeLevels(const LatencySummary& latency);

}  // namespace ringway::proxy
