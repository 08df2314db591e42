#include "protocol/reply_cursor.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringway::protocol {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Elements(std::string_view reply) {
  std::vector<std::string> elements;
  ReplyCursor cursor(reply);
  for (std::string_view element; cursor.Next(&element);) elements.emplace_back(element);
  return elements;
}

TEST(ReplyCursor, ElementsOfAnyShapeComeWhole) {
  EXPECT_THAT(Elements("*3\r\n$1\r\na\r\n*2\r\n:1\r\n:2\r\n$-1\r\n"),
              ElementsAre("$1\r\na\r\n", "*2\r\n:1\r\n:2\r\n", "$-1\r\n"));
  EXPECT_THAT(Elements("~1\r\n+a\r\n"), ElementsAre("+a\r\n"));
  EXPECT_THAT(Elements("%1\r\n+k\r\n%1\r\n+a\r\n_\r\n"), ElementsAre("+k\r\n", "%1\r\n+a\r\n_\r\n"));
  EXPECT_THAT(Elements(">2\r\n+p\r\n#t\r\n"), ElementsAre("+p\r\n", "#t\r\n"));
}

TEST(ReplyCursor, AttributesStayWithTheirElement) {
  EXPECT_THAT(Elements("|1\r\n+x\r\n+y\r\n*2\r\n|1\r\n+k\r\n*0\r\n:1\r\n:2\r\n"),
              ElementsAre("|1\r\n+k\r\n*0\r\n:1\r\n", ":2\r\n"));
  EXPECT_EQ(ReplyCursor("|1\r\n+x\r\n+y\r\n%2\r\n").type(), '%');
}

TEST(ReplyCursor, NullsEmptyAndSimpleRepliesAreToldApart) {
  for (std::string_view null : {"*-1\r\n", "$-1\r\n", "_\r\n", "|1\r\n+a\r\n+b\r\n*-1\r\n"}) {
    EXPECT_EQ(ReplyCursor(null).length(), -1) << null;
    EXPECT_TRUE(IsNull(null)) << null;
    EXPECT_THAT(Elements(null), IsEmpty());
  }
  EXPECT_EQ(ReplyCursor("*0\r\n").length(), 0);
  EXPECT_EQ(ReplyCursor("*0\r\n").type(), '*');
  EXPECT_EQ(ReplyCursor("$5\r\nhello\r\n").length(), 0);
  EXPECT_EQ(ReplyCursor("%3\r\n").length(), 6);
  EXPECT_EQ(ReplyCursor("").type(), 0);
  EXPECT_FALSE(IsNull("*0\r\n"));
  EXPECT_FALSE(IsNull(""));
}

TEST(ReplyCursor, ReplyThatIsNotWholeEndsTheWalk) {
  EXPECT_THAT(Elements("*3\r\n:1\r\n$5\r\nhel"), ElementsAre(":1\r\n"));
  EXPECT_THAT(Elements("*3\r\n:1\r\n@\r\n"), ElementsAre(":1\r\n"));
  for (std::string_view bytes :
       {"", "*", "*3", "*3\r", "*3\r\n", "*x\r\n", "|", "|1\r\n", "|-5\r\n*1\r\n:1\r\n",
        "|9000000000000000000\r\n*1\r\n:1\r\n", "*9223372036854775807\r\n"}) {
    EXPECT_THAT(Elements(bytes), IsEmpty()) << bytes;
  }
}

TEST(ReplyCursor, RestIsWhatFollows) {
  ReplyCursor cursor("*2\r\n:1\r\n:2\r\n");
  std::string_view element;
  ASSERT_TRUE(cursor.Next(&element));
  EXPECT_EQ(cursor.rest(), ":2\r\n");
}

TEST(ReplyValues, IntegersAreReadOnlyFromIntegers) {
  EXPECT_EQ(IntegerOf(":0\r\n"), 0);
  EXPECT_EQ(IntegerOf(":-12\r\n"), -12);
  EXPECT_EQ(IntegerOf("|1\r\n+a\r\n+b\r\n:7\r\n"), 7);
  for (std::string_view reply :
       {"", ":", ":1", ":\r\n", ":x\r\n", "$1\r\n1\r\n", "+1\r\n", "_\r\n", ":99999999999999999999\r\n"}) {
    EXPECT_EQ(IntegerOf(reply), std::nullopt) << reply;
  }
}

TEST(ReplyValues, TextsAreReadFromEveryTextType) {
  EXPECT_EQ(BulkOf("$5\r\nhe\r\no\r\n"), "he\r\no");
  EXPECT_EQ(BulkOf("$0\r\n\r\n"), "");
  EXPECT_EQ(BulkOf("+OK\r\n"), "OK");
  EXPECT_EQ(BulkOf("=8\r\ntxt:info\r\n"), "info");
  for (std::string_view reply :
       {"", "$-1\r\n", "$5\r\nhel", "$5\r\nhello", "+OK", "=3\r\ntxt\r\n", ":1\r\n", "-ERR x\r\n", "_\r\n"}) {
    EXPECT_EQ(BulkOf(reply), std::nullopt) << reply;
  }
}

TEST(ReplyValues, ErrorsOfBothKindsAreErrors) {
  EXPECT_TRUE(IsError("-ERR x\r\n"));
  EXPECT_TRUE(IsError("!5\r\nERR x\r\n"));
  EXPECT_TRUE(IsError("|1\r\n+a\r\n+b\r\n-ERR x\r\n"));
  EXPECT_FALSE(IsError("|1\r\n+a\r\n-ERR in an attribute\r\n+OK\r\n"));
  EXPECT_FALSE(IsError("+OK\r\n"));
  EXPECT_FALSE(IsError(""));
  EXPECT_EQ(ErrorText("-ERR some text\r\n"), "ERR some text");
  EXPECT_EQ(ErrorText("!5\r\nERR x\r\n"), "ERR x");
  EXPECT_EQ(ErrorText("+OK\r\n"), "");
  EXPECT_EQ(ErrorCode("-MOVED 3999 127.0.0.1:6381\r\n"), "MOVED");
  EXPECT_EQ(ErrorCode("-ERR\r\n"), "ERR");
  EXPECT_EQ(ErrorCode(":1\r\n"), "");
}

}  // namespace
}  // namespace ringway::protocol
