#include "proxy/local/local_commands.h"

#include "protocol/error_replies.h"
#include "proxy/check.h"
#include "proxy/local/entries.h"

namespace ringway::proxy {

LocalCommands::LocalCommands(Worker& worker) : worker_(worker) {
  Register(ConnectionCommands());
  Register(ServerCommands());
}

void LocalCommands::Register(std::span<const LocalEntry> entries) {
  for (const LocalEntry& entry : entries) {
    const protocol::CommandRow* row = protocol::FindByFullName(entry.full_name);
    RINGWAY_CHECK(row != nullptr && functions_[row->id] == nullptr);
    functions_[row->id] = entry.function;
  }
}

RequestHandler::Outcome LocalCommands::Run(ClientSession& session, const protocol::CommandRow& row,
                                           const protocol::RequestView& request) {
  scratch_.clear();
  protocol::ReplyWriter reply(scratch_, session.state().resp);
  LocalCall call{worker_, session, row, request, reply};
  const LocalFunction function = functions_[row.id];
  if (function == nullptr) {
    // A container without one of its subcommands, or a command that has no meaning here.
    session.Reject(row.id, protocol::UnsupportedText(row));
    return RequestHandler::Outcome::kTaken;
  }
  const RequestHandler::Outcome outcome = function(call);
  if (!scratch_.empty()) session.Reply(row.id, scratch_);
  return outcome;
}

const protocol::CommandRow* LocalCommands::FindOwn(const protocol::RequestView&) const { return nullptr; }

}  // namespace ringway::proxy
