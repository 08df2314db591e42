#include "proxy/local/latency_merge.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>

#include "protocol/reply_cursor.h"

namespace ringway::proxy {
namespace {

struct Event {
  int64_t time = 0;
  int64_t latest = 0;
  int64_t highest = 0;
};

// The next `values.size()` elements as integers.
template <size_t kSize>
bool TakeIntegers(protocol::ReplyCursor& cursor, std::array<int64_t, kSize>& values) {
  for (int64_t& value : values) {
    std::string_view element;
    if (!cursor.Next(&element)) return false;
    const std::optional<int64_t> integer = protocol::IntegerOf(element);
    if (!integer.has_value()) return false;
    value = *integer;
  }
  return true;
}

// Redis walks its histogram of nanoseconds in levels 1024 * 2^n, and shows each as the largest value that
// falls into the same bucket of a histogram with 128 buckets for each doubling, in whole microseconds.
uint64_t LevelUsec(unsigned level) { return ((uint64_t{129} << (level + 3)) - 1) / 1000; }

}  // namespace

void MergeLatestEvents(std::span<const std::string_view> replies, protocol::ReplyWriter& reply) {
  std::map<std::string_view, Event> events;
  for (const std::string_view part : replies) {
    protocol::ReplyCursor cursor(part);
    std::string_view element;
    while (cursor.Next(&element)) {
      protocol::ReplyCursor fields(element);
      std::string_view name_element;
      std::array<int64_t, 3> values;  // time, latest, highest
      if (!fields.Next(&name_element)) continue;
      const auto name = protocol::BulkOf(name_element);
      if (!name.has_value() || !TakeIntegers(fields, values)) continue;
      Event& event = events[*name];
      event.highest = std::max(event.highest, values[2]);
      if (values[0] < event.time || (values[0] == event.time && values[1] < event.latest)) continue;
      event.time = values[0];
      event.latest = values[1];
    }
  }
  reply.Array(events.size());
  for (const auto& [name, event] : events) {
    reply.Array(4);
    reply.Bulk(name);
    reply.Integer(event.time);
    reply.Integer(event.latest);
    reply.Integer(event.highest);
  }
}

void MergeHistories(std::span<const std::string_view> replies, protocol::ReplyWriter& reply) {
  std::map<int64_t, int64_t> samples;
  for (const std::string_view part : replies) {
    protocol::ReplyCursor cursor(part);
    std::string_view element;
    while (cursor.Next(&element)) {
      protocol::ReplyCursor fields(element);
      std::array<int64_t, 2> values;  // time, latency
      if (!TakeIntegers(fields, values)) continue;
      const auto [sample, is_new] = samples.emplace(values[0], values[1]);
      if (!is_new) sample->second = std::max(sample->second, values[1]);
    }
  }
  while (samples.size() > kMaxLatencySamples) samples.erase(samples.begin());
  reply.Array(samples.size());
  for (const auto& [time, latency] : samples) {
    reply.Array(2);
    reply.Integer(time);
    reply.Integer(latency);
  }
}

void MergeReports(std::span<const std::string_view> names, std::span<const std::string_view> replies,
                  protocol::ReplyWriter& reply) {
  std::string report;
  std::optional<std::string_view> first;
  std::string_view error;
  bool all_alike = true;
  for (size_t i = 0; i < replies.size(); ++i) {
    const auto text = protocol::BulkOf(replies[i]);
    if (!text.has_value()) {
      if (error.empty()) error = protocol::ErrorText(replies[i]);
      all_alike = false;
      continue;
    }
    if (!first.has_value()) first = text;
    if (*text != *first) all_alike = false;
    report.append(names[i]).append(":\n").append(*text);
    if (!text->ends_with('\n')) report += '\n';
  }
  if (!first.has_value()) {
    reply.Error(error.empty() ? std::string_view("ERR no shard has given a report") : error);
  } else {
    reply.Verbatim(all_alike ? *first : std::string_view(report));
  }
}

std::vector<LatencyLevel> CumulativeLevels(const LatencySummary& latency) {
  std::vector<LatencyLevel> levels;
  size_t bucket = 0;
  uint64_t samples = 0;
  for (unsigned level = 0; samples < latency.total(); ++level) {
    const uint64_t before = samples;
    const uint64_t usec = LevelUsec(level);
    while (bucket < LatencyBuckets::kCount && LatencyBuckets::UpperBound(bucket) <= usec) {
      samples += latency.count(bucket++);
    }
    if (samples > before) levels.push_back({usec, samples});
  }
  return levels;
}

}  // namespace ringway::proxy
