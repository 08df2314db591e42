#include "proxy/move/migrate_frame.h"

#include <algorithm>

#include "protocol/command_writer.h"
#include "protocol/reply_cursor.h"

namespace ringway::proxy {
namespace {

using protocol::AppendArg;
using Verdict = MigrateBatchResult::Verdict;

void AppendExists(std::string& out, std::span<const std::string_view> keys) {
  protocol::AppendHeader(out, 1 + keys.size());
  AppendArg(out, "EXISTS");
  for (const std::string_view key : keys) AppendArg(out, key);
}

void AppendMigrate(std::string& out, const config::ShardConfig& target, uint32_t db, int64_t timeout_ms,
                   std::span<const std::string_view> keys) {
  const bool has_password = !target.password.empty();
  const bool has_user = has_password && !target.user.empty();
  const size_t auth_args = has_user ? 3 : has_password ? 2 : 0;
  protocol::AppendHeader(out, 8 + auth_args + keys.size());
  AppendArg(out, "MIGRATE");
  AppendArg(out, target.host);
  AppendArg(out, int64_t{target.port});
  AppendArg(out, "");
  AppendArg(out, int64_t{db});
  AppendArg(out, timeout_ms);
  AppendArg(out, "REPLACE");
  if (has_password) {
    AppendArg(out, has_user ? "AUTH2" : "AUTH");
    if (has_user) AppendArg(out, target.user);
    AppendArg(out, target.password);
  }
  AppendArg(out, "KEYS");
  for (const std::string_view key : keys) AppendArg(out, key);
}

Verdict VerdictOf(std::string_view text) {
  if (text.starts_with("IOERR") || text.find("Can't connect to target") != std::string_view::npos) {
    return Verdict::kTargetUnreachable;
  }
  return text.find("Target instance replied with error") != std::string_view::npos ? Verdict::kTargetRefused
                                                                                   : Verdict::kSourceFailed;
}

MigrateBatchResult Failed(std::string_view why) {
  MigrateBatchResult result;
  result.verdict = Verdict::kSourceFailed;
  result.error = why;
  return result;
}

}  // namespace

void AppendMigrateBatch(std::string& out, const config::ShardConfig& target, uint32_t db, int64_t timeout_ms,
                        std::span<const std::string_view> keys, bool with_sizes) {
  protocol::AppendCommand(out, {"MULTI"});
  AppendExists(out, keys);
  if (with_sizes) {
    for (const std::string_view key : keys) protocol::AppendCommand(out, {"MEMORY", "USAGE", key});
  }
  AppendMigrate(out, target, db, timeout_ms, keys);
  AppendExists(out, keys);
  protocol::AppendCommand(out, {"EXEC"});
}

size_t MigrateBatchReplies(size_t keys, bool with_sizes) { return 5 + (with_sizes ? keys : 0); }

MigrateBatchResult ReadMigrateBatch(std::string_view exec_reply, size_t keys, bool with_sizes) {
  if (protocol::IsError(exec_reply)) {
    return Failed(ErrorWithoutArguments(protocol::ErrorText(exec_reply)));
  }
  protocol::ReplyCursor cursor(exec_reply);
  const size_t sizes = with_sizes ? keys : 0;
  if (cursor.length() != static_cast<int64_t>(sizes + 3)) return Failed("an unexpected reply to EXEC");
  std::string_view element;
  const auto next = [&] { return cursor.Next(&element) ? element : std::string_view(); };
  MigrateBatchResult result;
  const std::string_view before_reply = next();
  for (size_t i = 0; i < sizes; ++i) {
    // A server that keeps MEMORY from this user moves its keys all the same.
    const int64_t size = protocol::IntegerOf(next()).value_or(0);
    result.bytes += static_cast<uint64_t>(std::max<int64_t>(size, 0));
  }
  const std::string_view migrate_reply = next();
  const auto before = protocol::IntegerOf(before_reply);
  const auto after = protocol::IntegerOf(next());
  if (!before || !after) {
    const std::string_view text = protocol::ErrorText(before_reply);
    return Failed(text.empty() ? "an unexpected reply to EXISTS" : ErrorWithoutArguments(text));
  }
  result.found = static_cast<uint64_t>(*before);
  result.moved = static_cast<uint64_t>(std::max<int64_t>(*before - *after, 0));
  if (protocol::IsError(migrate_reply)) {
    const std::string_view text = protocol::ErrorText(migrate_reply);
    result.verdict = VerdictOf(text);
    result.error = ErrorWithoutArguments(text);
  }
  return result;
}

// "ERR unknown command 'MIGRATE', with args beginning with: ..." quotes them all.
std::string ErrorWithoutArguments(std::string_view error_text) {
  return std::string(error_text.substr(0, error_text.find(", with args")));
}

std::string_view WhyUnmigratable(const config::ShardConfig& target) {
  if (!target.is_unix()) return {};
  return "has a unix socket's address, which MIGRATE cannot reach; give it a TCP address, or set mover: "
         "relay";
}

}  // namespace ringway::proxy
