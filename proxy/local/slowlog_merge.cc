#include "proxy/local/slowlog_merge.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "protocol/reply_cursor.h"
#include "proxy/worker_stats.h"

namespace ringway::proxy {
namespace {

struct Entry {
  int64_t id;
  int64_t time;  // seconds since 1970
  size_t elements;
  std::string_view rest;  // what follows id and time, as the shard wrote it
};

std::optional<Entry> ParseEntry(std::string_view reply, uint32_t shard_id) {
  protocol::ReplyCursor cursor(reply);
  std::string_view element;
  if (cursor.length() < 2 || !cursor.Next(&element)) return std::nullopt;
  const std::optional<int64_t> id = protocol::IntegerOf(element);
  if (!cursor.Next(&element)) return std::nullopt;
  const std::optional<int64_t> time = protocol::IntegerOf(element);
  if (!id.has_value() || !time.has_value()) return std::nullopt;
  // Unsigned, since a shard may say anything.
  const uint64_t unique = static_cast<uint64_t>(*id) * WorkerStats::kMaxShardIds + shard_id;
  return Entry{static_cast<int64_t>(unique), *time, static_cast<size_t>(cursor.length()), cursor.rest()};
}

}  // namespace

void MergeSlowlogs(std::span<const SlowlogPart> parts, size_t count, protocol::ReplyWriter& reply) {
  std::vector<Entry> entries;
  for (const SlowlogPart& part : parts) {
    protocol::ReplyCursor cursor(part.reply);
    std::string_view element;
    while (cursor.Next(&element)) {
      if (const auto entry = ParseEntry(element, part.shard_id)) entries.push_back(*entry);
    }
  }
  // Times are whole seconds: within one a shard's own order stays.
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.time > b.time; });
  if (entries.size() > count) entries.resize(count);
  reply.Array(entries.size());
  for (const Entry& entry : entries) {
    reply.Array(entry.elements);
    reply.Integer(entry.id);
    reply.Integer(entry.time);
    reply.Raw(entry.rest);
  }
}

}  // namespace ringway::proxy
