#include "protocol/number_text.h"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace ringway::protocol {
namespace {

TEST(NumberText, IntegersHaveOneSpelling) {
  EXPECT_EQ(ParseInt64("0"), 0);
  EXPECT_EQ(ParseInt64("7"), 7);
  EXPECT_EQ(ParseInt64("-1"), -1);
  EXPECT_EQ(ParseInt64("10"), 10);
  EXPECT_EQ(ParseInt64("9223372036854775807"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(ParseInt64("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  for (const char* text : {"",
                           "-",
                           "+",
                           "+1",
                           "-0",
                           "00",
                           "01",
                           "-01",
                           " 1",
                           "1 ",
                           "1\n",
                           "1.0",
                           "1e3",
                           "0x10",
                           "a",
                           "1a",
                           "9223372036854775808",
                           "-9223372036854775809",
                           "18446744073709551616",
                           "100000000000000000000000"}) {
    EXPECT_EQ(ParseInt64(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseInt64(std::string_view("1\0", 2)), std::nullopt);
  EXPECT_EQ(ParseInt64(std::string_view("12345").substr(0, 2)), 12);
}

TEST(NumberText, DoublesAreWhatRedisTakes) {
  EXPECT_EQ(ParseDouble("0"), 0.0);
  EXPECT_EQ(ParseDouble("3.5"), 3.5);
  EXPECT_EQ(ParseDouble("-1e-3"), -0.001);
  EXPECT_EQ(ParseDouble("+2"), 2.0);
  EXPECT_EQ(ParseDouble(".5"), 0.5);
  EXPECT_EQ(ParseDouble("0x10"), 16.0);
  EXPECT_EQ(ParseDouble("inf"), HUGE_VAL);
  EXPECT_EQ(ParseDouble("-Infinity"), -HUGE_VAL);
  EXPECT_EQ(ParseDouble("4.9e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(ParseDouble(std::string(1000, '0') + "1"), 1.0);
  for (const char* text : {"", " 1", "\t1", "\v1", "1 ", "1\n", "nan", "-nan", "1e400", "-1e400", "1e-400",
                           "a", "1a", "1e", ".", "-", "--1", "1,5"}) {
    EXPECT_EQ(ParseDouble(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseDouble(std::string_view("1\0", 2)), std::nullopt);
}

TEST(NumberText, DoublesArePrintedSoThatNothingIsLost) {
  EXPECT_EQ(FormatDouble(0), "0");
  EXPECT_EQ(FormatDouble(3), "3");
  EXPECT_EQ(FormatDouble(0.5), "0.5");
  EXPECT_EQ(FormatDouble(0.1), "0.10000000000000001");
  EXPECT_EQ(FormatDouble(-1e100), "-1e+100");
  EXPECT_EQ(FormatDouble(HUGE_VAL), "inf");
  EXPECT_EQ(FormatDouble(-HUGE_VAL), "-inf");
  EXPECT_EQ(FormatDouble(std::nan("")), "nan");
  for (double value : {1.0 / 3, 1e-300, 123456789.987654321, 5e-324})
    EXPECT_EQ(ParseDouble(FormatDouble(value)), value);
}

}  // namespace
}  // namespace ringway::protocol
