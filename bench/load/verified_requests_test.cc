#include "bench/load/verified_requests.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ringway::bench {
namespace {

// A small Redis for these tests: parses what the conversation sends and answers it from a map.
class FakeServer {
 public:
  using Command = std::vector<std::string>;

  static std::vector<Command> Parse(std::string_view bytes) {
    std::vector<Command> commands;
    const auto number = [&bytes] {
      const std::size_t end = bytes.find("\r\n");
      const std::size_t value = std::stoul(std::string(bytes.substr(1, end - 1)));
      bytes.remove_prefix(end + 2);
      return value;
    };
    while (!bytes.empty()) {
      Command command(number());
      for (std::string& part : command) {
        const std::size_t size = number();
        part = bytes.substr(0, size);
        bytes.remove_prefix(size + 2);
      }
      commands.push_back(command);
    }
    return commands;
  }

  static std::string Bulk(const std::string& text) {
    std::string out;
    AppendBulk(text, &out);
    return out;
  }

  std::string Get(const std::string& key) {
    const auto found = values.find(key);
    return found == values.end() ? "$-1\r\n" : Bulk(found->second);
  }

  std::string Answer(const Command& command) {
    if (command[0] == "GET") return Get(command[1]);
    if (command[0] == "MGET") {
      std::string reply;
      AppendArray(command.size() - 1, &reply);
      for (std::size_t i = 1; i < command.size(); ++i) reply += Get(command[i]);
      return reply;
    }
    for (std::size_t i = 1; i + 1 < command.size(); i += 2) values[command[i]] = command[i + 1];
    return "+OK\r\n";
  }

  std::map<std::string, std::string> values;
};

class VerifiedConversationTest : public testing::Test {
 protected:
  explicit VerifiedConversationTest(LoadCommand command = LoadCommand::kGetSet) {
    options_.clients = 1;
    options_.keys = 3;
    options_.pipeline = 16;
    options_.gets = options_.sets = 1;
    options_.command = command;
    options_.keys_per_command = 4;
  }

  // Runs batches and hands each reply through `change` before the client reads it.
  template <typename Change>
  void RunBatches(int batches, Change change) {
    VerifiedConversation conversation(options_, "run", 0, &tally_);
    ReplyReader reader(&conversation);
    for (int i = 0; i < batches; ++i) {
      for (const auto& command : FakeServer::Parse(conversation.NextBatch())) {
        ASSERT_TRUE(reader.Feed(change(command, server_.Answer(command))));
      }
    }
  }

  LoadOptions options_;
  Tally tally_;
  FakeServer server_;
};

using Command = FakeServer::Command;

TEST_F(VerifiedConversationTest, HonestServerIsNotAccused) {
  for (const LoadCommand command : {LoadCommand::kGetSet, LoadCommand::kMGet, LoadCommand::kMSet}) {
    options_.command = command;
    server_.values.clear();
    RunBatches(200, [](const Command&, const std::string& reply) { return reply; });
    EXPECT_EQ(tally_.wrong, 0u) << tally_.first_wrong;
    EXPECT_EQ(tally_.lost, 0u);
  }
  EXPECT_EQ(tally_.requests, 200u * 16 * 3);
}

TEST_F(VerifiedConversationTest, ReplyToTheRequestBeforeIsFound) {
  std::string before = "$-1\r\n";
  RunBatches(50, [&](const Command&, const std::string& reply) { return std::exchange(before, reply); });
  EXPECT_GT(tally_.wrong, 0u);
}

TEST_F(VerifiedConversationTest, OlderValueIsFound) {
  std::map<std::string, std::string> first;
  RunBatches(50, [&](const Command& command, const std::string& reply) {
    if (command[0] != "GET" || reply == "$-1\r\n") return reply;
    return first.try_emplace(command[1], reply).first->second;
  });
  EXPECT_GT(tally_.wrong, 0u);
}

TEST_F(VerifiedConversationTest, ValueOfAnotherKeyIsFound) {
  RunBatches(50, [&](const Command& command, const std::string& reply) {
    return command[0] == "GET" && reply != "$-1\r\n" ? FakeServer::Bulk(server_.values.begin()->second)
                                                     : reply;
  });
  EXPECT_GT(tally_.wrong, 0u);
}

TEST_F(VerifiedConversationTest, DamagedPaddingIsFound) {
  options_.value_size = 100;
  RunBatches(20, [](const Command&, std::string reply) {
    if (reply.size() > 50) reply[reply.size() - 3] = 'y';
    return reply;
  });
  EXPECT_GT(tally_.wrong, 0u);
}

TEST_F(VerifiedConversationTest, LostValueIsCounted) {
  int reply_number = 0;
  RunBatches(50, [&](const Command&, const std::string& reply) {
    if (++reply_number == 400) server_.values.clear();
    return reply;
  });
  EXPECT_EQ(tally_.wrong, 0u) << tally_.first_wrong;
  EXPECT_GT(tally_.lost, 0u);
  EXPECT_LE(tally_.lost, 3u);
}

TEST_F(VerifiedConversationTest, FailedWriteMayOrMayNotHaveHappened) {
  int reply_number = 0;
  RunBatches(200, [&](const Command& command, const std::string& reply) -> std::string {
    if (command[0] == "SET" && ++reply_number % 3 == 0) return "-SHARDTIMEOUT a\r\n";
    return reply;
  });
  EXPECT_EQ(tally_.wrong, 0u) << tally_.first_wrong;
  EXPECT_GT(tally_.errors, 0u);
}

TEST_F(VerifiedConversationTest, ShortOrSwappedMgetIsFound) {
  options_.command = LoadCommand::kMGet;
  RunBatches(20, [](const Command& command, const std::string& reply) -> std::string {
    return command[0] == "MGET" ? "*3\r\n$-1\r\n$-1\r\n$-1\r\n" : reply;
  });
  EXPECT_GT(tally_.wrong, 0u);
}

}  // namespace
}  // namespace ringway::bench
