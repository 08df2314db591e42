#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "protocol/command_table.h"
#include "protocol/reply_writer.h"
#include "protocol/request_view.h"
#include "proxy/client/client_session.h"
#include "proxy/route/router.h"
#include "proxy/worker_stats.h"

namespace ringway::proxy {

class Worker;

// One command on its way through a handler.
struct LocalCall {
  Worker& worker;
  ClientSession& session;
  const protocol::CommandRow& row;
  const protocol::RequestView& request;
  protocol::ReplyWriter& reply;  // left empty by a handler that answers later, through a Request
};

// Answers a command. kStall: try again later.
using LocalFunction = RequestHandler::Outcome (*)(LocalCall& call);

// One row for each command that the proxy answers itself.
struct LocalEntry {
  std::string_view full_name;  // "ping", "client|list"
  LocalFunction function;
};

// A command that Redis 7.0 does not have, and its row.
struct OwnCommand {
  protocol::CommandRow row;
  LocalFunction function;
};

// `full_name`: "ring", or "client|setinfo" for one more subcommand of a container that Redis has.
protocol::CommandRow MakeOwnRow(std::string_view full_name, int16_t arity, uint32_t flags, uint16_t id);

// For commands that every Redis answers alike in words of its own: HELP.
RequestHandler::Outcome AskAnyShard(LocalCall& call);

// The commands that the proxy answers, found by their row's id.
// Thread: one worker. Owns: nothing but scratch.
class LocalCommands final : public LocalHandler {
 public:
  explicit LocalCommands(Worker& worker);

  RequestHandler::Outcome Run(ClientSession& session, const protocol::CommandRow& row,
                              const protocol::RequestView& request) override;
  const protocol::CommandRow* FindOwn(const protocol::RequestView& request) const override;

 private:
  void Register(std::span<const LocalEntry> entries);
  LocalFunction FindFunction(const protocol::CommandRow& row) const;

  Worker& worker_;
  std::array<LocalFunction, WorkerStats::kCommandIds> functions_{};
  std::string scratch_;
};

}  // namespace ringway::proxy
