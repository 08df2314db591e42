#include "protocol/request_parser.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/command_writer.h"
#include "tests/unit/protocol/split_bytes.h"

namespace ringway::protocol {
namespace {

using ::testing::ElementsAre;
using testing::EveryByte;
using ::testing::IsEmpty;
using testing::ParsedRequest;
using testing::ParseSplit;
using testing::ParseWhole;

std::string Command(const std::vector<std::string_view>& args) {
  std::string out;
  AppendCommand(out, args);
  return out;
}

std::string ErrorOf(std::string_view bytes, const RequestLimits& limits = {}) {
  return ParseWhole(bytes, limits).error;
}

constexpr std::string_view kInvalidCount = "ERR Protocol error: invalid multibulk length";
constexpr std::string_view kInvalidLength = "ERR Protocol error: invalid bulk length";

TEST(RequestParser, OrdinaryCommandIsTakenWhole) {
  const std::string frame = Command({"SET", "key", "value"});
  RequestParser parser;
  ASSERT_EQ(parser.Parse(frame + "*1\r\n", {}), ParseStatus::kComplete);
  EXPECT_FALSE(parser.is_inline());
  const ParsedRequest parsed = ParseWhole(frame + "*1\r\n$4\r\nPING\r\n");
  EXPECT_EQ(parsed.consumed, frame.size());
  EXPECT_EQ(parsed.frame, frame);
  EXPECT_THAT(parsed.args, ElementsAre("SET", "key", "value"));
}

TEST(RequestParser, PipelinedRequestsAreTakenOneByOne) {
  const std::string bytes = Command({"GET", "a"}) + "PING x\r\n" +
                            Command({"MGET", "1", "2", "3", "4", "5", "6", "7"}) + "\r\n*0\r\n";
  std::string_view rest = bytes;
  RequestParser parser;
  std::vector<size_t> sizes;
  while (!rest.empty()) {
    ASSERT_EQ(parser.Parse(rest, {}), ParseStatus::kComplete);
    sizes.push_back(parser.request().size());
    rest.remove_prefix(parser.consumed());
  }
  EXPECT_THAT(sizes, ElementsAre(2, 2, 8, 0, 0));
  EXPECT_EQ(parser.Parse("", {}), ParseStatus::kNeedMore);
}

TEST(RequestParser, SplitAtAnyByteChangesNothing) {
  const std::string frames[] = {
      Command({"GET", "k"}),
      Command({"", "", ""}),
      Command(
          {"SET", std::string(9, 'a'), std::string(10, 'b'), std::string(99, 'c'), std::string(100, 'd')}),
      Command({"SET", "k", std::string(999, 'x'), std::string(1000, 'y'), "\r\n\r\n", std::string(5, '\0')}),
      Command(std::vector<std::string_view>(12, "twelve")),
      "*0\r\n",
      "*-1\r\n",
      "*-10\r\n",
      "\r\n",
      "\n",
      "GET \"a\\x00\\r\\n\" 'b\\'c' d\r\n",
      "  PING  \n",
  };
  for (const std::string& frame : frames) {
    const ParsedRequest whole = ParseWhole(frame);
    ASSERT_EQ(whole.status, ParseStatus::kComplete) << frame;
    EXPECT_EQ(whole.consumed, frame.size());
    EXPECT_EQ(ParseSplit(frame, EveryByte(frame.size())), whole) << frame;
    for (size_t cut = 0; cut < frame.size(); ++cut) {
      EXPECT_EQ(ParseSplit(frame, {cut}).status, ParseStatus::kNeedMore) << frame << " cut at " << cut;
      EXPECT_EQ(ParseSplit(frame, {cut, frame.size()}), whole) << frame << " cut at " << cut;
    }
  }
}

TEST(RequestParser, ErrorsDoNotDependOnSplits) {
  const std::string wrong[] = {"*1\r\nfoo\r\n", "*a\r\n",         "*1\r\n$x\r\n", "*1\r\n$3\r\nabcde",
                               "*1\r\n\r\n",    "GET \"open\r\n", "*1\n\n\r\n",   "*1\r\n$1\rx\r\n"};
  for (const std::string& bytes : wrong) {
    const ParsedRequest whole = ParseWhole(bytes);
    ASSERT_EQ(whole.status, ParseStatus::kError) << bytes;
    EXPECT_EQ(ParseSplit(bytes, EveryByte(bytes.size())), whole) << bytes;
  }
}

// Lengths and counts: every spelling around every boundary.

TEST(RequestParser, LengthsAroundEveryBoundaryAreExact) {
  for (size_t length : {0,    1,    8,    9,     10,    11,    98,    99,    100,   101,   998,   999,
                        1000, 1001, 9999, 10000, 16383, 16384, 16385, 65535, 65536, 65537, 99999, 100000}) {
    const std::string value(length, 'v');
    const std::string frame = Command({"SET", "k", value});
    const ParsedRequest parsed = ParseWhole(frame);
    ASSERT_EQ(parsed.status, ParseStatus::kComplete) << length;
    EXPECT_EQ(parsed.args.back(), value);
    // One byte short in any place that matters.
    for (size_t back : {1, 2, 3}) {
      EXPECT_EQ(ParseWhole(frame.substr(0, frame.size() - back)).status, ParseStatus::kNeedMore) << length;
    }
    // One byte of payload more or less than announced.
    std::string longer = frame;
    longer.insert(longer.end() - 2, 'v');
    EXPECT_EQ(ErrorOf(longer), "ERR Protocol error: expected CRLF after bulk") << length;
  }
}

TEST(RequestParser, CountsAroundEveryBoundaryAreExact) {
  for (size_t count : {1, 2, 5, 6, 7, 9, 10, 11, 99, 100, 101, 999, 1000, 1024, 100000}) {
    const std::vector<std::string_view> args(count, "a");
    const ParsedRequest parsed = ParseWhole(Command(args));
    ASSERT_EQ(parsed.status, ParseStatus::kComplete) << count;
    EXPECT_EQ(parsed.args.size(), count);
    EXPECT_EQ(ParseWhole(std::string("*") + std::to_string(count + 1) +
                         Command(args).substr(1 + std::to_string(count).size()))
                  .status,
              ParseStatus::kNeedMore)
        << count;
  }
}

TEST(RequestParser, OtherSpellingsOfACountAreErrors) {
  for (std::string_view count :
       {"", "-", "+1", " 1", "1 ", "01", "00", "-0", "0x1", "1.0", "a", "1a", "--1", "9223372036854775808",
        "18446744073709551617", "99999999999999999999999999"}) {
    EXPECT_EQ(ErrorOf(std::string("*") + std::string(count) + "\r\n"), kInvalidCount) << count;
  }
  EXPECT_EQ(ErrorOf("*1\rx"), kInvalidCount);
  EXPECT_EQ(ErrorOf("*3000000000\r\n"), kInvalidCount);
}

TEST(RequestParser, OtherSpellingsOfALengthAreErrors) {
  for (std::string_view length : {"", "-", "-1", "-10", "+1", " 1", "1 ", "01", "00", "001", "-0", "a", "1a",
                                  "blabla", "9223372036854775808", "18446744073709551617", "2000000000"}) {
    EXPECT_EQ(ErrorOf(std::string("*1\r\n$") + std::string(length) + "\r\n"), kInvalidLength) << length;
    EXPECT_EQ(ErrorOf(std::string("*1\r\n$") + std::string(length) + "\r\nabcdefghij\r\n"), kInvalidLength)
        << length;
  }
  // With just the payload that a lenient reader would take.
  EXPECT_EQ(ErrorOf("*1\r\n$01\r\na\r\n"), kInvalidLength);
  EXPECT_EQ(ErrorOf("*1\r\n$001\r\na\r\n"), kInvalidLength);
  EXPECT_EQ(ErrorOf("*1\r\n$00\r\n\r\n"), kInvalidLength);
  EXPECT_EQ(ErrorOf("*1\r\n$1\rx"), kInvalidLength);
}

TEST(RequestParser, AnythingButABulkIsNamedInTheError) {
  EXPECT_EQ(ErrorOf("*1\r\nfoo\r\n"), "ERR Protocol error: expected '$', got 'f'");
  EXPECT_EQ(ErrorOf("*2\r\n$3\r\nGET\r\n:1\r\n"), "ERR Protocol error: expected '$', got ':'");
  EXPECT_EQ(ErrorOf("*1\r\n\r\n"), "ERR Protocol error: expected '$', got ' '");
  EXPECT_EQ(ErrorOf("*1\r\n\nx\r\n"), "ERR Protocol error: expected '$', got ' '");
  // Not before the line is there: until then Redis would wait.
  EXPECT_EQ(ParseWhole("*1\r\nfoo").status, ParseStatus::kNeedMore);
}

TEST(RequestParser, ErrorIsFinal) {
  RequestParser parser;
  ASSERT_EQ(parser.Parse("*a\r\n", {}), ParseStatus::kError);
  EXPECT_EQ(parser.Parse("*1\r\n$4\r\nPING\r\n", {}), ParseStatus::kError);
  EXPECT_EQ(parser.error(), kInvalidCount);
}

// Limits, on both sides of each.

TEST(RequestParser, CountOverLimitIsProtocolError) {
  const std::string at = std::string("*") + std::to_string(kMaxMultibulkCount) + "\r\n";
  EXPECT_EQ(ParseWhole(at).status, ParseStatus::kNeedMore);
  EXPECT_EQ(ErrorOf(std::string("*") + std::to_string(kMaxMultibulkCount + 1) + "\r\n"), kInvalidCount);
  RequestLimits few;
  few.max_args = 3;
  EXPECT_EQ(ParseWhole(Command({"a", "b", "c"}), few).status, ParseStatus::kComplete);
  EXPECT_EQ(ErrorOf(Command({"a", "b", "c", "d"}), few), kInvalidCount);
}

TEST(RequestParser, BulkLengthOverLimitIsProtocolError) {
  EXPECT_EQ(ParseWhole(std::string("*1\r\n$") + std::to_string(kMaxBulkBytes) + "\r\n").status,
            ParseStatus::kNeedMore);
  EXPECT_EQ(ErrorOf(std::string("*1\r\n$") + std::to_string(kMaxBulkBytes + 1) + "\r\n"), kInvalidLength);
  for (uint32_t limit : {5u, 50u, 500u, 5000u}) {
    RequestLimits small;
    small.max_bulk_bytes = limit;
    EXPECT_EQ(ParseWhole(Command({std::string(limit, 'a')}), small).status, ParseStatus::kComplete);
    EXPECT_EQ(ErrorOf(Command({std::string(limit + 1, 'a')}), small), kInvalidLength);
  }
}

TEST(RequestParser, RequestOverLimitIsProtocolErrorBeforeItsBytesArrive) {
  RequestLimits limits;
  limits.max_request_bytes = 100;
  const std::string at = Command({"SET", "k", std::string(100 - 27, 'v')});
  ASSERT_EQ(at.size(), 100u);
  EXPECT_EQ(ParseWhole(at, limits).status, ParseStatus::kComplete);
  EXPECT_EQ(ParseWhole(at + at, limits).consumed, 100u);
  EXPECT_EQ(ErrorOf(Command({"SET", "k", std::string(100 - 26, 'v')}), limits),
            "ERR Protocol error: too big request");
  EXPECT_EQ(ErrorOf("*1\r\n$500\r\n", limits), "ERR Protocol error: too big request");
  // Wherever in a frame the limit lies.
  const std::string many = Command(std::vector<std::string_view>(16, "a"));
  for (uint32_t limit = 1; limit < many.size(); ++limit) {
    limits.max_request_bytes = limit;
    EXPECT_EQ(ErrorOf(many, limits), "ERR Protocol error: too big request") << limit;
    EXPECT_EQ(ErrorOf(std::string(limit, 'a'), limits), "ERR Protocol error: too big request") << limit;
  }
}

TEST(RequestParser, BeforeAuthenticationLimitsAreRedisOnes) {
  RequestLimits stranger;
  stranger.unauthenticated = true;
  EXPECT_EQ(ParseWhole(Command(std::vector<std::string_view>(9, "a")), stranger).status,
            ParseStatus::kComplete);
  EXPECT_EQ(ParseWhole(Command(std::vector<std::string_view>(10, "a")), stranger).status,
            ParseStatus::kComplete);
  EXPECT_EQ(ErrorOf(Command(std::vector<std::string_view>(11, "a")), stranger),
            "ERR Protocol error: unauthenticated multibulk length");
  EXPECT_EQ(ParseWhole(Command({std::string(16384, 'a')}), stranger).status, ParseStatus::kComplete);
  EXPECT_EQ(ErrorOf(Command({std::string(16385, 'a')}), stranger),
            "ERR Protocol error: unauthenticated bulk length");
  EXPECT_EQ(ErrorOf("*3000000000\r\n", stranger), kInvalidCount);
}

TEST(RequestParser, EndlessLineIsCutOff) {
  const struct {
    std::string begin;
    std::string_view error;
  } cases[] = {
      {"*", "ERR Protocol error: too big mbulk count string"},
      {"*1\r\n$", "ERR Protocol error: too big bulk count string"},
      {"*2\r\n$1\r\nx\r\n", "ERR Protocol error: too big bulk count string"},
      {"", "ERR Protocol error: too big inline request"},
      {std::string(1, '\0'), "ERR Protocol error: too big inline request"},
  };
  for (const auto& c : cases) {
    const size_t line_begin = c.begin.rfind('\n') == std::string::npos ? 0 : c.begin.rfind('\n') + 1;
    std::string bytes = c.begin + std::string(line_begin + kMaxInlineBytes - c.begin.size(), 'a');
    EXPECT_EQ(ParseWhole(bytes).status, ParseStatus::kNeedMore) << c.error;
    bytes.push_back('a');
    EXPECT_EQ(ErrorOf(bytes), c.error);
    // The line end makes no difference once the line is too long, however the bytes arrived.
    EXPECT_EQ(ErrorOf(bytes + "\r\n"), c.error);
  }
}

TEST(RequestParser, LongestInlineLineIsTaken) {
  const std::string line(kMaxInlineBytes, 'a');
  EXPECT_THAT(ParseWhole(line + "\n").args, ElementsAre(line));
  EXPECT_EQ(ErrorOf(std::string("a") + line + "\n"), "ERR Protocol error: too big inline request");
}

// Memory and work.

TEST(RequestParser, AnnouncedSizesAllocateNothing) {
  for (std::string_view bytes : {"*1048576\r\n", "*1000000000\r\n", "*1\r\n$536870912\r\n",
                                 "*1000000\r\n$1\r\na\r\n", "*1\r\n$2000000000\r\n"}) {
    RequestParser parser;
    parser.Parse(bytes, {});
    EXPECT_EQ(parser.memory_bytes(), 0u) << bytes;
  }
}

TEST(RequestParser, ArgumentTableGrowsWithBytesReceived) {
  const std::string frame = Command(std::vector<std::string_view>(100000, ""));
  const std::string bytes = std::string("*1000000") + frame.substr(frame.find('\r'));
  RequestParser parser;
  for (size_t end = 0; end <= bytes.size(); end += 1000) {
    ASSERT_EQ(parser.Parse(std::string_view(bytes).substr(0, end), {}), ParseStatus::kNeedMore);
    ASSERT_LE(parser.memory_bytes(), end * 3 + sizeof(Arg) * kInlineArgs * 2);
  }
}

TEST(RequestParser, MemoryOfAHugeRequestIsGivenBack) {
  RequestParser parser;
  const std::string huge = Command(std::vector<std::string_view>(10000, "a"));
  ASSERT_EQ(parser.Parse(huge, {}), ParseStatus::kComplete);
  EXPECT_GT(parser.memory_bytes(), 10000 * sizeof(Arg));
  parser.ReleaseMemory();
  EXPECT_EQ(parser.memory_bytes(), 0u);
  EXPECT_THAT(testing::Result(parser, parser.Parse(huge, {})).args, ::testing::SizeIs(10000));
  // A table of ordinary size stays, or every MGET would allocate it again.
  const std::string ordinary = Command(std::vector<std::string_view>(20, "a"));
  parser.ReleaseMemory();
  ASSERT_EQ(parser.Parse(ordinary, {}), ParseStatus::kComplete);
  const size_t before = parser.memory_bytes();
  parser.ReleaseMemory();
  EXPECT_EQ(parser.memory_bytes(), before);
  EXPECT_GT(before, 0u);
}

TEST(RequestParser, ReleaseWithinARequestLosesNothing) {
  const std::string frame = Command(std::vector<std::string_view>(1000, "a"));
  RequestParser parser;
  ASSERT_EQ(parser.Parse(std::string_view(frame).substr(0, frame.size() / 2), {}), ParseStatus::kNeedMore);
  parser.ReleaseMemory();
  EXPECT_THAT(testing::Result(parser, parser.Parse(frame, {})).args, ::testing::SizeIs(1000));
}

// Feeding byte by byte is linear if no byte is read again. Bytes that must not be read again are
// overwritten with what would derail the parser if they were.
TEST(RequestParser, BytesAlreadyParsedAreNotReadAgain) {
  const std::string frame = Command({"SET", std::string(3000, 'k'), std::string(70000, 'v'), "EX", "10"});
  RequestParser parser;
  std::string memory;
  size_t line_begin = 0;
  for (size_t i = 0; i + 1 < frame.size(); ++i) {
    memory.push_back(frame[i]);
    ASSERT_EQ(parser.Parse(memory, {}), ParseStatus::kNeedMore);
    // The line or argument under way is kept as it is from its first byte on.
    if (frame[i] == '\n') {
      std::fill(memory.begin() + static_cast<ptrdiff_t>(line_begin), memory.end(), '\xff');
      line_begin = i + 1;
    }
  }
  memory.push_back(frame.back());
  ASSERT_EQ(parser.Parse(memory, {}), ParseStatus::kComplete);
  ASSERT_EQ(parser.request().size(), 5u);
  EXPECT_EQ(parser.request()[2].size(), 70000u);
  EXPECT_EQ(parser.consumed(), frame.size());
}

TEST(RequestParser, PayloadUnderWayIsNotRead) {
  std::string memory = "*1\r\n$60000\r\n";
  const size_t header = memory.size();
  RequestParser parser;
  for (int i = 0; i < 60000; ++i) {
    // Line ends everywhere: reading them would end the argument early.
    memory.append("\r");
    ASSERT_EQ(parser.Parse(memory, {}), ParseStatus::kNeedMore);
  }
  memory.append("\r\n");
  ASSERT_EQ(parser.Parse(memory, {}), ParseStatus::kComplete);
  EXPECT_EQ(parser.request()[0], std::string_view(memory).substr(header, 60000));
}

TEST(RequestParser, LineUnderWayIsNotSearchedAgain) {
  for (const std::string begin : {"", "*", "*1\r\n$"}) {
    std::string memory = begin;
    RequestParser parser;
    for (int i = 0; i < 60000; ++i) {
      memory.push_back('7');
      ASSERT_EQ(parser.Parse(memory, {}), ParseStatus::kNeedMore);
      // A line end where it has looked already must go unnoticed.
      memory.back() = i % 2 == 0 ? '\r' : '\n';
    }
  }
}

TEST(RequestParser, MissingBytesNeverAskForTooMuch) {
  const std::string frame = Command({"SET", "k", std::string(5000, 'v'), "EX", "10"});
  for (size_t end = 0; end < frame.size(); ++end) {
    RequestParser parser;
    ASSERT_EQ(parser.Parse(std::string_view(frame).substr(0, end), {}), ParseStatus::kNeedMore);
    EXPECT_GE(parser.missing_bytes(), 1u);
    EXPECT_LE(parser.missing_bytes(), frame.size() - end);
  }
  RequestParser parser;
  ASSERT_EQ(parser.Parse("*2\r\n$3\r\nGET\r\n$1000\r\nabc", {}), ParseStatus::kNeedMore);
  EXPECT_EQ(parser.missing_bytes(), 999u);
}

TEST(RequestParser, IdleClientCostsLittle) { EXPECT_LE(sizeof(RequestParser), 144u); }

// Keys and shapes that broke other proxies.

TEST(RequestParser, OddKeysAreKeysLikeAnyOther) {
  for (std::string_view key : {"{", "}", "{}", "}{", "{a}1", "{}{a}", "", "\r\n", "*1\r\n", "$1\r\n"}) {
    EXPECT_THAT(ParseWhole(Command({"MGET", key, key})).args, ElementsAre("MGET", key, key));
  }
  EXPECT_THAT(ParseWhole(Command({"MGET"})).args, ElementsAre("MGET"));
}

TEST(RequestParser, HttpRequestIsAnInlineCommandByItsMethod) {
  EXPECT_THAT(ParseWhole("POST / HTTP/1.1\r\nHost: x\r\n").args, ElementsAre("POST", "/", "HTTP/1.1"));
  EXPECT_THAT(ParseWhole("Host: 127.0.0.1\r\n").args, ElementsAre("Host:", "127.0.0.1"));
}

TEST(RequestParser, NothingToDoIsNoRequest) {
  for (std::string_view bytes : {"\r\n", "\n", "   \r\n", "\t\v\f \n", "*0\r\n", "*-1\r\n", "*-10\r\n"}) {
    const ParsedRequest parsed = ParseWhole(bytes);
    EXPECT_EQ(parsed.status, ParseStatus::kComplete);
    EXPECT_EQ(parsed.consumed, bytes.size());
    EXPECT_THAT(parsed.args, IsEmpty());
  }
}

}  // namespace
}  // namespace ringway::protocol
