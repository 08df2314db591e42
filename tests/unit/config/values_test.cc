#include "config/values.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace ringway::config {
namespace {

TEST(Values, DurationUnitsMeanWhatTheySay) {
  EXPECT_EQ(ParseDurationUsec("0"), 0);
  EXPECT_EQ(ParseDurationUsec("250us"), 250);
  EXPECT_EQ(ParseDurationUsec("500ms"), 500'000);
  EXPECT_EQ(ParseDurationUsec("1s"), 1'000'000);
  EXPECT_EQ(ParseDurationUsec("2m"), 120'000'000);
  EXPECT_EQ(ParseDurationUsec("1h"), int64_t{3600} * 1'000'000);
  EXPECT_EQ(ParseDurationUsec("1d"), int64_t{86400} * 1'000'000);
  EXPECT_EQ(ParseDurationUsec("5MS"), 5000);
}

TEST(Values, DurationThatSaysTooLittleOrTooMuchIsRefused) {
  for (const char* text : {"", "1", "s", "1 s", " 1s", "1s ", "-1s", "+1s", "1.5s", "1sec", "0x1s", "1mss",
                           "36526d", "9223372036854775807us", "99999999999999999999s"}) {
    EXPECT_EQ(ParseDurationUsec(text), std::nullopt) << text;
  }
  EXPECT_NE(ParseDurationUsec("36525d"), std::nullopt);
}

TEST(Values, ByteUnitsAreRedisUnits) {
  EXPECT_EQ(ParseBytes("0"), 0);
  EXPECT_EQ(ParseBytes("7b"), 7);
  EXPECT_EQ(ParseBytes("1k"), 1000);
  EXPECT_EQ(ParseBytes("1kb"), 1024);
  EXPECT_EQ(ParseBytes("1m"), 1'000'000);
  EXPECT_EQ(ParseBytes("512MB"), int64_t{512} << 20);
  EXPECT_EQ(ParseBytes("1g"), 1'000'000'000);
  EXPECT_EQ(ParseBytes("1gb"), int64_t{1} << 30);
}

TEST(Values, ByteCountThatOverflowsIsRefused) {
  EXPECT_EQ(ParseBytes("4294967296gb"), int64_t{1} << 62);
  EXPECT_EQ(ParseBytes("4294967297gb"), std::nullopt);
  for (const char* text : {"", "mb", "-1mb", "1.5gb", "1 mb", "1tb", "1mib", "18446744073709551616"}) {
    EXPECT_EQ(ParseBytes(text), std::nullopt) << text;
  }
}

TEST(Values, NumberWithAnythingAroundItIsRefused) {
  EXPECT_EQ(ParseInteger("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1.0", "0x10", "1e3", "9223372036854775808"}) {
    EXPECT_EQ(ParseInteger(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseDecimal("2.5"), 2.5);
  EXPECT_EQ(ParseDecimal("1e3"), 1000);
  for (const char* text : {"", "nan", "inf", "-inf", "1e999", "0x1p3", "1,5", " 1", "1 "}) {
    EXPECT_EQ(ParseDecimal(text), std::nullopt) << text;
  }
}

TEST(Values, FormattedDurationIsReadBackAsTheSame) {
  std::mt19937_64 random(20230601);
  RecordProperty("seed", 20230601);
  for (int i = 0; i < 2000; ++i) {
    const int64_t usec = static_cast<int64_t>(random() % 86'400'000'000) / (i % 2 == 0 ? 1 : 1'000'000) *
                         (i % 2 == 0 ? 1 : 1'000'000);
    ASSERT_EQ(ParseDurationUsec(FormatDurationUsec(usec)), usec) << "seed 20230601, round " << i;
    ASSERT_EQ(ParseBytes(FormatBytes(usec)), usec) << "seed 20230601, round " << i;
    const double ratio = static_cast<double>(usec) / 7e9;
    ASSERT_EQ(ParseDecimal(FormatDecimal(ratio)), ratio) << "seed 20230601, round " << i;
  }
  EXPECT_EQ(FormatDurationUsec(90'000'000), "90s");
  EXPECT_EQ(FormatBytes(int64_t{512} << 20), "512mb");
  EXPECT_EQ(FormatBytes(1000), "1000");
  EXPECT_EQ(FormatDecimal(1e6), "1000000");
}

TEST(Values, QuotedHidesWhatWouldBreakALogLine) {
  EXPECT_EQ(Quoted("a\nb\x1b[31m\xff"), "\"a?b?[31m?\"");
  EXPECT_EQ(Quoted(std::string(61, 'x')), "\"" + std::string(60, 'x') + "...\"");
}

TEST(Values, SuggestionIsNotFarFetched) {
  EXPECT_EQ(Nearest("lisen", {"listen", "limits"}), "listen");
  EXPECT_EQ(Nearest("virtual_node", {"virtual_nodes", "hash"}), "virtual_nodes");
  EXPECT_EQ(Nearest("banana", {"listen", "limits"}), "");
  EXPECT_EQ(Nearest("x", {"log", "ab"}), "");
  EXPECT_EQ(Nearest(std::string(100'000, 'a'), {"listen"}), "");
}

}  // namespace
}  // namespace ringway::config
