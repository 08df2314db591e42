#include "protocol/command_table.h"

#include <cctype>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringway::protocol {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string_view OwnName(const CommandRow& row) { return row.name.substr(row.name.find('|') + 1); }

const CommandRow* FindRow(const CommandRow& row, std::string_view name) {
  return row.parent == CommandRow::kNoRow ? FindCommand(name)
                                          : FindSubcommand(AllCommands()[row.parent], name);
}

std::string Upper(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

TEST(CommandTable, EveryRowIsFoundInLowerUpperAndMixedCase) {
  for (const CommandRow& row : AllCommands()) {
    const std::string lower(OwnName(row));
    std::string mixed = Upper(lower);
    mixed.back() = lower.back();
    EXPECT_EQ(FindRow(row, lower), &row) << row.name;
    EXPECT_EQ(FindRow(row, Upper(lower)), &row) << row.name;
    EXPECT_EQ(FindRow(row, mixed), &row) << row.name;
    EXPECT_EQ(FindByFullName(Upper(row.name)), &row) << row.name;
  }
}

// Lowering letters must not make other bytes alike: '_' is 0x7f with the letters' bit set, '-' is CR.
TEST(CommandTable, ANameWithOneByteChangedIsAnotherName) {
  for (const CommandRow& row : AllCommands()) {
    const std::string name(OwnName(row));
    for (size_t i = 0; i < name.size(); ++i) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string changed = name;
        changed[i] = static_cast<char>(byte);
        const CommandRow* found = FindRow(row, changed);
        if (std::tolower(byte) == name[i] && byte < 128) {
          ASSERT_EQ(found, &row) << name << " byte " << i << " as " << byte;
        } else {
          ASSERT_NE(found, &row) << name << " byte " << i << " as " << byte;
        }
      }
    }
  }
}

TEST(CommandTable, ANameCutShortOrContinuedIsAnotherName) {
  for (const CommandRow& row : AllCommands()) {
    const std::string name(OwnName(row));
    for (size_t i = 0; i < name.size(); ++i) ASSERT_NE(FindRow(row, name.substr(0, i)), &row) << name;
    for (const char more : {'\0', ' ', 'x', '\n', '|'}) ASSERT_NE(FindRow(row, name + more), &row) << name;
  }
}

TEST(CommandTable, UnknownNamesOfAnyLengthAreNotFound) {
  EXPECT_EQ(FindCommand(""), nullptr);
  EXPECT_EQ(FindByFullName(""), nullptr);
  EXPECT_EQ(FindByFullName("|"), nullptr);
  EXPECT_EQ(FindByFullName("get|x"), nullptr);
  EXPECT_EQ(FindByFullName("client|"), nullptr);
  for (size_t length = 1; length < 100; ++length) {
    EXPECT_EQ(FindCommand(std::string(length, 'q')), nullptr);
    EXPECT_EQ(FindCommand(std::string(length, '\0')), nullptr);
    EXPECT_EQ(FindCommand(std::string(length, '\xff')), nullptr);
  }
}

// A name may stand at the end of a page: nothing behind it may be read or matter.
TEST(CommandTable, BytesBehindTheNameDoNotMatter) {
  const std::string text = "GETRANGE";
  EXPECT_EQ(FindCommand(std::string_view(text).substr(0, 3)), FindCommand("get"));
  EXPECT_EQ(FindCommand(std::string_view(text)), FindCommand("getrange"));
}

TEST(CommandTable, SubcommandsAreFoundInTheirContainerOnly) {
  const CommandRow& client = *FindCommand("client");
  const CommandRow& config = *FindCommand("config");
  EXPECT_EQ(FindSubcommand(client, "LIST")->name, "client|list");
  EXPECT_EQ(FindSubcommand(config, "LIST"), nullptr);
  EXPECT_EQ(FindSubcommand(*FindCommand("get"), "LIST"), nullptr);
  EXPECT_EQ(FindCommand("list"), nullptr);
  EXPECT_EQ(FindCommand("client|list"), nullptr);
  EXPECT_EQ(FindSubcommand(client, "client|list"), nullptr);
}

TEST(CommandTable, IdsAreIndicesAndSubcommandsFollowTheirContainer) {
  size_t index = 0;
  std::set<std::string_view> names;
  size_t subcommands = 0;
  for (const CommandRow& row : AllCommands()) {
    EXPECT_EQ(row.id, index++) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " twice";
    for (const CommandRow& sub : Subcommands(row)) {
      EXPECT_EQ(sub.parent, row.id) << sub.name;
      EXPECT_THAT(std::string(sub.name), StartsWith(std::string(row.name) + "|"));
      ++subcommands;
    }
    EXPECT_EQ(HasSubcommands(row), !Subcommands(row).empty());
  }
  EXPECT_EQ(index, kCommandCount);
  EXPECT_EQ(subcommands, 126u);
}

TEST(CommandTable, ArityCountsExactlyOrAtLeast) {
  const CommandRow& get = *FindCommand("get");
  EXPECT_FALSE(ArityFits(get, 1));
  EXPECT_TRUE(ArityFits(get, 2));
  EXPECT_FALSE(ArityFits(get, 3));
  const CommandRow& mget = *FindCommand("mget");
  EXPECT_FALSE(ArityFits(mget, 1));
  EXPECT_TRUE(ArityFits(mget, 2));
  EXPECT_TRUE(ArityFits(mget, 1000000));
}

// A keyed command that is sent anywhere would read and write the wrong shard.
TEST(CommandTable, KeyedCommandsAreServedByKeyOrNotAtAll) {
  for (const CommandRow& row : AllCommands()) {
    const bool by_key = row.request == RequestPolicy::kOneShard || row.request == RequestPolicy::kSplit;
    if (row.key_kind == KeyKind::kNone) {
      EXPECT_FALSE(by_key) << row.name;
    } else {
      const bool other_way = row.request == RequestPolicy::kUnsupported || row.name == "watch";
      EXPECT_TRUE(by_key || other_way) << row.name;
    }
  }
}

TEST(CommandTable, OneReplyIsPassedOnAndSeveralAreMerged) {
  for (const CommandRow& row : AllCommands()) {
    const bool several = row.request == RequestPolicy::kSplit || row.request == RequestPolicy::kAllShards;
    if (row.request == RequestPolicy::kSpecial) continue;
    EXPECT_EQ(row.response != ResponsePolicy::kPass, several) << row.name;
  }
}

TEST(CommandTable, WhatIsNotServedSaysWhy) {
  for (const CommandRow& row : AllCommands()) {
    EXPECT_EQ(row.unserved != Unserved::kNone, row.request == RequestPolicy::kUnsupported) << row.name;
    if (row.unserved == Unserved::kNone) continue;
    const std::string text = UnsupportedText(row);
    EXPECT_THAT(text, StartsWith("ERR "));
    EXPECT_THAT(text, HasSubstr(" is not available: "));
    EXPECT_EQ(text.find_first_of("\r\n|"), std::string::npos) << text;
  }
  EXPECT_EQ(UnsupportedText(*FindCommand("shutdown")),
            "ERR SHUTDOWN is not available: servers are stopped where they run");
  EXPECT_EQ(UnsupportedText(*FindByFullName("client|tracking")),
            "ERR CLIENT TRACKING is not available: client-side caching is not served");
}

TEST(CommandTable, ScriptsCountAsWritersAlthoughTheyAreNotFlaggedSo) {
  for (const char* name : {"eval", "evalsha", "fcall", "pfcount", "publish", "spublish"}) {
    EXPECT_TRUE(FindCommand(name)->flags & kMayReplicate) << name;
  }
  EXPECT_FALSE(FindCommand("eval_ro")->flags & kMayReplicate);
}

}  // namespace
}  // namespace ringway::protocol
