#include "protocol/request_parser.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "protocol/command_writer.h"
#include "protocol/inline_split.h"
#include "protocol/number_text.h"

namespace ringway::protocol {
namespace {

constexpr size_t kLineEnd = 2;  // bytes of "\r\n"

// The smallest argument, "$0\r\n\r\n", and so the bytes that may be looked at without asking.
constexpr size_t kSmallestArgument = 6;

bool IsLineEnd(const char* p) { return p[0] == '\r' && p[1] == '\n'; }

// The value of a digit; 10 or more for any other character.
unsigned Digit(char c) { return static_cast<unsigned char>(c) - unsigned{'0'}; }

// Reads "$d\r\n", "$dd\r\n" or "$ddd\r\n" from kSmallestArgument bytes at p. Returns the bytes of the
// header, or 0 for anything else (which may still be a good header).
inline size_t ReadSmallLength(const char* p, size_t* length) {
  const unsigned first = Digit(p[1]);
  if (p[0] != '$' || first > 9) return 0;
  if (IsLineEnd(p + 2)) {
    *length = first;
    return 4;
  }
  const unsigned second = Digit(p[2]);
  if (second > 9 || first == 0) return 0;
  if (IsLineEnd(p + 3)) {
    *length = first * 10 + second;
    return 5;
  }
  const unsigned third = Digit(p[3]);
  if (third > 9 || !IsLineEnd(p + 4)) return 0;
  *length = first * 100 + second * 10 + third;
  return 6;
}

}  // namespace

// What inline commands need: the decoded words one after another, and the frame made of them.
struct RequestParser::Inline {
  std::string words;
  std::string frame;
  std::string error;
};

RequestParser::RequestParser() = default;
RequestParser::~RequestParser() = default;

ParseStatus RequestParser::Parse(std::string_view data, const RequestLimits& limits) {
  // What lies beyond the largest request allowed is not looked at; NeedMore then turns into an error.
  // So positions fit in 32 bits without a check for each argument.
  const size_t size = std::min<size_t>(data.size(), limits.max_request_bytes);
  const char* p = data.data();
  if (stage_ == Stage::kStart && size >= 4 && p[0] == '*' && p[1] != '0' && Digit(p[1]) <= limits.max_args &&
      Digit(p[1]) <= 9 && IsLineEnd(p + 2)) [[likely]] {
    stage_ = Stage::kLengthLine;
    is_inline_ = false;
    wanted_ = Digit(p[1]);
    count_ = 0;
    position_ = 4;
    searched_ = 4;
    return ParseArguments({p, size}, limits);
  }
  return Continue({p, size}, limits);
}

ParseStatus RequestParser::Continue(std::string_view data, const RequestLimits& limits) {
  if (stage_ == Stage::kStart) {
    if (data.empty()) return NeedMore(data, 1, limits);
    stage_ = data[0] == '*' ? Stage::kCountLine : Stage::kInlineLine;
    is_inline_ = data[0] != '*';
    wanted_ = 0;
    count_ = 0;
    position_ = 0;
    searched_ = 0;
  }
  switch (stage_) {
    case Stage::kCountLine:
      return ParseCount(data, limits);
    case Stage::kInlineLine:
      return ParseInline(data, limits);
    case Stage::kFailed:
      return ParseStatus::kError;
    default:
      return ParseArguments(data, limits);
  }
}

ParseStatus RequestParser::ParseCount(std::string_view data, const RequestLimits& limits) {
  size_t end = 0;
  const ParseStatus line = FindLineEnd(data, "ERR Protocol error: too big mbulk count string", &end);
  if (line == ParseStatus::kNeedMore) return NeedMore(data, 1, limits);
  if (line == ParseStatus::kError) return line;
  const std::optional<int64_t> count = ParseInt64(data.substr(1, end - 1));
  if (!count || *count > int64_t{limits.max_args} || !IsLineEnd(data.data() + end)) {
    return Fail("ERR Protocol error: invalid multibulk length");
  }
  if (limits.unauthenticated && *count > int64_t{kMaxUnauthenticatedArgs}) {
    return Fail("ERR Protocol error: unauthenticated multibulk length");
  }
  position_ = searched_ = static_cast<uint32_t>(end + kLineEnd);
  stage_ = Stage::kLengthLine;
  wanted_ = *count > 0 ? static_cast<uint32_t>(*count) : 0;
  return ParseArguments(data, limits);
}

ParseStatus RequestParser::ParseArguments(std::string_view data, const RequestLimits& limits) {
  while (true) {
    if (stage_ == Stage::kLengthLine) TakeSmallArguments(data, limits);
    if (count_ == wanted_) return Complete(data.data());
    const ParseStatus argument = TakeArgument(data, limits);
    if (argument != ParseStatus::kComplete) return argument;
  }
}

// Takes arguments as long as they are there in full and shorter than 1000 bytes. Nearly every request
// is done with here; whatever is unusual or wrong is left to TakeArgument.
void RequestParser::TakeSmallArguments(std::string_view data, const RequestLimits& limits) {
  const char* const base = data.data();
  const size_t size = data.size();
  const uint32_t wanted = wanted_;
  size_t position = position_;
  uint32_t count = count_;
  Arg* table = args();
  while (count < wanted && size - position >= kSmallestArgument) {
    size_t length = 0;
    const size_t header = ReadSmallLength(base + position, &length);
    if (header == 0 || length > limits.max_bulk_bytes) break;
    const size_t begin = position + header;
    if (size - begin < length + kLineEnd || !IsLineEnd(base + begin + length)) break;
    if (count == capacity_) [[unlikely]] {
      count_ = count;
      GrowArgs();
      table = args();
    }
    table[count++] = {static_cast<uint32_t>(begin), static_cast<uint32_t>(length)};
    position = begin + length + kLineEnd;
  }
  count_ = count;
  position_ = static_cast<uint32_t>(position);
  // A line under way has been searched further than this; not to search it again.
  searched_ = std::max(searched_, position_);
}

// Takes one argument of any kind, or says what is missing or wrong.
ParseStatus RequestParser::TakeArgument(std::string_view data, const RequestLimits& limits) {
  if (stage_ == Stage::kLengthLine) {
    const ParseStatus length = ParseLength(data, limits);
    if (length != ParseStatus::kComplete) return length;
  }
  const size_t needed = size_t{argument_length_} + kLineEnd;
  const size_t there = data.size() - position_;
  if (there < needed) return NeedMore(data, needed - there, limits);
  if (!IsLineEnd(data.data() + position_ + argument_length_)) {
    return Fail("ERR Protocol error: expected CRLF after bulk");
  }
  AddArg(position_, argument_length_);
  position_ = searched_ = static_cast<uint32_t>(position_ + needed);
  stage_ = Stage::kLengthLine;
  return ParseStatus::kComplete;
}

ParseStatus RequestParser::ParseLength(std::string_view data, const RequestLimits& limits) {
  size_t end = 0;
  const ParseStatus line = FindLineEnd(data, "ERR Protocol error: too big bulk count string", &end);
  if (line == ParseStatus::kNeedMore) return NeedMore(data, 1, limits);
  if (line == ParseStatus::kError) return line;
  if (data[position_] != '$') return FailExpectedDollar(data[position_]);
  const std::optional<int64_t> length = ParseInt64(data.substr(position_ + 1, end - position_ - 1));
  if (!length || *length < 0 || *length > int64_t{limits.max_bulk_bytes} || !IsLineEnd(data.data() + end)) {
    return Fail("ERR Protocol error: invalid bulk length");
  }
  if (limits.unauthenticated && *length > int64_t{kMaxUnauthenticatedBulkBytes}) {
    return Fail("ERR Protocol error: unauthenticated bulk length");
  }
  if (end + kLineEnd + static_cast<size_t>(*length) + kLineEnd > limits.max_request_bytes) {
    return Fail("ERR Protocol error: too big request");
  }
  position_ = static_cast<uint32_t>(end + kLineEnd);
  argument_length_ = static_cast<uint32_t>(*length);
  stage_ = Stage::kArgument;
  return ParseStatus::kComplete;
}

// Finds the '\r' of the line that begins at position_, with the byte after it there as well; not yet
// searched bytes only. kError once the line is longer than any may be.
ParseStatus RequestParser::FindLineEnd(std::string_view data, std::string_view too_long, size_t* end) {
  const size_t found = data.find('\r', searched_);
  if (found - position_ > kMaxInlineBytes && data.size() - position_ > kMaxInlineBytes) return Fail(too_long);
  searched_ = static_cast<uint32_t>(std::min(found, data.size()));
  if (found == std::string_view::npos || found + 1 == data.size()) return ParseStatus::kNeedMore;
  *end = found;
  return ParseStatus::kComplete;
}

ParseStatus RequestParser::ParseInline(std::string_view data, const RequestLimits& limits) {
  const size_t newline = data.find('\n', searched_);
  if (newline > kMaxInlineBytes && data.size() > kMaxInlineBytes) {
    return Fail("ERR Protocol error: too big inline request");
  }
  searched_ = static_cast<uint32_t>(std::min(newline, data.size()));
  if (newline == std::string_view::npos) return NeedMore(data, 1, limits);
  std::string_view line = data.substr(0, newline);
  if (line.ends_with('\r')) line.remove_suffix(1);
  position_ = static_cast<uint32_t>(newline + 1);
  return RewriteInline(line, limits);
}

ParseStatus RequestParser::RewriteInline(std::string_view line, const RequestLimits& limits) {
  Inline& memory = inline_memory();
  memory.words.clear();
  memory.frame.clear();
  InlineSplitter splitter(line);
  for (size_t begin = 0; splitter.Next(&memory.words); begin = memory.words.size()) {
    if (count_ == limits.max_args) return Fail("ERR Protocol error: invalid multibulk length");
    AddArg(begin, memory.words.size() - begin);
  }
  if (splitter.failed()) return Fail(splitter.error());
  AppendHeader(memory.frame, count_);
  for (uint32_t i = 0; i < count_; ++i) {
    Arg& arg = args()[i];
    AppendArg(memory.frame, std::string_view(memory.words).substr(arg.offset, arg.length));
    arg.offset = static_cast<uint32_t>(memory.frame.size() - kLineEnd - arg.length);
  }
  Complete(memory.frame.data());
  frame_size_ = static_cast<uint32_t>(memory.frame.size());
  return ParseStatus::kComplete;
}

ParseStatus RequestParser::Complete(const char* frame) {
  stage_ = Stage::kStart;
  frame_ = frame;
  frame_size_ = position_;
  return ParseStatus::kComplete;
}

ParseStatus RequestParser::NeedMore(std::string_view data, size_t missing, const RequestLimits& limits) {
  if (data.size() >= limits.max_request_bytes) return Fail("ERR Protocol error: too big request");
  missing_ = missing;
  return ParseStatus::kNeedMore;
}

ParseStatus RequestParser::Fail(std::string_view error) {
  stage_ = Stage::kFailed;
  error_ = error;
  return ParseStatus::kError;
}

ParseStatus RequestParser::FailExpectedDollar(char got) {
  // A line end within an error reply would end it; Redis puts a space there.
  const char shown = got == '\r' || got == '\n' ? ' ' : got;
  std::string& text = inline_memory().error;
  text = "ERR Protocol error: expected '$', got '";
  text.push_back(shown);
  text.push_back('\'');
  return Fail(text);
}

void RequestParser::AddArg(size_t offset, size_t length) {
  if (count_ == capacity_) GrowArgs();
  args()[count_++] = {static_cast<uint32_t>(offset), static_cast<uint32_t>(length)};
}

// Doubles: the table holds at most twice the arguments received, which took six bytes each at least. It does
// not step over kKeptArgs, or a table for fewer would not be kept.
void RequestParser::GrowArgs() {
  const uint32_t capacity = capacity_ < kKeptArgs ? std::min(capacity_ * 2, kKeptArgs) : capacity_ * 2;
  auto grown = std::make_unique_for_overwrite<Arg[]>(capacity);
  std::copy_n(args(), count_, grown.get());
  heap_args_ = std::move(grown);
  capacity_ = capacity;
}

RequestParser::Inline& RequestParser::inline_memory() {
  if (!inline_) inline_ = std::make_unique<Inline>();
  return *inline_;
}

void RequestParser::ReleaseMemory() {
  if (stage_ != Stage::kStart) return;
  count_ = 0;
  inline_.reset();
  if (capacity_ <= kKeptArgs) return;
  heap_args_.reset();
  capacity_ = kInlineArgs;
}

size_t RequestParser::memory_bytes() const {
  size_t bytes = heap_args_ ? capacity_ * sizeof(Arg) : 0;
  if (inline_) bytes += sizeof(Inline) + inline_->words.capacity() + inline_->frame.capacity();
  return bytes;
}

}  // namespace ringway::protocol
