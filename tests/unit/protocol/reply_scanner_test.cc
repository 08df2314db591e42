#include "protocol/reply_scanner.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/unit/protocol/split_bytes.h"

namespace ringway::protocol {
namespace {

using testing::EveryByte;
using testing::Scanned;
using testing::ScanSplit;
using testing::ScanWhole;

std::string Repeat(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out.append(text);
  return out;
}

const std::string kReplies[] = {
    "+OK\r\n",
    "+\r\n",
    "-ERR no\r\n",
    "-\r\n",
    ":0\r\n",
    ":-9223372036854775808\r\n",
    "_\r\n",
    "#t\r\n",
    "#f\r\n",
    ",3.14\r\n",
    ",inf\r\n",
    ",-1e-9\r\n",
    "(3492890328409238509324850943850943825024385\r\n",
    "$0\r\n\r\n",
    "$-1\r\n",
    "$1\r\na\r\n",
    "$5\r\n\r\n\r\n\r\r\n",
    "$10\r\n0123456789\r\n",
    "!21\r\nSYNTAX invalid syntax\r\n",
    "=15\r\ntxt:Some string\r\n",
    "=4\r\ntxt:\r\n",
    "*0\r\n",
    "*-1\r\n",
    "*1\r\n$-1\r\n",
    "*3\r\n:1\r\n+OK\r\n-ERR in it\r\n",
    "*2\r\n*-1\r\n_\r\n",
    "%0\r\n",
    "%1\r\n+a\r\n*0\r\n",
    "~2\r\n$1\r\na\r\n$2\r\nbb\r\n",
    ">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n",
    ">0\r\n",
    "*2\r\n*2\r\n*0\r\n*2\r\n:1\r\n*1\r\n_\r\n%2\r\n:1\r\n~1\r\n#t\r\n+k\r\n$3\r\nabc\r\n",
    "|1\r\n+ttl\r\n:3600\r\n$1\r\nv\r\n",
    "|0\r\n+OK\r\n",
    "|1\r\n+a\r\n*0\r\n|1\r\n+b\r\n:1\r\n:2\r\n",
    "*2\r\n|1\r\n+a\r\n+b\r\n:1\r\n:2\r\n",
    "*1\r\n|0\r\n*0\r\n",
    "|1\r\n|1\r\n+x\r\n+y\r\n+a\r\n+b\r\n>1\r\n+p\r\n",
    "+lone \r and \n and \r\r\n",
    "-a\rb\n\r\r\n",
    "+" + std::string(31, 's') + "\r\n",
    "+" + std::string(32, 's') + "\r\n",
    "+" + std::string(300, 's') + "\r\n",
};

char TypeOf(const std::string& reply) {
  if (reply[0] != '|') return reply[0];
  if (reply.ends_with(":2\r\n")) return ':';
  if (reply.ends_with("+p\r\n")) return '>';
  return reply.ends_with("+OK\r\n") ? '+' : '$';
}

TEST(ReplyScanner, EveryTypeEndsWhereItEnds) {
  for (const std::string& reply : kReplies) {
    const Scanned expected{ParseStatus::kComplete, reply.size(), TypeOf(reply)};
    EXPECT_EQ(ScanWhole(reply), expected) << reply;
    EXPECT_EQ(ScanWhole(reply + "+next\r\n"), expected) << reply;
    EXPECT_EQ(ScanWhole(reply + "garbage"), expected) << reply;
  }
}

TEST(ReplyScanner, SplitAtAnyByteChangesNothing) {
  for (const std::string& reply : kReplies) {
    const Scanned expected{ParseStatus::kComplete, reply.size(), TypeOf(reply)};
    EXPECT_EQ(ScanSplit(reply, EveryByte(reply.size())), expected) << reply;
    for (size_t cut = 0; cut < reply.size(); ++cut) {
      EXPECT_EQ(ScanSplit(reply, {cut}).status, ParseStatus::kNeedMore) << reply << " cut at " << cut;
      EXPECT_EQ(ScanSplit(reply, {cut, reply.size()}), expected) << reply << " cut at " << cut;
    }
  }
}

TEST(ReplyScanner, RepliesFollowOneAnother) {
  std::string stream;
  for (const std::string& reply : kReplies) stream += reply;
  for (size_t piece = 1; piece < 40; ++piece) {
    ReplyScanner scanner;
    size_t replies = 0;
    for (size_t begin = 0; begin < stream.size(); begin += piece) {
      std::string_view bytes = std::string_view(stream).substr(begin, piece);
      while (!bytes.empty()) {
        const ReplyScanner::Result result = scanner.Scan(bytes);
        ASSERT_NE(result.status, ParseStatus::kError);
        if (result.status == ParseStatus::kComplete) ++replies;
        bytes.remove_prefix(result.consumed);
      }
    }
    EXPECT_EQ(replies, std::size(kReplies));
    EXPECT_FALSE(scanner.in_progress());
  }
}

TEST(ReplyScanner, LengthsAroundEveryBoundaryAreExact) {
  for (size_t length : {0, 1, 8, 9, 10, 11, 98, 99, 100, 101, 999, 1000, 9999, 10000, 99999, 100000, 999999,
                        1000000, 1000001}) {
    for (char type : {'$', '=', '!'}) {
      const std::string reply = type + std::to_string(length) + "\r\n" + std::string(length, 'v') + "\r\n";
      EXPECT_EQ(ScanWhole(reply).consumed, reply.size()) << length;
      EXPECT_EQ(ScanWhole(reply.substr(0, reply.size() - 1)).status, ParseStatus::kNeedMore) << length;
      std::string longer = reply;
      longer.insert(longer.end() - 2, 'v');
      EXPECT_EQ(ScanWhole(longer).status, ParseStatus::kError) << length;
    }
  }
}

TEST(ReplyScanner, CountsAroundEveryBoundaryAreExact) {
  for (size_t count : {1, 9, 10, 11, 99, 100, 101, 999, 1000, 10000}) {
    const std::string number = std::to_string(count);
    for (char type : {'*', '~', '>'}) {
      EXPECT_EQ(ScanWhole(type + number + "\r\n" + Repeat("_\r\n", count)).status, ParseStatus::kComplete);
      EXPECT_EQ(ScanWhole(type + number + "\r\n" + Repeat("_\r\n", count - 1)).status,
                ParseStatus::kNeedMore);
    }
    EXPECT_EQ(ScanWhole("%" + number + "\r\n" + Repeat("_\r\n", 2 * count)).status, ParseStatus::kComplete);
    EXPECT_EQ(ScanWhole("%" + number + "\r\n" + Repeat("_\r\n", 2 * count - 1)).status,
              ParseStatus::kNeedMore);
  }
}

TEST(ReplyScanner, OtherSpellingsOfALengthBreakTheStream) {
  for (std::string_view length :
       {"", "-", "-2", "-10", "--1", "+1", " 1", "1 ", "01", "00", "-0", "-01", "0-1", "1-", "a", "?",
        "9223372036854775808", "18446744073709551617", "1000000000000000000000"}) {
    for (char type : {'$', '*', '%', '~', '>', '|', '=', '!'}) {
      const std::string bytes = type + std::string(length) + "\r\n";
      EXPECT_EQ(ScanWhole(bytes).status, ParseStatus::kError) << bytes;
      EXPECT_EQ(ScanSplit(bytes, EveryByte(bytes.size())).status, ParseStatus::kError) << bytes;
    }
  }
  // With just the payload that a lenient reader would take.
  for (std::string_view bytes : {"$01\r\na\r\n", "$00\r\n\r\n", "*01\r\n_\r\n", "*1\r\n$01\r\na\r\n"}) {
    EXPECT_EQ(ScanWhole(bytes).status, ParseStatus::kError) << bytes;
  }
  for (std::string_view bytes :
       {"%-1\r\n", "~-1\r\n", ">-1\r\n", "|-1\r\n", "=-1\r\n", "!-1\r\n", "$1\rx", "$1\n"}) {
    EXPECT_EQ(ScanWhole(bytes).status, ParseStatus::kError) << bytes;
  }
}

TEST(ReplyScanner, LengthOverLimitBreaksTheStream) {
  for (char type : {'$', '*', '%'}) {
    EXPECT_EQ(ScanWhole(type + std::to_string(kMaxReplyLength) + "\r\n").status, ParseStatus::kNeedMore);
    EXPECT_EQ(ScanWhole(type + std::to_string(kMaxReplyLength + 1) + "\r\n").status, ParseStatus::kError);
  }
}

TEST(ReplyScanner, UnknownTypesBreakTheStream) {
  const std::string known = "+-:$*_#,(!=%~|>";
  for (int c = 0; c < 256; ++c) {
    const char type = static_cast<char>(c);
    const bool good = known.find(type) != std::string::npos;
    EXPECT_EQ(ScanWhole(std::string(1, type)).status == ParseStatus::kNeedMore, good) << c;
    EXPECT_EQ(ScanWhole("*1\r\n" + std::string(1, type)).status == ParseStatus::kNeedMore, good) << c;
  }
}

TEST(ReplyScanner, StreamedAggregatesBreakTheStream) {
  for (std::string_view bytes : {"$?\r\n", "*?\r\n", "%?\r\n", ";1\r\n", ".\r\n"}) {
    EXPECT_EQ(ScanWhole(bytes).status, ParseStatus::kError) << bytes;
  }
}

TEST(ReplyScanner, ErrorIsFinal) {
  ReplyScanner scanner;
  ASSERT_EQ(scanner.Scan("@").status, ParseStatus::kError);
  EXPECT_EQ(scanner.Scan("+OK\r\n").status, ParseStatus::kError);
  EXPECT_EQ(scanner.Scan("").status, ParseStatus::kError);
}

TEST(ReplyScanner, NestingOverLimitBreaksTheStream) {
  const std::string at = Repeat("*1\r\n", kMaxReplyDepth) + "_\r\n";
  EXPECT_EQ(ScanWhole(at).status, ParseStatus::kComplete);
  EXPECT_EQ(ScanWhole("*1\r\n" + at).status, ParseStatus::kError);
  EXPECT_EQ(ScanWhole(Repeat("|1\r\n", kMaxReplyDepth + 1)).status, ParseStatus::kError);
}

TEST(ReplyScanner, MemoryFollowsTheDepthSeenAndIsGivenBack) {
  ReplyScanner scanner;
  for (std::string_view bytes : {"*1000000000\r\n", "*1\r\n", "$500000000\r\n"}) {
    ASSERT_EQ(scanner.Scan(bytes).status, ParseStatus::kNeedMore);
    EXPECT_LE(scanner.memory_bytes(), 64u);
  }
  ReplyScanner deep;
  ASSERT_EQ(deep.Scan(Repeat("*1\r\n", kMaxReplyDepth)).status, ParseStatus::kNeedMore);
  EXPECT_LE(deep.memory_bytes(), 2 * 8 * kMaxReplyDepth);
  ASSERT_EQ(deep.Scan("_\r\n").status, ParseStatus::kComplete);
  EXPECT_EQ(deep.memory_bytes(), 0u);
}

TEST(ReplyScanner, TypeIsThatOfTheReplyItself) {
  ReplyScanner scanner;
  EXPECT_FALSE(scanner.in_progress());
  scanner.Scan("|1\r\n+k\r\n");
  EXPECT_EQ(scanner.type(), '|');
  EXPECT_TRUE(scanner.in_progress());
  scanner.Scan("$1\r\nx\r\n");
  EXPECT_EQ(scanner.type(), '|');
  EXPECT_TRUE(scanner.in_progress());
  scanner.Scan(">1\r\n");
  EXPECT_TRUE(scanner.is_push());
  EXPECT_EQ(scanner.Scan("+x\r\n").status, ParseStatus::kComplete);
  EXPECT_TRUE(scanner.is_push());
  EXPECT_FALSE(scanner.in_progress());
  scanner.Scan("*2\r\n>1\r\n+a\r\n");
  EXPECT_EQ(scanner.type(), '*');
}

TEST(ReplyScanner, MissingBytesNeverAskForTooMuch) {
  for (const std::string& reply : kReplies) {
    for (size_t end = 0; end < reply.size(); ++end) {
      ReplyScanner scanner;
      ASSERT_EQ(scanner.Scan(std::string_view(reply).substr(0, end)).status, ParseStatus::kNeedMore);
      EXPECT_GE(scanner.missing_bytes(), 1u) << reply << " after " << end;
      EXPECT_LE(scanner.missing_bytes(), reply.size() - end) << reply << " after " << end;
    }
  }
  ReplyScanner scanner;
  ASSERT_EQ(scanner.Scan("$1000\r\nabc").status, ParseStatus::kNeedMore);
  EXPECT_EQ(scanner.missing_bytes(), 999u);
}

}  // namespace
}  // namespace ringway::protocol
