#include "protocol/hollow_reply.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "protocol/number_text.h"

namespace ringway::protocol {
namespace {

// A line's text without its type and line end; `bytes` begins with the line and goes on behind it afterwards.
std::string_view TakeLine(std::string_view* bytes) {
  const size_t end = bytes->find('\n');
  if (end == std::string_view::npos) {
    *bytes = {};
    return {};
  }
  const std::string_view line = bytes->substr(1, end >= 2 ? end - 2 : 0);
  bytes->remove_prefix(end + 1);
  return line;
}

bool IsNothing(std::string_view text) { return text.empty() || text == "0"; }

// The same for a string with a length, which may be null.
std::string_view TakeString(std::string_view* bytes) {
  const int64_t length = ParseInt64(TakeLine(bytes)).value_or(-1);
  if (length < 0) return {};
  const std::string_view text = bytes->substr(0, static_cast<size_t>(length));
  bytes->remove_prefix(std::min(bytes->size(), text.size() + 2));
  return text;
}

// Whether the element at the front, whose own elements follow it, proves nothing. Takes it off.
bool TakeHollow(std::string_view* bytes) {
  switch (bytes->front()) {
    case '$':
      return IsNothing(TakeString(bytes));
    case ':':
      return ParseInt64(TakeLine(bytes)).value_or(1) <= 0;
    case '+':
      return TakeLine(bytes) == "none";
    case '#':
      return TakeLine(bytes) == "f";
    case '-':
    case '_':
    case '*':
    case '~':
    case '%':
    case '>':
      TakeLine(bytes);
      return true;
    case '!':
      TakeString(bytes);
      return true;
    default:
      return false;
  }
}

}  // namespace

bool IsHollowReply(std::string_view reply) {
  while (!reply.empty()) {
    if (!TakeHollow(&reply)) return false;
  }
  return true;
}

}  // namespace ringway::protocol
