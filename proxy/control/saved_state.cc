#include "proxy/control/saved_state.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

#include "config/config_fields.h"
#include "config/values.h"
#include "proxy/control/saved_state_words.h"

namespace ringway::proxy {
namespace {

using config::FormatDecimal;

// In double quotes, whatever it holds. Bytes beyond ASCII stand for themselves.
std::string Quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      std::array<char, 8> escape;
      std::snprintf(escape.data(), escape.size(), "\\x%02x", byte);
      quoted += escape.data();
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + '"';
}

// Within what the reader takes, whatever a figure has come to.
std::string Count(uint64_t count) {
  return std::to_string(std::min(count, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
}
std::string Usec(int64_t usec) { return std::to_string(std::max<int64_t>(usec, 0)); }

std::string Line(const std::string& indent, std::string_view key, const std::string& value) {
  return indent + std::string(key) + ": " + value + "\n";
}

std::string ShardLines(const std::string& indent, std::string_view key, std::span<const SavedShard> shards) {
  if (shards.empty()) return Line(indent, key, "[]");
  std::string lines = indent + std::string(key) + ":\n";
  for (const SavedShard& shard : shards) {
    lines += indent + "- {name: " + Quote(shard.name) + ", address: " + Quote(shard.address) +
             ", weight: " + FormatDecimal(shard.weight) + "}\n";
  }
  return lines;
}

std::string NameList(std::span<const std::string> names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + Quote(name);
  return "[" + list + "]";
}

std::string RingMap(const ring::RingOptions& options) {
  config::Config config;
  config.ring = options;
  std::string map;
  for (const config::Field* field : PlacementFields()) {
    map += (map.empty() ? "" : ", ") + std::string(PlacementWord(*field)) + ": " + Quote(Get(config, *field));
  }
  return "{" + map + "}";
}

// The first pairs, and one that adds up those beyond.
std::vector<MovePairCounts> SomePairs(const std::vector<MovePairCounts>& pairs) {
  if (pairs.size() <= kMaxSavedPairs) return pairs;
  std::vector<MovePairCounts> some(pairs.begin(), pairs.begin() + kMaxSavedPairs);
  MovePairCounts rest{std::string(kOtherShards), std::string(kOtherShards), {}};
  for (size_t i = kMaxSavedPairs; i < pairs.size(); ++i) {
    const MoveCounts& counts = pairs[i].counts;
    for (const CountWord& word : kCountWords) rest.counts.*word.count += counts.*word.count;
    rest.counts.share += counts.share;
  }
  some.push_back(std::move(rest));
  return some;
}

std::string ReportLines(const std::string& indent, const MigrationReport& report) {
  std::string lines;
  for (const NumberWord& word : kNumberWords) {
    lines += Line(indent, word.key, Count(report.*word.number));
  }
  for (const TimeWord& word : kTimeWords) lines += Line(indent, word.key, Usec(report.*word.usec));
  for (const TextWord& word : kTextWords) lines += Line(indent, word.key, Quote(report.*word.text));
  if (report.pairs.empty()) return lines + Line(indent, "pairs", "[]");
  lines += indent + "pairs:\n";
  for (const MovePairCounts& pair : SomePairs(report.pairs)) {
    lines += indent + "- {from: " + Quote(pair.from) + ", to: " + Quote(pair.to) +
             ", share: " + FormatDecimal(pair.counts.share);
    for (const CountWord& word : kCountWords) {
      lines += ", " + std::string(word.key) + ": " + Count(pair.counts.*word.count);
    }
    lines += "}\n";
  }
  return lines;
}

std::string MoveLines(const SavedMove& move) {
  const std::string indent = "  ";
  std::string lines = "move:\n";
  lines += Line(indent, "phase", std::string(PhaseWord(move.phase)));
  lines += Line(indent, "paused", move.paused ? "true" : "false");
  lines += ShardLines(indent, "from", move.from);
  lines += ShardLines(indent, "to", move.to);
  lines += Line(indent, "given_up", NameList(move.given_up));
  lines += Line(indent, "replaced", NameList(move.replaced));
  return lines + indent + "report:\n" + ReportLines(indent + indent, move.report);
}

}  // namespace

std::vector<SavedShard> ToSaved(std::span<const config::ShardConfig> shards) {
  std::vector<SavedShard> saved;
  for (const config::ShardConfig& shard : shards) {
    saved.push_back({shard.name, shard.address, shard.weight});
  }
  return saved;
}

std::string_view PhaseWord(SavedMove::Phase phase) {
  switch (phase) {
    case SavedMove::Phase::kHolding:
      return "holding";
    case SavedMove::Phase::kMoving:
      return "moving";
    case SavedMove::Phase::kAborting:
      return "aborting";
    case SavedMove::Phase::kSettling:
      return "settling";
  }
  return {};
}

std::vector<const config::Field*> PlacementFields() {
  std::vector<const config::Field*> fields;
  for (const config::Field& field : config::Fields()) {
    if (field.path.starts_with(kPlacementSection) && field.path != "ring.multi_key") fields.push_back(&field);
  }
  return fields;
}

std::string_view PlacementWord(const config::Field& field) {
  return field.path.substr(kPlacementSection.size());
}

std::string WriteState(const SavedState& state) {
  std::string text =
      "# Where this proxy's keys are, and a move of them that is under way. Ringway writes this file by "
      "itself;\n"
      "# without it the keys are looked for where the configuration file would place them.\n";
  text += Line("", kStateKey, std::to_string(kStateVersion));
  text += Line("", "proxy_id", Quote(state.proxy_id));
  text += Line("", "run_id", Quote(state.run_id));
  text += Line("", "next_move_id", Count(state.next_move_id));
  text += Line("", "ring", RingMap(state.ring));
  text += ShardLines("", "shards", state.shards);
  text += ShardLines("", "configured", state.configured);
  if (state.move) text += MoveLines(*state.move);
  if (state.last) text += "last:\n" + ReportLines("  ", *state.last);
  return text + Line("", kEndKey, "true");
}

}  // namespace ringway::proxy
