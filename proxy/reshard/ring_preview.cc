#include "proxy/reshard/ring_preview.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include <hiredis/hiredis.h>

#include "config/values.h"
#include "proxy/reshard/human.h"
#include "proxy/reshard/text_cells.h"
#include "proxy/reshard/text_table.h"

namespace ringway::proxy::reshard {

namespace {

bool IsText(const redisReply& reply) {
  return reply.type == REDIS_REPLY_STRING || reply.type == REDIS_REPLY_STATUS;
}

std::string_view RawText(const redisReply& reply) {
  return IsText(reply) ? std::string_view(reply.str, static_cast<size_t>(reply.len)) : std::string_view();
}

std::string TextOf(const redisReply& reply) { return Printable(RawText(reply)); }

double NumberOf(const redisReply& reply) {
  if (reply.type == REDIS_REPLY_INTEGER) return static_cast<double>(reply.integer);
  return config::ParseDecimal(RawText(reply)).value_or(0);
}

uint64_t CountOf(const redisReply& reply) {
  if (reply.type == REDIS_REPLY_INTEGER) return static_cast<uint64_t>(std::max<int64_t>(reply.integer, 0));
  const double value = NumberOf(reply);
  return value > 0 && value < 1.8e19 ? static_cast<uint64_t>(value) : 0;
}

// Calls visit(key, value) for each entry of a map that is an array of keys and values in turn.
template <class Visit>
void ForEachEntry(const redisReply& map, Visit visit) {
  if (map.type != REDIS_REPLY_ARRAY) return;
  for (size_t i = 0; i + 1 < map.elements; i += 2) visit(RawText(*map.element[i]), *map.element[i + 1]);
}

template <class Visit>
void ForEachElement(const redisReply& array, Visit visit) {
  if (array.type != REDIS_REPLY_ARRAY) return;
  for (size_t i = 0; i < array.elements; ++i) visit(*array.element[i]);
}

RingPreview::Move MoveOf(const redisReply& map) {
  RingPreview::Move move;
  ForEachEntry(map, [&](std::string_view key, const redisReply& value) {
    if (key == "from") move.from = TextOf(value);
    if (key == "to") move.to = TextOf(value);
    if (key == "share") move.share = NumberOf(value);
    if (key == "keys") move.keys = CountOf(value);
    if (key == "bytes") move.bytes = CountOf(value);
  });
  return move;
}

RingPreview::Balance BalanceOf(const redisReply& map) {
  RingPreview::Balance balance;
  ForEachEntry(map, [&](std::string_view key, const redisReply& value) {
    if (key == "max_over_mean") balance.max_over_mean = NumberOf(value);
    if (key == "min_over_mean") balance.min_over_mean = NumberOf(value);
    if (key == "stddev") balance.stddev = NumberOf(value);
  });
  return balance;
}

RingPreview::Shard ShardOf(const redisReply& map) {
  RingPreview::Shard shard;
  ForEachEntry(map, [&](std::string_view key, const redisReply& value) {
    if (key == "name") shard.name = TextOf(value);
    if (key == "share") shard.share = NumberOf(value);
    if (key == "share_wanted") shard.share_wanted = NumberOf(value);
  });
  return shard;
}

// What is worth a sentence of its own; other keys speak for themselves.
std::string NoteTitle(std::string_view key) {
  if (key == "not_estimated") return "left out of the estimates, for they did not answer";
  if (key == "given_up") return "GIVEN UP, with all keys that only they hold";
  return Printable(key);
}

void AddNote(std::string_view key, const redisReply& value, RingPreview* preview) {
  std::string text = TextOf(value);
  ForEachElement(value, [&](const redisReply& element) {
    if (IsText(element)) text += (text.empty() ? "" : ", ") + TextOf(element);
  });
  if (!text.empty()) preview->notes.push_back(NoteTitle(key) + ": " + text);
}

void ReadEntry(std::string_view key, const redisReply& value, RingPreview* preview) {
  if (key == "moving_share") {
    preview->moving_share = NumberOf(value);
  } else if (key == "least_possible_share") {
    preview->least_possible_share = NumberOf(value);
  } else if (key == "keys") {
    preview->keys = CountOf(value);
  } else if (key == "bytes") {
    preview->bytes = CountOf(value);
  } else if (key == "moves") {
    ForEachElement(value, [&](const redisReply& move) { preview->moves.push_back(MoveOf(move)); });
  } else if (key == "balance_before") {
    preview->before = BalanceOf(value);
  } else if (key == "balance_after") {
    preview->after = BalanceOf(value);
  } else if (key == "shards_after") {
    ForEachElement(value, [&](const redisReply& shard) { preview->shards_after.push_back(ShardOf(shard)); });
  } else {
    AddNote(key, value, preview);
  }
}

std::string Ratio(double value) {
  std::array<char, 32> text;
  const int length = std::snprintf(text.data(), text.size(), "%.4f", std::clamp(value, 0.0, 1e9));
  return std::string(text.data(), static_cast<size_t>(length));
}

std::vector<std::string> BalanceRow(const std::string& when, const RingPreview::Balance& balance) {
  return {when, Ratio(balance.max_over_mean), Ratio(balance.min_over_mean), Ratio(balance.stddev)};
}

}  // namespace

std::optional<RingPreview> ParseRingPreview(const redisReply& reply) {
  RingPreview preview;
  bool found = false;
  ForEachEntry(reply, [&](std::string_view key, const redisReply& value) {
    found = found || key == "moving_share";
    ReadEntry(key, value, &preview);
  });
  if (!found) return std::nullopt;
  return preview;
}

std::vector<std::string> DescribePreview(const RingPreview& preview, size_t width) {
  std::vector<std::string> lines;
  const auto add = [&](const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
  };
  lines.push_back("moves " + HumanPercent(preview.moving_share) + " of the ring (least possible " +
                  HumanPercent(preview.least_possible_share) + "): about " + HumanCount(preview.keys) +
                  " keys, " + HumanBytes(preview.bytes));
  std::vector<std::vector<std::string>> rows;
  for (const RingPreview::Move& move : preview.moves) {
    rows.push_back(
        {move.from, move.to, HumanPercent(move.share), HumanCount(move.keys), HumanBytes(move.bytes)});
  }
  if (!rows.empty())
    add(TableLines({{"from", true}, {"to", true}, {"ring"}, {"keys"}, {"bytes"}}, rows, width));
  lines.push_back("shards after it");
  rows.clear();
  for (const RingPreview::Shard& shard : preview.shards_after) {
    rows.push_back({shard.name, HumanPercent(shard.share), HumanPercent(shard.share_wanted)});
  }
  if (!rows.empty()) add(TableLines({{"shard", true}, {"ring"}, {"wanted"}}, rows, width));
  lines.push_back("balance, 1 being a shard's wanted share");
  add(TableLines({{"", true}, {"fullest"}, {"emptiest"}, {"deviation"}},
                 {BalanceRow("before", preview.before), BalanceRow("after", preview.after)}, width));
  lines.insert(lines.end(), preview.notes.begin(), preview.notes.end());
  return lines;
}

}  // namespace ringway::proxy::reshard
