#include "proxy/reshard/human.h"

#include <limits>

#include <gtest/gtest.h>

namespace ringway::proxy::reshard {
namespace {

TEST(Human, CountsLoseADigitOrBeginWithAComma) {
  EXPECT_EQ(HumanCount(0), "0");
  EXPECT_EQ(HumanCount(999), "999");
  EXPECT_EQ(HumanCount(1000), "1,000");
  EXPECT_EQ(HumanCount(123456), "123,456");
  EXPECT_EQ(HumanCount(1234567), "1,234,567");
  EXPECT_EQ(HumanCount(std::numeric_limits<uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(Human, BytesAreOfTheWrongUnitAtItsEdges) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(1023), "1023 B");
  EXPECT_EQ(HumanBytes(1024), "1.0 KiB");
  EXPECT_EQ(HumanBytes(1024 * 1024 - 1), "1.0 MiB");
  EXPECT_EQ(HumanBytes(1536 * 1024), "1.5 MiB");
  EXPECT_EQ(HumanBytes(std::numeric_limits<uint64_t>::max()), "16.0 EiB");
}

TEST(Human, DurationsShowSixtySecondsOrAFalsePrecision) {
  EXPECT_EQ(HumanDuration(-1), "0s");
  EXPECT_EQ(HumanDuration(std::numeric_limits<double>::quiet_NaN()), "0s");
  EXPECT_EQ(HumanDuration(0.42), "0.4s");
  EXPECT_EQ(HumanDuration(7), "7s");
  EXPECT_EQ(HumanDuration(9.97), "10s");
  EXPECT_EQ(HumanDuration(59.4), "59s");
  EXPECT_EQ(HumanDuration(59.6), "1m 00s");
  EXPECT_EQ(HumanDuration(3599), "59m 59s");
  EXPECT_EQ(HumanDuration(3 * 3600 + 5 * 60), "3h 05m");
  EXPECT_EQ(HumanDuration(52 * 3600), "2d 04h");
  EXPECT_EQ(HumanDuration(std::numeric_limits<double>::infinity()), "10000d 00h");
}

TEST(Human, MicrosecondsAreOfTheWrongUnitAtItsEdges) {
  EXPECT_EQ(HumanUsec(999), "999us");
  EXPECT_EQ(HumanUsec(3149), "3.1ms");
  EXPECT_EQ(HumanUsec(999'949), "999.9ms");
  EXPECT_EQ(HumanUsec(1'000'000), "1s");
}

TEST(Human, UnfinishedMoveIsShownAsAHundredPercent) {
  EXPECT_EQ(HumanPercent(0.99999), "99.9%");
  EXPECT_EQ(HumanPercent(1), "100.0%");
  EXPECT_EQ(HumanPercent(0.4234), "42.3%");
  EXPECT_EQ(HumanPercent(7), "100.0%");
  EXPECT_EQ(HumanPercent(-1), "0.0%");
  EXPECT_EQ(HumanPercent(std::numeric_limits<double>::quiet_NaN()), "0.0%");
}

TEST(Human, TextOfAServerSteersTheTerminal) { EXPECT_EQ(Printable("a\x1b[2Jb\r\n\xff~ "), "a?[2Jb???~ "); }

}  // namespace
}  // namespace ringway::proxy::reshard
