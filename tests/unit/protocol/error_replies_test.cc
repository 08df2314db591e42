// The texts as redis-server 7.0 gives them.
#include "protocol/error_replies.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace ringway::protocol {
namespace {

using Args = std::vector<std::string_view>;
using std::string_view_literals::operator""sv;

TEST(ErrorReplies, ArityNamesTheCommand) {
  EXPECT_EQ(WrongArity("get"), "ERR wrong number of arguments for 'get' command");
  EXPECT_EQ(WrongArity("config|get"), "ERR wrong number of arguments for 'config|get' command");
}

TEST(ErrorReplies, UnknownCommandQuotesTheBeginningOfItsArguments) {
  EXPECT_EQ(UnknownCommand("nope", Args{}), "ERR unknown command 'nope', with args beginning with: ");
  EXPECT_EQ(UnknownCommand("NoPe", Args{"a", "b c"}),
            "ERR unknown command 'NoPe', with args beginning with: 'a' 'b c' ");
}

TEST(ErrorReplies, LongAndHostileBytesAreCutAndCleaned) {
  const std::string x(200, 'x');
  const std::string cut(128, 'x');
  EXPECT_EQ(UnknownCommand(x, Args{x, "never"}),
            "ERR unknown command '" + cut + "', with args beginning with: '" + cut + "' ");
  // Quotes and spaces count, so the second argument has what is left.
  EXPECT_EQ(UnknownCommand("c", Args{std::string(100, 'a'), x, "never"}),
            "ERR unknown command 'c', with args beginning with: '" + std::string(100, 'a') + "' '" +
                std::string(25, 'x') + "' ");
  EXPECT_EQ(UnknownCommand("a\r\n+OK\r\n", Args{"\r\n"}),
            "ERR unknown command 'a  +OK  ', with args beginning with: '  ' ");
  EXPECT_EQ(UnknownCommand("a\0b"sv, Args{"c\0d"sv}),
            "ERR unknown command 'a', with args beginning with: 'c' ");
}

TEST(ErrorReplies, UnknownSubcommandPointsToHelp) {
  EXPECT_EQ(UnknownSubcommand("client", "nope"), "ERR unknown subcommand 'nope'. Try CLIENT HELP.");
  EXPECT_EQ(SubcommandSyntaxError("Ring", "add"),
            "ERR unknown subcommand or wrong number of arguments for 'add'. Try RING HELP.");
}

TEST(ErrorReplies, OtherTexts) {
  EXPECT_EQ(NoPermissionForCommand("get"), "NOPERM this user has no permissions to run the 'get' command");
  EXPECT_EQ(
      NotInSubscribedContext("get"),
      "ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in "
      "this context");
  EXPECT_EQ(ExecAborted("no"), "EXECABORT Transaction discarded because of: no");
  EXPECT_EQ(HelloSyntaxError("FOO"), "ERR Syntax error in HELLO option 'FOO'");
}

TEST(ErrorReplies, RingwaysOwnBeginWithTheirWord) {
  EXPECT_EQ(ShardDown("cache2", "10.0.0.2:6379"), "SHARDDOWN cache2 10.0.0.2:6379 is unreachable");
  EXPECT_EQ(ShardTimeout("cache2", "10.0.0.2:6379", 2000),
            "SHARDTIMEOUT cache2 10.0.0.2:6379 did not answer within 2000 ms");
  EXPECT_EQ(MoveFail("cache2 refuses\r\nwrites"), "MOVEFAIL cache2 refuses  writes");
  EXPECT_EQ(kRingBusy, "RINGBUSY a move is under way");
}

}  // namespace
}  // namespace ringway::protocol
