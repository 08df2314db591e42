#include "protocol/learned_commands.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/command_keys.h"
#include "tests/support/made_request.h"

namespace ringway::protocol {
namespace {

using ::testing::ElementsAre;

std::string Line(char type, const std::string& text) {
  std::string line(1, type);
  line.append(text).append("\r\n");
  return line;
}
std::string Number(int value) { return Line(':', std::to_string(value)); }
std::string Bulk(const std::string& text) {
  return Line('$', std::to_string(text.size())).append(text).append("\r\n");
}
std::string Array(const std::vector<std::string>& elements) {
  std::string bytes = Line('*', std::to_string(elements.size()));
  for (const std::string& element : elements) bytes += element;
  return bytes;
}
std::string Flags(const std::vector<std::string>& names) {
  std::vector<std::string> elements;
  for (const std::string& name : names) elements.push_back(Line('+', name));
  return Array(elements);
}

// As servers before 7.0 describe a command.
std::string OldEntry(const std::string& name, int arity, const std::vector<std::string>& flags, int first,
                     int last, int step) {
  return Array({Bulk(name), Number(arity), Flags(flags), Number(first), Number(last), Number(step)});
}

std::string Entry(const std::string& name, const std::vector<std::string>& flags,
                  const std::vector<std::string>& tips = {}, const std::string& specs = "*0\r\n",
                  const std::string& subcommands = "*0\r\n") {
  std::vector<std::string> bulks;
  for (const std::string& tip : tips) bulks.push_back(Bulk(tip));
  return Array({Bulk(name), Number(-2), Flags(flags), Number(0), Number(0), Number(0), Flags({"@slow"}),
                Array(bulks), specs, subcommands});
}

std::string IndexSpec(int index, int last, int step, const std::vector<std::string>& flags = {"RO"}) {
  return Array({Bulk("flags"), Flags(flags), Bulk("begin_search"),
                Array({Bulk("type"), Bulk("index"), Bulk("spec"), Array({Bulk("index"), Number(index)})}),
                Bulk("find_keys"),
                Array({Bulk("type"), Bulk("range"), Bulk("spec"),
                       Array({Bulk("lastkey"), Number(last), Bulk("keystep"), Number(step), Bulk("limit"),
                              Number(0)})})});
}

std::vector<std::string> Keys(const LearnedCommands& learned, const std::string& text) {
  const test::MadeRequest request(test::Words(text));
  KeyList list;
  FindKeys(*learned.Find(request.view()[0]), request.view(), &list);
  std::vector<std::string> keys;
  for (const uint32_t index : list) keys.emplace_back(request.view()[index]);
  return keys;
}

TEST(LearnedCommands, CommandsOfTheTableAreNotLearnt) {
  const auto learned = LearnedCommands::FromReply(Array({OldEntry("get", 2, {"readonly"}, 1, 1, 1)}));
  ASSERT_NE(learned, nullptr);
  EXPECT_EQ(learned->size(), 0u);
  EXPECT_EQ(learned->Find("get"), nullptr);
}

TEST(LearnedCommands, FirstLastAndStepOfOlderServersAreTaken) {
  const auto learned = LearnedCommands::FromReply(
      Array({OldEntry("bf.add", 3, {"write", "denyoom"}, 1, 1, 1),
             OldEntry("json.mget", -3, {"readonly"}, 1, -2, 1), OldEntry("x.set", -3, {"write"}, 1, -1, 2),
             OldEntry("x.ping", 1, {"fast"}, 0, 0, 0)}));
  ASSERT_EQ(learned->size(), 4u);
  const CommandRow& add = *learned->Find("BF.ADD");
  EXPECT_EQ(add.name, "bf.add");
  EXPECT_EQ(add.arity, 3);
  EXPECT_EQ(add.flags, kWrite | kDenyOom);
  EXPECT_EQ(add.request, RequestPolicy::kOneShard);
  EXPECT_EQ(add.id, LearnedCommands::kId);
  EXPECT_THAT(Keys(*learned, "bf.add k v"), ElementsAre("k"));
  EXPECT_THAT(Keys(*learned, "json.mget a b c path"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Keys(*learned, "x.set a 1 b 2"), ElementsAre("a", "b"));
  EXPECT_EQ(learned->Find("x.ping")->request, RequestPolicy::kAnyShard);
}

TEST(LearnedCommands, MovableKeysWithoutSpecificationsMustBeAskedFor) {
  const auto learned = LearnedCommands::FromReply(
      Array({OldEntry("m.cmd", -2, {"write", "movablekeys"}, 1, 1, 1),
             Entry("m.vague", {"write", "movablekeys"}, {},
                   Array({IndexSpec(1, 0, 1), IndexSpec(2, 0, 1, {"RO", "incomplete"})}))}));
  KeyList keys;
  const test::MadeRequest request(test::Words("m.cmd a b c"));
  EXPECT_EQ(FindKeys(*learned->Find("m.cmd"), request.view(), &keys), KeyStatus::kAskServer);
  EXPECT_EQ(FindKeys(*learned->Find("m.vague"), request.view(), &keys), KeyStatus::kAskServer);
}

TEST(LearnedCommands, TipsDecideForCommandsWithoutKeys) {
  const auto learned = LearnedCommands::FromReply(
      Array({Entry("a", {"readonly"}, {"request_policy:all_shards", "response_policy:agg_sum"}),
             Entry("b", {"write"},
                   {"nondeterministic_output", "request_policy:all_nodes", "response_policy:all_succeeded"}),
             Entry("c", {"readonly"}, {"request_policy:all_shards"}),
             Entry("d", {"readonly"}, {"request_policy:all_shards", "response_policy:special"}),
             Entry("e", {"readonly"}, {"request_policy:special"}), Entry("f", {"admin"}),
             Entry("g", {"blocking"}), Entry("h", {"pubsub"}), Entry("i", {"readonly"})}));
  const auto is = [&](const char* name, RequestPolicy request, ResponsePolicy response) {
    EXPECT_EQ(learned->Find(name)->request, request) << name;
    EXPECT_EQ(learned->Find(name)->response, response) << name;
  };
  is("a", RequestPolicy::kAllShards, ResponsePolicy::kSum);
  is("b", RequestPolicy::kAllShards, ResponsePolicy::kAllSucceeded);
  is("c", RequestPolicy::kAllShards, ResponsePolicy::kConcatenate);
  for (const char* name : {"d", "e", "f", "g", "h"}) {
    is(name, RequestPolicy::kUnsupported, ResponsePolicy::kPass);
    EXPECT_NE(learned->Find(name)->unserved, Unserved::kNone);
  }
  is("i", RequestPolicy::kAnyShard, ResponsePolicy::kPass);
}

TEST(LearnedCommands, ATipToSplitIsNotFollowedBlindly) {
  const auto learned = LearnedCommands::FromReply(
      Array({Entry("x.mget", {"readonly"}, {"request_policy:multi_shard"}, Array({IndexSpec(1, -1, 1)}))}));
  EXPECT_EQ(learned->Find("x.mget")->request, RequestPolicy::kOneShard);
}

TEST(LearnedCommands, SubcommandsAreLearntWithTheirContainer) {
  const auto learned = LearnedCommands::FromReply(
      Array({Entry("x.box", {}, {}, "*0\r\n",
                   Array({Entry("x.box|peek", {"readonly"}, {}, Array({IndexSpec(2, 0, 1)}))})),
             Entry("object", {}, {}, "*0\r\n",
                   Array({Entry("object|age", {"readonly"}, {}, Array({IndexSpec(2, 0, 1)}))})),
             Entry("client", {}, {}, "*0\r\n", Array({Entry("client|no-touch", {"fast"})}))}));
  const CommandRow& box = *learned->Find("X.BOX");
  EXPECT_TRUE(HasSubcommands(box));
  EXPECT_TRUE(Subcommands(box).empty()) << "the table must not read its own rows for a learnt container";
  EXPECT_EQ(FindSubcommand(box, "peek"), nullptr);
  ASSERT_NE(learned->FindSubcommand(box, "PEEK"), nullptr);
  EXPECT_EQ(learned->Find("x.box|peek"), nullptr);
  const CommandRow& object = *FindCommand("object");
  const CommandRow* age = learned->FindSubcommand(object, "Age");
  ASSERT_NE(age, nullptr);
  EXPECT_EQ(age->parent, object.id);
  EXPECT_EQ(learned->FindSubcommand(*FindCommand("client"), "no-touch"), nullptr);
}

TEST(LearnedCommands, WhatMakesNoSenseIsSkippedAndTheRestLearnt) {
  const auto learned = LearnedCommands::FromReply(
      Array({"+no\r\n", Array({}), Array({Bulk("short"), Number(1)}), "*-1\r\n", Number(7),
             OldEntry("x.huge", 1000000, {"write"}, 1, 1, 1), OldEntry("", 1, {}, 1, 1, 1),
             OldEntry(std::string(129, 'n'), 1, {}, 1, 1, 1),
             OldEntry("x.good", 2, {"no-such-flag"}, 1, 1, 1), OldEntry("X.GOOD", 3, {}, 1, 1, 1)}));
  ASSERT_NE(learned, nullptr);
  EXPECT_EQ(learned->size(), 1u);
  EXPECT_EQ(learned->Find("x.good")->arity, 2);
  EXPECT_EQ(learned->Find(std::string(1000, 'n')), nullptr);
}

TEST(LearnedCommands, AnythingButAnArrayIsRefused) {
  for (const char* bytes : {"", "-ERR no\r\n", ":1\r\n", "$3\r\nabc\r\n", "*-1\r\n", "_\r\n"}) {
    EXPECT_EQ(LearnedCommands::FromReply(bytes), nullptr) << bytes;
  }
}

TEST(LearnedCommands, MoreRowsThanTheLimitAreNotLearnt) {
  std::vector<std::string> entries;
  for (size_t i = 0; i < LearnedCommands::kMaxRows + 10; ++i) {
    entries.push_back(OldEntry(std::to_string(i), 2, {}, 1, 1, 1));
  }
  EXPECT_EQ(LearnedCommands::FromReply(Array(entries))->size(), LearnedCommands::kMaxRows);
}

TEST(LearnedCommands, KeySpecificationsWithWildNumbersReadNothingBeyondTheRequest) {
  KeyList keys;
  for (const int number : {-32768, -5, -1, 0, 1, 3, 32767, 40000}) {
    for (const int step : {-1, 0, 1, 32767}) {
      const auto learned = LearnedCommands::FromReply(
          Array({Entry("x.wild", {"write", "movablekeys"}, {},
                       Array({IndexSpec(number, 1, step), IndexSpec(1, number, step)})),
                 OldEntry("x.old", -1, {"write"}, number, number, step)}));
      const test::MadeRequest request(test::Words("x a b c"));
      for (const CommandRow& row : learned->rows()) {
        FindKeys(row, request.view(), &keys);
        for (const uint32_t index : keys) EXPECT_LT(index, 4u) << number << " " << step;
      }
    }
  }
}

}  // namespace
}  // namespace ringway::protocol
