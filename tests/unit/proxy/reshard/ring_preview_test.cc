#include "proxy/reshard/ring_preview.h"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hiredis/hiredis.h>

namespace ringway::proxy::reshard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

std::string Array(const std::vector<std::string>& parts) {
  std::string text = "*" + std::to_string(parts.size()) + "\r\n";
  for (const std::string& part : parts) text += part;
  return text;
}

std::string Move(const std::string& from, const std::string& keys) {
  return Array({Bulk("from"), Bulk(from), Bulk("to"), Bulk("s4"), Bulk("share"), Bulk("0.0834"), Bulk("keys"),
                keys, Bulk("bytes"), ":1048576\r\n"});
}

std::string Balance(const std::string& fullest) {
  return Array({Bulk("max_over_mean"), Bulk(fullest), Bulk("min_over_mean"), Bulk("0.99"), Bulk("stddev"),
                Bulk("0.004")});
}

std::string Plan() {
  return Array({Bulk("moving_share"),
                Bulk("0.2504"),
                Bulk("least_possible_share"),
                Bulk("0.25"),
                Bulk("keys"),
                ":250123\r\n",
                Bulk("bytes"),
                ":2097152\r\n",
                Bulk("moves"),
                Array({Move("s1", ":125000\r\n"), Move("s2\x1b[2J", ":-4\r\n")}),
                Bulk("balance_before"),
                Balance("1.0100"),
                Bulk("balance_after"),
                Balance("1.0031"),
                Bulk("shards_after"),
                Array({Array({Bulk("name"), Bulk("s1"), Bulk("share"), Bulk("0.251"), Bulk("share_wanted"),
                              Bulk("0.25")})}),
                Bulk("not_estimated"),
                Array({Bulk("s2"), Bulk("s3")}),
                Bulk("given_up"),
                Array({}),
                Bulk("words_of_tomorrow"),
                Bulk("hello"),
                Bulk("number_of_tomorrow"),
                ":5\r\n"});
}

struct Free {
  void operator()(redisReader* reader) const { redisReaderFree(reader); }
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};

std::optional<RingPreview> Parse(const std::string& bytes) {
  const std::unique_ptr<redisReader, Free> reader(redisReaderCreate());
  redisReaderFeed(reader.get(), bytes.data(), bytes.size());
  void* reply = nullptr;
  if (redisReaderGetReply(reader.get(), &reply) != REDIS_OK || reply == nullptr) {
    ADD_FAILURE() << "no reply: " << bytes;
    return std::nullopt;
  }
  return ParseRingPreview(*std::unique_ptr<redisReply, Free>(static_cast<redisReply*>(reply)));
}

TEST(RingPreview, PlanIsNotWhatPeopleAreTold) {
  const auto preview = Parse(Plan());
  ASSERT_TRUE(preview);
  EXPECT_THAT(
      DescribePreview(*preview, 80),
      ElementsAre("moves 25.0% of the ring (least possible 25.0%): about 250,123 keys, 2.0 MiB",
                  "  from    to  ring     keys    bytes",     //
                  "  s1      s4  8.3%  125,000  1.0 MiB",     //
                  "  s2?[2J  s4  8.3%        0  1.0 MiB",     //
                  "shards after it",                          //
                  "  shard   ring  wanted",                   //
                  "  s1     25.1%   25.0%",                   //
                  "balance, 1 being a shard's wanted share",  //
                  "          fullest  emptiest  deviation",   //
                  "  before   1.0100    0.9900     0.0040",   //
                  "  after    1.0031    0.9900     0.0040",   //
                  "left out of the estimates, for they did not answer: s2, s3", "words_of_tomorrow: hello"));
}

TEST(RingPreview, KeysAreGivenUpWithoutAWord) {
  const auto preview =
      Parse(Array({Bulk("moving_share"), Bulk("0"), Bulk("given_up"), Array({Bulk("s1"), Bulk("s2")})}));
  ASSERT_TRUE(preview);
  EXPECT_EQ(DescribePreview(*preview, 80).back(), "GIVEN UP, with all keys that only they hold: s1, s2");
}

TEST(RingPreview, OtherReplyIsTakenForAPlan) {
  for (const std::string& reply : {std::string("+OK\r\n"), std::string(":1\r\n"), std::string("$-1\r\n"),
                                   std::string("*-1\r\n"), Array({}), Array({Bulk("moving_share")}),
                                   Array({Bulk("a"), Bulk("b")}), Array({":1\r\n", ":2\r\n"})}) {
    EXPECT_FALSE(Parse(reply)) << reply;
  }
}

TEST(RingPreview, PlanOfStrangeShapesIsReadOutOfBounds) {
  const auto preview =
      Parse(Array({Bulk("moving_share"), ":1\r\n", Bulk("moves"), ":3\r\n", Bulk("balance_after"), Bulk("x"),
                   Bulk("shards_after"), Array({":1\r\n", Array({Bulk("name")})}), Bulk("keys"),
                   Bulk("nonsense"), Bulk("odd")}));
  ASSERT_TRUE(preview);
  EXPECT_EQ(preview->moving_share, 1);
  EXPECT_THAT(preview->moves, IsEmpty());
  EXPECT_EQ(preview->shards_after.size(), 2U);
  EXPECT_EQ(preview->keys, 0U);
  EXPECT_THAT(DescribePreview(*preview, 20), Contains("shards after it"));
}

}  // namespace
}  // namespace ringway::proxy::reshard
