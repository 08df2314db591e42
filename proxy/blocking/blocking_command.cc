#include "proxy/blocking/blocking_command.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "protocol/command_keys.h"
#include "protocol/command_writer.h"
#include "protocol/number_text.h"
#include "protocol/reply_cursor.h"
#include "proxy/words.h"

namespace ringway::proxy {
namespace {

using protocol::CommandRow;
using protocol::RequestView;

constexpr double kUsecPerSecond = 1e6;
constexpr int64_t kUsecPerMs = 1000;

bool IsStreamRead(const CommandRow& row) { return row.key_kind == protocol::KeyKind::kStreams; }

bool HasTimeoutFirst(const CommandRow& row) { return row.name == "blmpop" || row.name == "bzmpop"; }

// Where the timeout stands; 0: nowhere.
size_t TimeoutIndex(const CommandRow& row, const RequestView& request) {
  if (HasTimeoutFirst(row)) return 1;
  if (!IsStreamRead(row)) return request.size() - 1;
  for (size_t i = 1; i + 1 < request.size(); ++i) {
    if (IsWord(request[i], "streams")) return 0;
    if (IsWord(request[i], "block")) return i + 1;
  }
  return 0;
}

// Elements of an array that are bulk strings; nothing for anything else.
std::vector<std::string_view> Bulks(std::string_view reply) {
  std::vector<std::string_view> bulks;
  protocol::ReplyCursor cursor(reply);
  std::string_view element;
  while (cursor.Next(&element)) {
    if (const auto text = protocol::BulkOf(element)) {
      bulks.push_back(*text);
    } else if (element.starts_with(",")) {
      bulks.push_back(element.substr(1, element.find('\r') - 1));  // a score of RESP3
    }
  }
  return bulks;
}

std::string Frame(const std::vector<std::string_view>& args) {
  std::string frame;
  protocol::AppendCommand(frame, std::span<const std::string_view>(args));
  return frame;
}

// BLMPOP and BZMPOP: the key, and what was taken from it.
std::string PutBackSeveral(const CommandRow& row, const RequestView& request, std::string_view reply) {
  protocol::ReplyCursor cursor(reply);
  std::string_view key_reply;
  std::string_view taken;
  if (cursor.length() != 2 || !cursor.Next(&key_reply) || !cursor.Next(&taken)) return "";
  const std::string_view key = protocol::BulkOf(key_reply).value_or("");
  if (row.name == "bzmpop") {
    std::vector<std::string_view> args = {"ZADD", key};
    protocol::ReplyCursor pairs(taken);
    std::string_view pair;
    while (pairs.Next(&pair)) {
      const auto member_and_score = Bulks(pair);
      if (member_and_score.size() == 2) args.insert(args.end(), {member_and_score[1], member_and_score[0]});
    }
    return Frame(args);
  }
  const bool left = std::any_of(request.args().begin(), request.args().end(), [&](const protocol::Arg& arg) {
    return IsWord(request.frame().substr(arg.offset, arg.length), "left");
  });
  std::vector<std::string_view> args = {left ? "LPUSH" : "RPUSH", key};
  std::vector<std::string_view> elements = Bulks(taken);
  args.insert(args.end(), elements.rbegin(), elements.rend());
  return Frame(args);
}

}  // namespace

std::optional<int64_t> BlockingTimeoutUsec(const CommandRow& row, const RequestView& request) {
  const size_t index = TimeoutIndex(row, request);
  if (index == 0) return std::nullopt;
  if (IsStreamRead(row)) {
    const auto ms = protocol::ParseInt64(request[index]);
    if (!ms.has_value() || *ms < 0 || *ms > INT64_MAX / kUsecPerMs) return std::nullopt;
    return *ms * kUsecPerMs;
  }
  const auto seconds = protocol::ParseDouble(request[index]);
  if (!seconds.has_value() || !(*seconds >= 0) || *seconds > 9e12) return std::nullopt;
  return static_cast<int64_t>(std::ceil(*seconds * kUsecPerSecond));
}

std::string WithTimeout(const CommandRow& row, const RequestView& request, int64_t timeout_usec,
                        const std::vector<std::string>& ids) {
  const int64_t ms = timeout_usec == 0 ? 0 : std::max<int64_t>(timeout_usec / kUsecPerMs, 1);
  std::string text = std::to_string(ms);
  if (!IsStreamRead(row)) {
    char seconds[64];
    std::snprintf(seconds, sizeof(seconds), "%.3f", static_cast<double>(ms) / 1e3);
    text = seconds;
  }
  const size_t index = TimeoutIndex(row, request);
  std::string frame;
  protocol::AppendHeader(frame, request.size());
  for (size_t i = 0; i < request.size(); ++i) {
    const size_t from_end = request.size() - i;
    const bool is_id = from_end <= ids.size() && !ids[ids.size() - from_end].empty();
    protocol::AppendArg(frame, i == index ? std::string_view(text)
                               : is_id    ? std::string_view(ids[ids.size() - from_end])
                                          : request[i]);
  }
  return frame;
}

std::vector<size_t> StreamsReadFromTheEnd(const CommandRow& row, const RequestView& request) {
  std::vector<size_t> streams;
  if (row.name != "xread") return streams;
  protocol::KeyList keys;
  if (protocol::FindKeys(row, request, &keys) != protocol::KeyStatus::kOk) return streams;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (request[keys[i] + keys.size()] == "$") streams.push_back(i);
  }
  return streams;
}

std::string PutBackCommand(const CommandRow& row, const RequestView& request, std::string_view reply) {
  if (protocol::IsError(reply) || protocol::IsNull(reply)) return "";
  if (HasTimeoutFirst(row)) return PutBackSeveral(row, request, reply);
  const std::vector<std::string_view> bulks = Bulks(reply);
  if (row.name == "blpop" && bulks.size() == 2) return Frame({"LPUSH", bulks[0], bulks[1]});
  if (row.name == "brpop" && bulks.size() == 2) return Frame({"RPUSH", bulks[0], bulks[1]});
  if ((row.name == "bzpopmin" || row.name == "bzpopmax") && bulks.size() == 3) {
    return Frame({"ZADD", bulks[0], bulks[2], bulks[1]});
  }
  return "";
}

}  // namespace ringway::proxy
