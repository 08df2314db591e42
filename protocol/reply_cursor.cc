#include "protocol/reply_cursor.h"

#include "protocol/number_text.h"

namespace ringway::protocol {
namespace {

constexpr size_t kLineEnd = 2;         // bytes of "\r\n"
constexpr size_t kVerbatimFormat = 4;  // bytes of "txt:"

// What the first line says behind its type, without its line end. The line is there in full, or else
// the result is empty.
std::string_view FirstLine(std::string_view reply) {
  const size_t end = reply.find("\r\n");
  if (reply.empty() || end == std::string_view::npos) return {};
  return reply.substr(1, end - 1);
}

bool IsAggregate(char type) {
  return type == '*' || type == '%' || type == '~' || type == '>' || type == '|';
}

// The text behind the first line of `$`, `=` and `!`.
std::optional<std::string_view> Payload(std::string_view reply) {
  const std::string_view line = FirstLine(reply);
  const std::optional<int64_t> length = ParseInt64(line);
  if (!length || *length < 0) return std::nullopt;
  const std::string_view rest = reply.substr(1 + line.size() + kLineEnd);
  if (rest.size() < static_cast<size_t>(*length) + kLineEnd) return std::nullopt;
  return rest.substr(0, static_cast<size_t>(*length));
}

}  // namespace

std::string_view WithoutAttributes(std::string_view reply) {
  while (reply.starts_with('|')) {
    const std::string_view line = FirstLine(reply);
    const std::optional<int64_t> pairs = ParseInt64(line);
    if (!pairs || *pairs < 0 || *pairs > kMaxReplyLength) return {};
    reply.remove_prefix(1 + line.size() + kLineEnd);
    ReplyScanner scanner;
    for (int64_t left = 2 * *pairs; left > 0; --left) {
      const ReplyScanner::Result element = scanner.Scan(reply);
      if (element.status != ParseStatus::kComplete) return {};
      reply.remove_prefix(element.consumed);
    }
  }
  return reply;
}

ReplyCursor::ReplyCursor(std::string_view reply) {
  reply = WithoutAttributes(reply);
  if (reply.empty()) return;
  type_ = reply[0];
  if (IsNull(reply)) {
    length_ = -1;
    return;
  }
  if (!IsAggregate(type_)) return;
  const std::string_view line = FirstLine(reply);
  const std::optional<int64_t> length = ParseInt64(line);
  if (!length || *length < 0 || *length > kMaxReplyLength) return;
  length_ = type_ == '%' ? 2 * *length : *length;
  left_ = length_;
  rest_ = reply.substr(1 + line.size() + kLineEnd);
}

bool ReplyCursor::Next(std::string_view* element) {
  if (left_ == 0) return false;
  const ReplyScanner::Result result = scanner_.Scan(rest_);
  if (result.status != ParseStatus::kComplete) {
    left_ = 0;
    return false;
  }
  --left_;
  *element = rest_.substr(0, result.consumed);
  rest_.remove_prefix(result.consumed);
  return true;
}

bool IsNull(std::string_view reply) {
  reply = WithoutAttributes(reply);
  return reply == "*-1\r\n" || reply == "$-1\r\n" || reply == "_\r\n";
}

std::optional<int64_t> IntegerOf(std::string_view reply) {
  reply = WithoutAttributes(reply);
  if (!reply.starts_with(':')) return std::nullopt;
  return ParseInt64(FirstLine(reply));
}

std::optional<std::string_view> BulkOf(std::string_view reply) {
  reply = WithoutAttributes(reply);
  if (reply.starts_with('$')) return Payload(reply);
  if (reply.starts_with('+') && reply.ends_with("\r\n")) return FirstLine(reply);
  if (!reply.starts_with('=')) return std::nullopt;
  const std::optional<std::string_view> payload = Payload(reply);
  if (!payload || payload->size() < kVerbatimFormat) return std::nullopt;
  return payload->substr(kVerbatimFormat);
}

bool IsError(std::string_view reply) {
  if (!reply.starts_with('|')) return reply.starts_with('-') || reply.starts_with('!');
  reply = WithoutAttributes(reply);
  return reply.starts_with('-') || reply.starts_with('!');
}

std::string_view ErrorText(std::string_view reply) {
  reply = WithoutAttributes(reply);
  if (reply.starts_with('-')) return FirstLine(reply);
  if (reply.starts_with('!')) return Payload(reply).value_or(std::string_view());
  return {};
}

std::string_view ErrorCode(std::string_view reply) {
  const std::string_view text = ErrorText(reply);
  return text.substr(0, text.find(' '));
}

}  // namespace ringway::protocol
