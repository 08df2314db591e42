#include "proxy/reshard/progress_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/reshard/text_cells.h"
#include "proxy/reshard/text_table.h"

namespace ringway::proxy::reshard {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

MoveSnapshot Moving(size_t pairs = 3) {
  MoveSnapshot snapshot;
  snapshot.state = "moving";
  snapshot.id = 7;
  snapshot.change = "ADD cache4 10.0.0.4:6379";
  snapshot.progress = 0.42;
  snapshot.keys_moved = 421337;
  snapshot.keys_on_access = 3120;
  snapshot.keys_remaining = 578663;
  snapshot.keys_per_second = 24310;
  snapshot.bytes_moved = 64172851;
  snapshot.eta_seconds = 72;
  for (size_t i = 0; i < pairs; ++i) {
    MoveSnapshot::Pair pair;
    pair.from = "cache" + std::to_string(i + 1);
    pair.to = "cache4";
    pair.share = 0.0834;
    pair.keys = 140211;
    pair.bytes = 21390950;
    pair.on_access = 1040;
    pair.remaining = 192887;
    snapshot.pairs.push_back(pair);
  }
  return snapshot;
}

TEST(ProgressView, FrameIsNotWhatPeopleAreTold) {
  EXPECT_THAT(DrawFrame(Moving(2), "", {.width = 80, .height = 24}),
              ElementsAre("move 7 moving: ADD cache4 10.0.0.4:6379",
                          "[########################..................................]  42.0%  1m 12s left",
                          "421,337 keys moved, 578,663 left, 24,310/s, 61.2 MiB, 3,120 on access",
                          "  from    to        moved     left     bytes  ring  on access  errors",
                          "  cache1  cache4  140,211  192,887  20.4 MiB  8.3%      1,040       0",
                          "  cache2  cache4  140,211  192,887  20.4 MiB  8.3%      1,040       0"));
}

TEST(ProgressView, FrameIsLargerThanTheTerminal) {
  MoveSnapshot snapshot = Moving(30);
  snapshot.pairs[3].from = std::string(128, 'n');
  snapshot.state = "paused";
  snapshot.pause_reason = std::string(300, 'r');
  for (size_t width = 1; width <= 200; ++width) {
    for (const size_t height : {1, 2, 3, 5, 6, 7, 8, 24, 60}) {
      for (const bool fancy : {false, true}) {
        const auto frame = DrawFrame(snapshot, "no answer", {width, height, fancy, fancy});
        ASSERT_LE(frame.size(), std::max<size_t>(height, 2) - 1) << width << "x" << height;
        for (const std::string& line : frame) ASSERT_LE(Cells(line), width) << line;
      }
    }
  }
}

TEST(ProgressView, PairsThatDoNotFitAreLostSilently) {
  MoveSnapshot snapshot = Moving(30);
  for (size_t i = 0; i < 25; ++i) snapshot.pairs[i].remaining = 0;
  // Three lines of figures, the title, three pairs and the rest, above the line of the cursor.
  const auto frame = DrawFrame(snapshot, "", {.width = 80, .height = 9});
  ASSERT_EQ(frame.size(), 8U);
  EXPECT_EQ(frame.back(), "  and 27 more");
  // Those that have something left come first.
  EXPECT_THAT(frame[4], HasSubstr("cache26"));
  EXPECT_THAT(frame[6], HasSubstr("cache28"));
  EXPECT_THAT(DrawFrame(Moving(4), "", {.width = 80, .height = 9}), Not(Contains(HasSubstr("more"))));
}

TEST(ProgressView, BarIsFullBeforeTheEndOrEmptyAtIt) {
  MoveSnapshot snapshot = Moving();
  snapshot.progress = 0.9999;
  EXPECT_THAT(DrawFrame(snapshot, "", {})[1], AllOf(HasSubstr(".]"), HasSubstr("99.9%")));
  snapshot.progress = 1;
  EXPECT_THAT(DrawFrame(snapshot, "", {})[1], AllOf(HasSubstr("##]"), HasSubstr("100.0%")));
  snapshot.progress = 0;
  EXPECT_THAT(DrawFrame(snapshot, "", {})[1], HasSubstr("[.."));
  snapshot.eta_seconds.reset();
  EXPECT_THAT(DrawFrame(snapshot, "", {})[1], Not(HasSubstr("left")));
}

TEST(ProgressView, ColoursAreThereUnaskedOrDoNotEnd) {
  const auto plain = DrawFrame(Moving(), "trouble", {.width = 80, .height = 24});
  for (const std::string& line : plain) EXPECT_EQ(line.find('\x1b'), std::string::npos) << line;
  for (size_t width = 1; width < 100; ++width) {
    for (const std::string& line : DrawFrame(Moving(), "trouble", {width, 24, true, true})) {
      const size_t last = line.rfind('\x1b');
      if (last == std::string::npos) continue;
      EXPECT_EQ(line.substr(last, 4), "\x1b[0m") << line;
    }
  }
}

TEST(ProgressView, PauseOrTroubleIsNotExplained) {
  MoveSnapshot snapshot = Moving();
  snapshot.state = "paused";
  EXPECT_THAT(DrawFrame(snapshot, "", {}), Contains(HasSubstr("RING RESUME")));
  snapshot.pause_reason = "cache4 10.0.0.4:6379 is out of memory";
  EXPECT_THAT(DrawFrame(snapshot, "", {}), Contains("paused: cache4 10.0.0.4:6379 is out of memory"));
  EXPECT_THAT(DrawLine(snapshot), HasSubstr("; paused: cache4 10.0.0.4:6379 is out of memory"));
  EXPECT_THAT(DrawFrame(snapshot, "refused\x1b[2J", {}), Contains("refused?[2J"));
}

TEST(ProgressView, LineOfALogLacksAFigure) {
  EXPECT_EQ(DrawLine(Moving()),
            "move 7 moving 42.0%: 421,337 keys moved, 578,663 left, 24,310/s, 61.2 MiB, 3,120 on access, "
            "1m 12s left");
}

TEST(ProgressView, EndIsToldWithoutItsReasonOrLosses) {
  MoveSnapshot snapshot = Moving();
  snapshot.state = "idle";
  snapshot.result = "settled";
  snapshot.started = 1000;
  snapshot.finished = 1041;
  snapshot.hold_usec = 3149;
  EXPECT_EQ(
      DescribeEnd(snapshot),
      "move 7 settled: 421,337 keys (61.2 MiB) moved in 41s, 3,120 of them on access; clients waited at "
      "most 3.1ms");
  snapshot.keys_given_up = 5;
  EXPECT_THAT(DescribeEnd(snapshot), HasSubstr(", 5 given up"));
  snapshot.result = "failed";
  snapshot.error = "the hold did not drain";
  EXPECT_THAT(DescribeEnd(snapshot), HasSubstr("move 7 failed: the hold did not drain; "));
  EXPECT_EQ(DrawFrame(snapshot, "", {}).front(), "move 7 failed: ADD cache4 10.0.0.4:6379");
}

TEST(TextCells, ColoursCountOrAreCutApart) {
  const std::string line = "\x1b[32m\u2588\u2588\x1b[0mab";
  EXPECT_EQ(Cells(line), 4U);
  EXPECT_EQ(ClipCells(line, 1), "\x1b[32m\u2588\x1b[0m");
  EXPECT_EQ(ClipCells(line, 3), "\x1b[32m\u2588\u2588\x1b[0ma");
  EXPECT_EQ(ClipCells(line, 9), line);
  EXPECT_EQ(PadRight("\u2588", 3), "\u2588  ");
  EXPECT_EQ(PadLeft("abc", 2), "abc");
  EXPECT_EQ(Cells("\x1b["), 0U);  // cut off by whoever sent it
}

TEST(TextTable, LongNameHidesTheFigures) {
  const std::vector<Column> columns = {{"from", true}, {"keys"}, {"bytes"}};
  const std::vector<std::vector<std::string>> rows = {{std::string(40, 'n'), "12,345", "1.0 MiB"}};
  EXPECT_THAT(TableLines(columns, rows, 32),
              ElementsAre("  from             keys    bytes", "  nnnnnnnnnnn..  12,345  1.0 MiB"));
  EXPECT_THAT(TableLines(columns, rows, 18), ElementsAre("  from        keys", "  nnnnnn..  12,345"));
  EXPECT_THAT(TableLines(columns, rows, 4), ElementsAre("  fr", "  nn"));
}

}  // namespace
}  // namespace ringway::proxy::reshard
