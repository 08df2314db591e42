#include "protocol/error_replies.h"

#include <algorithm>

#include "protocol/limits.h"

namespace ringway::protocol {
namespace {

std::string Join(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts) text.append(part);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
  return text;
}

// What C's "%.<limit>s" prints of a client's bytes.
std::string_view Quoted(std::string_view bytes, size_t limit = kMaxQuotedBytes) {
  return bytes.substr(0, std::min(limit, bytes.find('\0')));
}

std::string Upper(std::string_view name) {
  std::string upper(name);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

}  // namespace

std::string WrongArity(std::string_view name) {
  return Join({"ERR wrong number of arguments for '", name, "' command"});
}

std::string NoPermissionForCommand(std::string_view name) {
  return Join({"NOPERM this user has no permissions to run the '", name, "' command"});
}

std::string NotInSubscribedContext(std::string_view name) {
  return Join(
      {"ERR Can't execute '", name,
       "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context"});
}

std::string ExecAborted(std::string_view why) {
  return Join({"EXECABORT Transaction discarded because of: ", why});
}

std::string HelloSyntaxError(std::string_view option) {
  return Join({"ERR Syntax error in HELLO option '", Quoted(option, std::string_view::npos), "'"});
}

std::string UnknownCommand(std::string_view name, std::span<const std::string_view> args) {
  std::string beginning;
  for (std::string_view arg : args) {
    if (beginning.size() >= kMaxQuotedBytes) break;
    const size_t room = kMaxQuotedBytes - beginning.size();
    beginning.push_back('\'');
    beginning.append(Quoted(arg, room));
    beginning.append("' ");
  }
  return Join({"ERR unknown command '", Quoted(name), "', with args beginning with: ", beginning});
}

std::string UnknownSubcommand(std::string_view container, std::string_view subcommand) {
  return Join(
      {"ERR unknown subcommand '", Quoted(subcommand), "'. Try ", Upper(Quoted(container)), " HELP."});
}

std::string SubcommandSyntaxError(std::string_view container, std::string_view subcommand) {
  return Join({"ERR unknown subcommand or wrong number of arguments for '", Quoted(subcommand), "'. Try ",
               Upper(Quoted(container)), " HELP."});
}

std::string ShardDown(std::string_view shard, std::string_view address) {
  return Join({"SHARDDOWN ", shard, " ", address, " is unreachable"});
}

std::string ShardTimeout(std::string_view shard, std::string_view address, long timeout_ms) {
  return Join(
      {"SHARDTIMEOUT ", shard, " ", address, " did not answer within ", std::to_string(timeout_ms), " ms"});
}

std::string MoveFail(std::string_view why) { return Join({"MOVEFAIL ", why}); }

}  // namespace ringway::protocol
