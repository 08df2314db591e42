#include "proxy/local/local_commands.h"

#include "protocol/error_replies.h"
#include "proxy/check.h"
#include "proxy/local/entries.h"
#include "proxy/words.h"
#include "proxy/worker.h"

namespace ringway::proxy {

protocol::CommandRow MakeOwnRow(std::string_view full_name, int16_t arity, uint32_t flags, uint16_t id) {
  protocol::CommandRow row;
  row.name = full_name;
  row.arity = arity;
  row.flags = flags;
  row.id = id;
  row.request = protocol::RequestPolicy::kLocal;
  return row;
}

RequestHandler::Outcome AskAnyShard(LocalCall& call) {
  return call.worker.router().SendToAny(call.session, call.row, call.request.frame(), nullptr);
}

LocalCommands::LocalCommands(Worker& worker) : worker_(worker) {
  Register(ClientAdminCommands());
  Register(ClientCommands());
  Register(CommandCommands());
  Register(ConfigCommands());
  Register(ConnectionCommands());
  Register(InfoCommands());
  Register(LatencyCommands());
  Register(ServerCommands());
  Register(SlowlogCommands());
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
  const LocalFunction function = FindFunction(row);
  if (function == nullptr) {
    // A container without one of its subcommands, or a command that has no meaning here.
    session.Reject(row.id, protocol::UnsupportedText(row));
    return RequestHandler::Outcome::kTaken;
  }
  const RequestHandler::Outcome outcome = function(call);
  if (!scratch_.empty()) session.Reply(row.id, scratch_);
  return outcome;
}

LocalFunction LocalCommands::FindFunction(const protocol::CommandRow& row) const {
  if (row.id < protocol::kCommandCount) return functions_[row.id];
  for (const auto& commands : {OwnClientCommands(), OwnRingCommands()}) {
    for (const OwnCommand& own : commands) {
      if (&own.row == &row) return own.function;
    }
  }
  return nullptr;
}

const protocol::CommandRow* LocalCommands::FindOwn(const protocol::RequestView& request) const {
  for (const auto& commands : {OwnClientCommands(), OwnRingCommands()}) {
    for (const OwnCommand& own : commands) {
      const std::string_view name = own.row.name;
      const size_t bar = name.find('|');
      if (!IsWord(request[0], name.substr(0, bar))) continue;
      if (bar == std::string_view::npos) return &own.row;
      if (request.size() > 1 && IsWord(request[1], name.substr(bar + 1))) return &own.row;
    }
  }
  return nullptr;
}

}  // namespace ringway::proxy
