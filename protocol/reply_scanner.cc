#include "protocol/reply_scanner.h"

#include <algorithm>
#include <cstring>

namespace ringway::protocol {
namespace {

constexpr int64_t kLineEnd = 2;  // bytes of "\r\n"

// A line up to this long is looked at byte by byte, which beats a call of memchr.
constexpr ptrdiff_t kShortLine = 32;

// Digits that an int64 holds whatever they are.
constexpr uint8_t kMaxDigits = 18;

unsigned Digit(char c) { return static_cast<unsigned char>(c) - unsigned{'0'}; }

// What follows a type's first byte.
enum class Shape : uint8_t { kUnknown, kLine, kPayload, kAggregate };

constexpr Shape ShapeOf(char type) {
  switch (type) {
    case '+':
    case '-':
    case ':':
    case '_':
    case ',':
    case '#':
    case '(':
      return Shape::kLine;
    case '$':
    case '!':
    case '=':
      return Shape::kPayload;
    case '*':
    case '%':
    case '~':
    case '|':
    case '>':
      return Shape::kAggregate;
    default:
      return Shape::kUnknown;
  }
}

// The end of the short line whose first byte is at p, or null.
inline const char* EndOfShortLine(const char* p, const char* end) {
  const char* const last = p + std::min(end - p - 1, kShortLine);
  for (++p; p < last; ++p) {
    if (*p == '\r' && p[1] == '\n') return p + 2;
  }
  return nullptr;
}

// The end of the bulk string or null at p if it is there in full and its length is short, or null.
inline const char* EndOfBulk(const char* p, const char* end) {
  constexpr ptrdiff_t kLongestHeader = 9;  // "$999999\r\n"
  constexpr ptrdiff_t kNullBytes = 5;      // "$-1\r\n"
  const char* const header_end = p + std::min(end - p, kLongestHeader);
  const char* q = p + 1;
  int64_t length = 0;
  for (; q < header_end && Digit(*q) <= 9; ++q) length = length * 10 + Digit(*q);
  const ptrdiff_t digits = q - (p + 1);
  if (digits == 0 && end - p >= kNullBytes && std::memcmp(p, "$-1\r\n", kNullBytes) == 0)
    return p + kNullBytes;
  if (digits == 0 || (p[1] == '0' && digits > 1)) return nullptr;
  if (end - q < length + 2 * kLineEnd || q[0] != '\r' || q[1] != '\n') return nullptr;
  q += kLineEnd + length;
  return q[0] == '\r' && q[1] == '\n' ? q + kLineEnd : nullptr;
}

// The end of the element at p (there is at least one byte) if it is of a simple kind and there in full;
// null for everything else, which may still be fine.
inline const char* EndOfSimpleElement(const char* p, const char* end) {
  if (*p == '$') return EndOfBulk(p, end);
  if (*p == '+' || *p == ':' || *p == '-' || *p == '_') return EndOfShortLine(p, end);
  return nullptr;
}

}  // namespace

ReplyScanner::Result ReplyScanner::Scan(std::string_view bytes) {
  if (!in_progress_ && !bytes.empty() && stage_ == Stage::kType) [[likely]] {
    const char* const begin = bytes.data();
    if (const char* end = EndOfSimpleElement(begin, begin + bytes.size())) [[likely]] {
      type_ = *begin;
      return {ParseStatus::kComplete, static_cast<size_t>(end - begin)};
    }
  }
  return ScanSlowly(bytes);
}

ReplyScanner::Result ReplyScanner::ScanSlowly(std::string_view bytes) {
  const char* const begin = bytes.data();
  const char* const end = begin + bytes.size();
  const char* p = begin;
  while (p < end) {
    p = Step(p, end);
    if (stage_ == Stage::kFailed) return {ParseStatus::kError, static_cast<size_t>(p - begin)};
    if (stage_ == Stage::kType && !in_progress_) {
      return {ParseStatus::kComplete, static_cast<size_t>(p - begin)};
    }
  }
  return {stage_ == Stage::kFailed ? ParseStatus::kError : ParseStatus::kNeedMore, bytes.size()};
}

// Reads on from p (p < end) up to the end of the present stage or of the bytes; returns where it stopped.
const char* ReplyScanner::Step(const char* p, const char* end) {
  switch (stage_) {
    case Stage::kType: {
      if (!levels_.empty()) {
        if (const char* q = EndOfSimpleElement(p, end)) {
          EndElement();
          return q;
        }
      }
      return BeginElement(p);
    }
    case Stage::kLine: {
      const void* found = std::memchr(p, '\r', static_cast<size_t>(end - p));
      if (found == nullptr) return end;
      stage_ = Stage::kLineFeed;
      return static_cast<const char*>(found) + 1;
    }
    case Stage::kLineFeed:
      // A '\r' alone is part of the line, as hiredis has it.
      if (*p == '\n') {
        EndElement();
      } else if (*p != '\r') {
        stage_ = Stage::kLine;
      }
      return p + 1;
    case Stage::kLength:
      return ReadLength(p, end);
    case Stage::kLengthFeed:
      if (*p != '\n' || !EndLength()) {
        stage_ = Stage::kFailed;
        return p;
      }
      return p + 1;
    case Stage::kPayload: {
      const int64_t step = std::min<int64_t>(number_, end - p);
      number_ -= step;
      if (number_ == 0) stage_ = Stage::kPayloadEnd;
      return p + step;
    }
    case Stage::kPayloadEnd:
      // number_ counts the two bytes of the line end that have been seen.
      if (*p != (number_ == 0 ? '\r' : '\n')) {
        stage_ = Stage::kFailed;
        return p;
      }
      if (++number_ == kLineEnd) EndElement();
      return p + 1;
    case Stage::kFailed:
      return p;
  }
  return p;
}

const char* ReplyScanner::BeginElement(const char* p) {
  const Shape shape = ShapeOf(*p);
  if (shape == Shape::kUnknown) {
    stage_ = Stage::kFailed;
    return p;
  }
  if (levels_.empty()) type_ = *p;
  in_progress_ = true;
  element_ = *p;
  negative_ = false;
  digits_ = 0;
  number_ = 0;
  stage_ = shape == Shape::kLine ? Stage::kLine : Stage::kLength;
  return p + 1;
}

const char* ReplyScanner::ReadLength(const char* p, const char* end) {
  for (; p < end; ++p) {
    const unsigned digit = Digit(*p);
    if (digit <= 9) {
      // A second digit after a first 0 would make two spellings of one length.
      if (digits_ == kMaxDigits || (digits_ > 0 && number_ == 0)) break;
      number_ = number_ * 10 + digit;
      ++digits_;
    } else if (*p == '-' && digits_ == 0 && !negative_) {
      negative_ = true;
    } else if (*p == '\r' && digits_ > 0) {
      stage_ = Stage::kLengthFeed;
      return p + 1;
    } else {
      break;
    }
  }
  if (p < end) stage_ = Stage::kFailed;
  return p;
}

// The line of a length is over. False if no reply has such a length.
bool ReplyScanner::EndLength() {
  if (negative_) {
    // RESP2's nulls are the only negative lengths.
    if (number_ != 1 || (element_ != '$' && element_ != '*')) return false;
    EndElement();
    return true;
  }
  if (number_ > kMaxReplyLength) return false;
  if (ShapeOf(element_) == Shape::kPayload) {
    stage_ = number_ == 0 ? Stage::kPayloadEnd : Stage::kPayload;
    return true;
  }
  const bool pairs = element_ == '%' || element_ == '|';
  return Open(pairs ? 2 * number_ : number_, element_ == '|');
}

// An aggregate of so many elements begins. False if it is nested too deeply.
bool ReplyScanner::Open(int64_t elements, bool attribute) {
  if (elements == 0) {
    // Empty attributes stand before their reply like any other: the element is still to come.
    if (attribute) {
      stage_ = Stage::kType;
    } else {
      EndElement();
    }
    return true;
  }
  if (levels_.size() == kMaxReplyDepth) return false;
  levels_.push_back({elements, attribute});
  stage_ = Stage::kType;
  return true;
}

// An element is over, and with it perhaps the aggregates whose last one it was.
void ReplyScanner::EndElement() {
  stage_ = Stage::kType;
  while (!levels_.empty()) {
    Level& level = levels_.back();
    if (--level.left > 0) return;
    const bool attribute = level.attribute;
    levels_.pop_back();
    if (attribute) return;
  }
  EndReply();
}

void ReplyScanner::EndReply() {
  in_progress_ = false;
  if (levels_.capacity() > kKeptReplyDepth) std::vector<Level>().swap(levels_);
}

size_t ReplyScanner::missing_bytes() const {
  switch (stage_) {
    case Stage::kType:
      return 3;  // the shortest element: "_\r\n"
    case Stage::kLine:
      return 2;
    case Stage::kLength:
      return 2;
    case Stage::kPayload:
      return static_cast<size_t>(number_ + kLineEnd);
    case Stage::kPayloadEnd:
      return static_cast<size_t>(kLineEnd - number_);
    default:
      return 1;
  }
}

}  // namespace ringway::protocol
