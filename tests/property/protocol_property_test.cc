// What must hold for every request and reply, whatever they contain and however they arrive.
// RapidCheck prints the seed of a failure: RC_PARAMS="seed=..." runs it again.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "protocol/command_writer.h"
#include "protocol/glob.h"
#include "protocol/number_text.h"
#include "protocol/reply_cursor.h"
#include "protocol/reply_writer.h"
#include "tests/unit/protocol/split_bytes.h"

namespace ringway::protocol {
namespace {

using testing::ParsedRequest;
using testing::ParseSplit;
using testing::ParseWhole;
using testing::Scanned;
using testing::ScanSplit;
using testing::ScanWhole;

// Ascending ends of pieces, the last at `size`.
std::vector<size_t> AnySplits(size_t size) {
  auto ends = *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(0, size + 1));
  ends.push_back(size);
  std::sort(ends.begin(), ends.end());
  return ends;
}

// A text of any bytes, now and then with a length around a boundary of the parsers.
std::string AnyText() {
  if (*rc::gen::inRange(0, 4) > 0) return *rc::gen::arbitrary<std::string>();
  const size_t length = *rc::gen::element<size_t>(0, 9, 10, 31, 32, 33, 99, 100, 999, 1000, 1001);
  return std::string(length, *rc::gen::element('\r', '\n', '$', '*', 'x', '\0'));
}

std::string AnyLine() {
  std::string text = AnyText();
  for (char& c : text) {
    if (c == '\r' || c == '\n') c = ' ';
  }
  return text;
}

void AppendAnyReply(std::string& out, int depth);

void AppendAnyElements(std::string& out, size_t count, int depth) {
  for (size_t i = 0; i < count; ++i) AppendAnyReply(out, depth - 1);
}

// Any RESP3 value, aggregates nested up to `depth` and attributes anywhere.
void AppendAnyReply(std::string& out, int depth) {
  ReplyWriter writer(out, 3);
  const size_t count = *rc::gen::inRange<size_t>(0, 5);
  switch (*rc::gen::inRange(0, depth > 0 ? 17 : 12)) {
    case 0:
      return writer.Simple(AnyLine());
    case 1:
      return writer.Error(AnyLine());
    case 2:
      return writer.Integer(*rc::gen::arbitrary<int64_t>());
    case 3:
      return writer.Null();
    case 4:
      return writer.Boolean(*rc::gen::arbitrary<bool>());
    case 5:
      return writer.Double(*rc::gen::arbitrary<double>());
    case 6:
      return writer.BigNumber(std::to_string(*rc::gen::arbitrary<int64_t>()));
    case 7:
      return writer.Verbatim(AnyText());
    case 8:
      return writer.Raw("$-1\r\n");
    case 9:
      return writer.Raw("*-1\r\n");
    case 10: {
      const std::string text = AnyText();
      return writer.Raw(std::string("!") + std::to_string(text.size()) + "\r\n" + text + "\r\n");
    }
    case 11:
      return writer.Bulk(AnyText());
    case 12:
      writer.Array(count);
      return AppendAnyElements(out, count, depth);
    case 13:
      writer.Map(count);
      return AppendAnyElements(out, 2 * count, depth);
    case 14:
      writer.Set(count);
      return AppendAnyElements(out, count, depth);
    case 15:
      writer.Push(count);
      return AppendAnyElements(out, count, depth);
    default:
      writer.Raw(std::string("|") + std::to_string(count) + "\r\n");
      AppendAnyElements(out, 2 * count, depth);
      return AppendAnyReply(out, depth - 1);
  }
}

std::string AnyReply() {
  std::string out;
  AppendAnyReply(out, 4);
  return out;
}

// Bytes that look like the protocol often enough to get deep into a parser.
std::string AnyGarbage() {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "*", "$", "\r\n", "\r", "\n", "1", "2", "3", "0", "-1", "9", "10", "*1\r\n", "*2\r\n", "$1\r\nx\r\n",
      "$3\r\nGET\r\n", "+OK\r\n", ":1\r\n", "_\r\n", "%1\r\n", "|1\r\n", ">", "=", "!", "\"", "'", "\\x", " ",
      "a", std::string(1, '\0'), "\xff"));
  std::string out;
  for (const std::string& piece : pieces) out += piece;
  return out;
}

RC_GTEST_PROP(RequestProperty, WhatIsWrittenIsParsedBack, ()) {
  std::vector<std::string> args(*rc::gen::inRange<size_t>(1, 20));
  for (std::string& arg : args) arg = AnyText();
  const std::vector<std::string_view> views(args.begin(), args.end());
  std::string frame;
  AppendCommand(frame, views);
  const ParsedRequest expected{ParseStatus::kComplete, frame.size(), args, frame, ""};
  RC_ASSERT(frame.size() == CommandBytes(views));
  RC_ASSERT(ParseWhole(frame + AnyGarbage()) == expected);
  RC_ASSERT(ParseSplit(frame, AnySplits(frame.size())) == expected);
}

RC_GTEST_PROP(RequestProperty, QuotedInlineEqualsMultibulk, ()) {
  std::vector<std::string> args(*rc::gen::inRange<size_t>(1, 8));
  for (std::string& arg : args) arg = AnyText();
  std::string line;
  for (const std::string& arg : args) {
    line += "\"";
    for (char c : arg) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(c));
      line += escaped;
    }
    line += "\" ";
  }
  RC_PRE(line.size() < kMaxInlineBytes);
  line += *rc::gen::element<std::string>("\n", "\r\n");
  std::string frame;
  AppendCommand(frame, std::vector<std::string_view>(args.begin(), args.end()));
  const ParsedRequest expected{ParseStatus::kComplete, line.size(), args, frame, ""};
  RC_ASSERT(ParseSplit(line, AnySplits(line.size())) == expected);
}

RC_GTEST_PROP(RequestProperty, GarbageGivesTheSameHoweverItArrives, ()) {
  const std::string bytes = AnyGarbage();
  const ParsedRequest whole = ParseWhole(bytes);
  RC_ASSERT(whole.consumed <= bytes.size());
  RC_ASSERT(ParseSplit(bytes, AnySplits(bytes.size())) == whole);
  RC_ASSERT(ParseSplit(bytes, testing::EveryByte(bytes.size())) == whole);
}

RC_GTEST_PROP(ReplyProperty, AnyReplyEndsExactlyAtItsEnd, ()) {
  const std::string reply = AnyReply();
  const Scanned whole = ScanWhole(reply + AnyGarbage());
  RC_ASSERT(whole.status == ParseStatus::kComplete);
  RC_ASSERT(whole.consumed == reply.size());
  RC_ASSERT(ScanSplit(reply, AnySplits(reply.size())) == whole);
  RC_ASSERT(ScanSplit(reply, testing::EveryByte(reply.size())) == whole);
  if (reply.size() > 1)
    RC_ASSERT(ScanWhole(reply.substr(0, reply.size() - 1)).status == ParseStatus::kNeedMore);
}

RC_GTEST_PROP(ReplyProperty, GarbageGivesTheSameHoweverItArrives, ()) {
  const std::string bytes = AnyGarbage();
  const Scanned whole = ScanWhole(bytes);
  RC_ASSERT(whole.consumed <= bytes.size());
  const Scanned pieces = ScanSplit(bytes, testing::EveryByte(bytes.size()));
  RC_ASSERT(pieces.status == whole.status);
  if (whole.status != ParseStatus::kError) RC_ASSERT(pieces == whole);
}

RC_GTEST_PROP(ReplyProperty, CursorGivesBackEveryElement, ()) {
  std::vector<std::string> elements(*rc::gen::inRange<size_t>(0, 8));
  std::string reply = std::string("*") + std::to_string(elements.size()) + "\r\n";
  for (std::string& element : elements) {
    element = AnyReply();
    reply += element;
  }
  ReplyCursor cursor(reply);
  RC_ASSERT(cursor.length() == static_cast<int64_t>(elements.size()));
  for (const std::string& element : elements) {
    std::string_view found;
    RC_ASSERT(cursor.Next(&found));
    RC_ASSERT(found == element);
  }
  std::string_view none;
  RC_ASSERT(!cursor.Next(&none));
}

RC_GTEST_PROP(ReplyProperty, LookingIntoGarbageIsSafe, ()) {
  const std::string bytes = AnyGarbage();
  ReplyCursor cursor(bytes);
  size_t walked = 0;
  for (std::string_view element; cursor.Next(&element);) walked += element.size();
  RC_ASSERT(walked <= bytes.size());
  (void)IntegerOf(bytes);
  (void)BulkOf(bytes);
  RC_ASSERT(ErrorText(bytes).size() <= bytes.size());
}

RC_GTEST_PROP(NumberProperty, EveryIntegerHasOneSpelling, (int64_t value)) {
  const std::string text = std::to_string(value);
  RC_ASSERT(ParseInt64(text) == value);
  RC_ASSERT(!ParseInt64(std::string("0") + text).has_value());
  RC_ASSERT(!ParseInt64(std::string("+") + text).has_value());
  RC_ASSERT(!ParseInt64(text + " ").has_value());
}

// The definition of a match, as plain as it can be said; exponential, so for short patterns only.
bool MatchesByDefinition(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    return MatchesByDefinition(pattern.substr(1), text) ||
           (!text.empty() && MatchesByDefinition(pattern, text.substr(1)));
  }
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) &&
         MatchesByDefinition(pattern.substr(1), text.substr(1));
}

RC_GTEST_PROP(GlobProperty, StarsAndQuestionMarksMeetTheirDefinition, ()) {
  const auto any_size = [](int below) { return static_cast<size_t>(*rc::gen::inRange(1, below)); };
  const auto pattern = *rc::gen::container<std::string>(any_size(14), rc::gen::element('a', 'b', '?', '*'));
  const auto text = *rc::gen::container<std::string>(any_size(20), rc::gen::element('a', 'b'));
  RC_ASSERT(GlobMatch(pattern, text) == MatchesByDefinition(pattern, text));
}

RC_GTEST_PROP(GlobProperty, AnyPatternIsSafe, (std::string pattern, std::string text)) {
  (void)GlobMatch(pattern, text);
  (void)GlobMatch(std::string("[") + pattern, text, GlobCase::kIgnore);
}

}  // namespace
}  // namespace ringway::protocol
