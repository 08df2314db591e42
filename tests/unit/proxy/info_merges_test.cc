// SLOWLOG and LATENCY of several shards made into one.
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/reply_writer.h"
#include "proxy/local/latency_merge.h"
#include "proxy/local/slowlog_merge.h"

namespace ringway::proxy {
namespace {

std::string LogEntry(int id, int time, const std::string& key) {
  return "*6\r\n:" + std::to_string(id) + "\r\n:" + std::to_string(time) +
         "\r\n:15\r\n*2\r\n$3\r\nGET\r\n$1\r\n" + key + "\r\n$14\r\n127.0.0.1:5555\r\n$0\r\n\r\n";
}

std::string Merged(const std::vector<SlowlogPart>& parts, size_t count) {
  std::string out;
  protocol::ReplyWriter reply(out, 2);
  MergeSlowlogs(parts, count, reply);
  return out;
}

TEST(SlowlogMerge, EntriesAreNotInOrderOrTheirIdsClash) {
  const std::string a = "*2\r\n" + LogEntry(1, 30, "c") + LogEntry(0, 10, "a");
  const std::string b = "*1\r\n" + LogEntry(1, 20, "b");
  EXPECT_EQ(Merged({{0, a}, {3, b}}, 10),
            "*3\r\n" + LogEntry(16384, 30, "c") + LogEntry(16387, 20, "b") + LogEntry(0, 10, "a"));
  EXPECT_EQ(Merged({{0, a}, {3, b}}, 2), "*2\r\n" + LogEntry(16384, 30, "c") + LogEntry(16387, 20, "b"));
  EXPECT_EQ(Merged({{0, a}, {3, b}}, 0), "*0\r\n");
}

TEST(SlowlogMerge, EntriesOfOneSecondAreTurnedRound) {
  const std::string a = "*3\r\n" + LogEntry(7, 10, "c") + LogEntry(6, 10, "b") + LogEntry(5, 10, "a");
  EXPECT_EQ(Merged({{0, a}}, 10), "*3\r\n" + LogEntry(7 * 16384, 10, "c") + LogEntry(6 * 16384, 10, "b") +
                                      LogEntry(5 * 16384, 10, "a"));
}

TEST(SlowlogMerge, RepliesThatAreNoLogsCrash) {
  for (const char* reply :
       {"", "*-1\r\n", "-ERR no\r\n", ":1\r\n", "*1\r\n:1\r\n", "*1\r\n*0\r\n",
        "*1\r\n*2\r\n:1\r\n$1\r\nx\r\n", "*2\r\n*6\r\n:1\r\n", "*1\r\n*6\r\n$1\r\na\r\n:1\r\n"}) {
    EXPECT_EQ(Merged({{0, reply}}, 10), "*0\r\n") << reply;
  }
  // An id that leaves no room for the shard's.
  Merged({{1, "*1\r\n*2\r\n:9223372036854775807\r\n:1\r\n"}}, 10);
}

TEST(LatencyMerge, LatestEventIsNotTheLatest) {
  std::string out;
  protocol::ReplyWriter reply(out, 2);
  MergeLatestEvents(
      std::vector<std::string_view>{
          "*2\r\n*4\r\n$4\r\nfork\r\n:10\r\n:7\r\n:900\r\n*4\r\n$7\r\ncommand\r\n:5\r\n:6\r\n:7\r\n",
          "*1\r\n*4\r\n$4\r\nfork\r\n:20\r\n:3\r\n:5\r\n", "*0\r\n", "-ERR no\r\n"},
      reply);
  EXPECT_EQ(out, "*2\r\n*4\r\n$7\r\ncommand\r\n:5\r\n:6\r\n:7\r\n*4\r\n$4\r\nfork\r\n:20\r\n:3\r\n:900\r\n");
}

TEST(LatencyMerge, HistoryIsNotInOrderOrTooLong) {
  std::string out;
  protocol::ReplyWriter reply(out, 2);
  MergeHistories(
      std::vector<std::string_view>{"*2\r\n*2\r\n:5\r\n:50\r\n*2\r\n:9\r\n:90\r\n",
                                    "*2\r\n*2\r\n:5\r\n:70\r\n*2\r\n:6\r\n:60\r\n", "*1\r\n*1\r\n:1\r\n"},
      reply);
  EXPECT_EQ(out, "*3\r\n*2\r\n:5\r\n:70\r\n*2\r\n:6\r\n:60\r\n*2\r\n:9\r\n:90\r\n");
  std::string many = "*200\r\n";
  for (int i = 0; i < 200; ++i) many += "*2\r\n:" + std::to_string(1000 + i) + "\r\n:1\r\n";
  out.clear();
  MergeHistories(std::vector<std::string_view>{many}, reply);
  EXPECT_TRUE(out.starts_with("*160\r\n*2\r\n:1040\r\n")) << out.substr(0, 40);
}

TEST(LatencyMerge, ReportsLoseTheirShards) {
  const std::vector<std::string_view> names = {"a", "b"};
  const auto merge = [&](std::vector<std::string_view> replies) {
    std::string out;
    protocol::ReplyWriter reply(out, 2);
    MergeReports(names, replies, reply);
    return out;
  };
  EXPECT_EQ(merge({"$3\r\nyes\r\n", "=7\r\ntxt:yes\r\n"}), "$3\r\nyes\r\n");
  EXPECT_EQ(merge({"$3\r\nyes\r\n", "$3\r\nno\n\r\n"}), "$13\r\na:\nyes\nb:\nno\n\r\n");
  EXPECT_EQ(merge({"-ERR none\r\n", "$3\r\nno\n\r\n"}), "$6\r\nb:\nno\n\r\n");
  EXPECT_EQ(merge({"-ERR none\r\n", "-ERR other\r\n"}), "-ERR none\r\n");
  EXPECT_EQ(merge({":1\r\n", ":1\r\n"}), "-ERR no shard has given a report\r\n");
}

TEST(LatencyMerge, LevelsAreNotThoseOfRedis) {
  LatencyHistogram histogram;
  LatencySummary none;
  EXPECT_TRUE(CumulativeLevels(none).empty());
  for (const uint64_t usec : {0, 1, 2, 3, 16, 17, 200, 1000, 600'000}) histogram.Record(usec);
  histogram.Record(UINT64_MAX);
  LatencySummary latency;
  latency.Add(histogram);
  std::vector<std::pair<uint64_t, uint64_t>> levels;
  for (const LatencyLevel& level : CumulativeLevels(latency)) levels.emplace_back(level.usec, level.samples);
  ASSERT_EQ(levels.size(), 9U);
  const std::vector<std::pair<uint64_t, uint64_t>> expected = {{1, 2},  {2, 3},   {4, 4},    {16, 5},
                                                               {33, 6}, {264, 7}, {1056, 8}, {1082130, 9}};
  levels.pop_back();
  EXPECT_EQ(levels, expected);
}

}  // namespace
}  // namespace ringway::proxy
