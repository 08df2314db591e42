// Inline commands, by the rules of Redis's sdssplitargs.
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/command_writer.h"
#include "tests/unit/protocol/split_bytes.h"

namespace ringway::protocol {
namespace {

using ::testing::ElementsAre;
using testing::ParsedRequest;
using testing::ParseWhole;
using std::string_view_literals::operator""sv;

constexpr std::string_view kUnbalanced = "ERR Protocol error: unbalanced quotes in request";

auto Words(std::string_view line) { return ParseWhole(std::string(line) + "\r\n").args; }

TEST(InlineRequest, IsGivenAsTheSameMultibulkFrame) {
  const ParsedRequest parsed = ParseWhole("SET key \"a b\"\r\nPING\r\n");
  std::string frame;
  AppendCommand(frame, {"SET", "key", "a b"});
  EXPECT_EQ(parsed.frame, frame);
  EXPECT_EQ(parsed.consumed, 15u);
  RequestParser parser;
  ASSERT_EQ(parser.Parse("PING\n", {}), ParseStatus::kComplete);
  EXPECT_TRUE(parser.is_inline());
  ASSERT_EQ(parser.Parse(frame, {}), ParseStatus::kComplete);
  EXPECT_FALSE(parser.is_inline());
}

TEST(InlineRequest, LineFeedAloneEndsIt) {
  EXPECT_THAT(ParseWhole("PING\n").args, ElementsAre("PING"));
  EXPECT_THAT(ParseWhole("GET a\r\r\n").args, ElementsAre("GET", "a"));
  EXPECT_THAT(ParseWhole("GET\ra\n").args, ElementsAre("GET", "a"));
}

TEST(InlineRequest, WhiteSpacePartsWords) {
  EXPECT_THAT(Words("  GET \t a  "), ElementsAre("GET", "a"));
  // Skipped between words, but no end of one.
  EXPECT_THAT(Words("GET \v\f a\vb"), ElementsAre("GET", "a\vb"));
}

TEST(InlineRequest, DoubleQuotesKnowEscapes) {
  EXPECT_THAT(Words(R"(SET k "\n\r\t\b\a\\\"\q")"), ElementsAre("SET", "k", "\n\r\t\b\a\\\"q"));
  EXPECT_THAT(Words(R"(SET k "\x00\xff\xFf\x4a")"), ElementsAre("SET", "k", "\x00\xff\xff\x4a"sv));
  EXPECT_THAT(Words(R"(SET k "\xg1\x1\x")"), ElementsAre("SET", "k", "xg1x1x"));
  EXPECT_THAT(Words(R"("")"), ElementsAre(""));
}

TEST(InlineRequest, SingleQuotesKnowOnlyTheirOwnEscape) {
  EXPECT_THAT(Words(R"(SET k 'a\'b\n\x00"\\ ')"), ElementsAre("SET", "k", R"(a'b\n\x00"\\ )"));
  EXPECT_THAT(Words("''"), ElementsAre(""));
}

TEST(InlineRequest, QuotesMayOpenWithinAWordButMustEndIt) {
  EXPECT_THAT(Words(R"(a"b c"  d'e f')"), ElementsAre("ab c", "de f"));
  EXPECT_THAT(Words("\"a\"\vb"), ElementsAre("a", "b"));
  for (std::string_view line : {R"("a"b)", R"('a'b)", R"("a""b")", R"(set """key""" v)", R"('a'"b")"}) {
    EXPECT_EQ(ParseWhole(std::string(line) + "\r\n").error, kUnbalanced) << line;
  }
}

TEST(InlineRequest, OpenQuotesAreRedisError) {
  for (std::string_view line :
       {R"(GET ")", R"(GET ')", R"(GET "a)", R"(GET 'a)", R"(GET "a\")", R"(GET 'a\')", R"(GET "\)"}) {
    EXPECT_EQ(ParseWhole(std::string(line) + "\r\n").error, kUnbalanced) << line;
    EXPECT_EQ(ParseWhole(std::string(line) + "\n").error, kUnbalanced) << line;
  }
}

TEST(InlineRequest, BackslashOutsideQuotesIsItself) {
  EXPECT_THAT(Words(R"(GET a\n\x00)"), ElementsAre("GET", R"(a\n\x00)"));
}

TEST(InlineRequest, NulByteIsRefused) {
  EXPECT_EQ(ParseWhole("PING\0x\r\n"sv).error, "ERR Protocol error: NUL byte in inline request");
}

TEST(InlineRequest, HighBytesPassThrough) {
  EXPECT_THAT(Words("GET \xc3\xa4\x80\xff"), ElementsAre("GET", "\xc3\xa4\x80\xff"));
}

TEST(InlineRequest, ManyWordsAreHeldToTheLimitOnArguments) {
  RequestLimits few;
  few.max_args = 3;
  EXPECT_THAT(ParseWhole("a b c\r\n", few).args, ElementsAre("a", "b", "c"));
  EXPECT_EQ(ParseWhole("a b c d\r\n", few).error, "ERR Protocol error: invalid multibulk length");
  std::string line;
  for (int i = 0; i < 30000; ++i) line += "x ";
  EXPECT_EQ(ParseWhole(line + "\n").args.size(), 30000u);
}

}  // namespace
}  // namespace ringway::protocol
