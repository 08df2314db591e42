#include "proxy/move/migrate_frame.h"

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ringway::proxy {
namespace {

using Verdict = MigrateBatchResult::Verdict;

config::ShardConfig Target() {
  config::ShardConfig target;
  target.name = "cache4";
  target.host = "10.0.0.4";
  target.port = 6379;
  return target;
}

// The commands of a frame, as words joined by blanks.
std::vector<std::string> Commands(const std::string& frame) {
  std::vector<std::string> commands;
  size_t at = 0;
  const auto number = [&] {
    const size_t end = frame.find("\r\n", at);
    const size_t value = std::stoul(frame.substr(at + 1, end - at - 1));
    at = end + 2;
    return value;
  };
  while (at < frame.size()) {
    std::string command;
    for (size_t args = number(); args > 0; --args) {
      const size_t length = number();
      command += (command.empty() ? "" : " ") + frame.substr(at, length);
      at += length + 2;
    }
    commands.push_back(command);
  }
  return commands;
}

std::vector<std::string> BatchOf(const config::ShardConfig& target, bool with_sizes) {
  std::string out;
  const std::array<std::string_view, 2> keys = {"a", "b"};
  AppendMigrateBatch(out, target, 3, 900, keys, with_sizes);
  return Commands(out);
}

TEST(MigrateFrame, CountsAreNotTakenInTheTransactionOfTheMove) {
  const std::vector<std::string> expected = {
      "MULTI", "EXISTS a b", "MIGRATE 10.0.0.4 6379  3 900 REPLACE KEYS a b", "EXISTS a b", "EXEC"};
  EXPECT_EQ(BatchOf(Target(), false), expected);
  EXPECT_EQ(MigrateBatchReplies(2, false), expected.size());
}

TEST(MigrateFrame, SizesAreAskedForBehindTheMove) {
  const std::vector<std::string> commands = BatchOf(Target(), true);
  ASSERT_EQ(commands.size(), 7U);
  EXPECT_EQ(commands[2], "MEMORY USAGE a");
  EXPECT_EQ(commands[3], "MEMORY USAGE b");
  EXPECT_EQ(MigrateBatchReplies(2, true), commands.size());
}

TEST(MigrateFrame, PasswordAloneGoesAsUserAndPassword) {
  config::ShardConfig target = Target();
  target.password = "secret";
  EXPECT_EQ(BatchOf(target, false)[2], "MIGRATE 10.0.0.4 6379  3 900 REPLACE AUTH secret KEYS a b");
  target.user = "mover";
  EXPECT_EQ(BatchOf(target, false)[2], "MIGRATE 10.0.0.4 6379  3 900 REPLACE AUTH2 mover secret KEYS a b");
  target.password.clear();
  EXPECT_EQ(BatchOf(target, false)[2], "MIGRATE 10.0.0.4 6379  3 900 REPLACE KEYS a b");
}

TEST(MigrateFrame, MovedKeysAreNotTheDifference) {
  const MigrateBatchResult result = ReadMigrateBatch("*5\r\n:2\r\n:56\r\n:72\r\n+OK\r\n:0\r\n", 2, true);
  EXPECT_EQ(result.verdict, Verdict::kMoved) << result.error;
  EXPECT_EQ(result.found, 2U);
  EXPECT_EQ(result.moved, 2U);
  EXPECT_EQ(result.bytes, 128U);
}

TEST(MigrateFrame, NoKeyIsAnErrorOrCounted) {
  const MigrateBatchResult result = ReadMigrateBatch("*5\r\n:0\r\n$-1\r\n$-1\r\n+NOKEY\r\n:0\r\n", 2, true);
  EXPECT_EQ(result.verdict, Verdict::kMoved) << result.error;
  EXPECT_EQ(result.found, 0U);
  EXPECT_EQ(result.moved, 0U);
  EXPECT_EQ(result.bytes, 0U);
}

TEST(MigrateFrame, KeysThatMovedBeforeAnErrorAreForgotten) {
  const MigrateBatchResult result = ReadMigrateBatch(
      "*3\r\n:3\r\n-ERR Target instance replied with error: OOM command not allowed when used memory > "
      "'maxmemory'.\r\n:1\r\n",
      3, false);
  EXPECT_EQ(result.verdict, Verdict::kTargetRefused);
  EXPECT_EQ(result.found, 3U);
  EXPECT_EQ(result.moved, 2U);
  EXPECT_NE(result.error.find("OOM"), std::string::npos);
}

TEST(MigrateFrame, TroubleWithTheTargetIsTakenForTheSources) {
  const auto verdict = [](const std::string& error) {
    return ReadMigrateBatch("*3\r\n:1\r\n-" + error + "\r\n:1\r\n", 1, false).verdict;
  };
  EXPECT_EQ(verdict("IOERR error or timeout reading to target instance"), Verdict::kTargetUnreachable);
  EXPECT_EQ(verdict("IOERR error or timeout connecting to the client"), Verdict::kTargetUnreachable);
  EXPECT_EQ(verdict("ERR Can't connect to target node: refused"), Verdict::kTargetUnreachable);
  EXPECT_EQ(verdict("ERR Target instance replied with error: READONLY no"), Verdict::kTargetRefused);
  EXPECT_EQ(verdict("ERR something else"), Verdict::kSourceFailed);
}

TEST(MigrateFrame, PasswordShowsInAnError) {
  const MigrateBatchResult result = ReadMigrateBatch(
      "-ERR unknown command 'MIGRATE', with args beginning with: '10.0.0.4' '6379' 'AUTH' 'secret' \r\n", 1,
      false);
  EXPECT_EQ(result.verdict, Verdict::kSourceFailed);
  EXPECT_EQ(result.error, "ERR unknown command 'MIGRATE'");
}

TEST(MigrateFrame, ReplyOfAnotherShapeIsTakenForSuccess) {
  for (const std::string_view reply :
       {"*-1\r\n", "*0\r\n", "$2\r\nOK\r\n", "+OK\r\n", "*3\r\n+OK\r\n+OK\r\n+OK\r\n", "*3\r\n:1\r\n", "",
        "*3\r\n-NOPERM no\r\n+OK\r\n-NOPERM no\r\n"}) {
    const MigrateBatchResult result = ReadMigrateBatch(reply, 1, false);
    EXPECT_EQ(result.verdict, Verdict::kSourceFailed) << reply;
    EXPECT_FALSE(result.error.empty()) << reply;
  }
}

TEST(MigrateFrame, UnixSocketIsTakenForATarget) {
  config::ShardConfig target = Target();
  EXPECT_TRUE(WhyUnmigratable(target).empty());
  target.path = "/run/redis.sock";
  EXPECT_FALSE(WhyUnmigratable(target).empty());
}

}  // namespace
}  // namespace ringway::proxy
