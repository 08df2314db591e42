#pragma once

#include <array>
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

  Worker& worker_;
  std::array<LocalFunction, WorkerStats::kCommandIds> functions_{};
  std::string scratch_;
};

}  // namespace ringway::proxy
