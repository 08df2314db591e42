#include "proxy/control/preflight_purge.h"

#include "protocol/command_writer.h"
#include "protocol/reply_cursor.h"
#include "proxy/move/migrate_frame.h"

namespace ringway::proxy {
namespace {

using protocol::BulkOf;

// About a millisecond of the server's time.
constexpr std::string_view kScanCount = "500";

}  // namespace

void PreflightPurge::NextDatabase() {
  if (next_database_ == server_.keyspace.size()) {
    // Through the server, since nobody may be called back from Start.
    server_.client.Do({"PING"}, [this](const ShardClient::Answer& answer) {
      if (!Failed(answer)) done_(removed_, "");
    });
    return;
  }
  server_.client.UseDatabase(server_.keyspace[next_database_++].database);
  Scan("0");
}

void PreflightPurge::Scan(const std::string& cursor) {
  server_.client.Do({"SCAN", cursor, "COUNT", kScanCount},
                    [this](const ShardClient::Answer& answer) { OnKeys(answer); });
}

void PreflightPurge::OnKeys(const ShardClient::Answer& answer) {
  if (Failed(answer)) return;
  protocol::ReplyCursor reply(answer[0]);
  std::string_view element;
  const std::string cursor(reply.Next(&element) ? BulkOf(element).value_or("0") : "0");
  protocol::ReplyCursor keys(reply.Next(&element) ? element : std::string_view());
  std::string frame;
  size_t commands = 0;
  while (keys.Next(&element)) {
    const std::string_view key = BulkOf(element).value_or(std::string_view());
    if (!IsForeign(key)) continue;
    protocol::AppendCommand(frame, {"UNLINK", key});
    ++commands;
  }
  if (commands == 0) {
    GoOn(cursor);
  } else {
    Unlink(frame, commands, cursor);
  }
}

void PreflightPurge::Unlink(const std::string& frame, size_t commands, const std::string& cursor) {
  server_.client.DoFrame(frame, commands, [this, cursor](const ShardClient::Answer& answer) {
    if (Failed(answer)) return;
    for (size_t i = 0; i < answer.size(); ++i) {
      if (protocol::IntegerOf(answer[i]).value_or(0) > 0) ++removed_;
    }
    GoOn(cursor);
  });
}

void PreflightPurge::GoOn(const std::string& cursor) {
  if (cursor == "0") {
    NextDatabase();
  } else {
    Scan(cursor);
  }
}

bool PreflightPurge::IsForeign(std::string_view key) const {
  if (server_.is_joining) return true;
  const uint64_t hash = plan_.diff().to().Hash(key);
  const uint32_t id = server_.shard.id;
  return plan_.to()[plan_.ToIndex(hash)].id == id && plan_.from()[plan_.FromIndex(hash)].id != id;
}

bool PreflightPurge::Failed(const ShardClient::Answer& answer) {
  const std::string_view error = answer.FirstError();
  if (answer.ok() && error.empty()) return false;
  done_(removed_, server_.Label() + " cannot be purged: it " +
                      (error.empty() ? answer.problem : "answers " + ErrorWithoutArguments(error)));
  return true;
}

}  // namespace ringway::proxy
