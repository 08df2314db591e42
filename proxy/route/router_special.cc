// The router's commands for all shards.
#include <string>

#include "protocol/command_writer.h"
#include "protocol/error_replies.h"
#include "protocol/number_text.h"
#include "proxy/route/router.h"

namespace ringway::proxy {

using protocol::CommandRow;
using protocol::RequestView;

RequestHandler::Outcome Router::RouteSpecial(ClientSession& session, const CommandRow& row,
                                             const RequestView& request, const BlockRef* block) {
  if (IsOnKeyspace(row)) return RouteKeyspace(session, row, request, block);
  if (row.request == protocol::RequestPolicy::kSpecial) return Wait(session, row, request);
  if (&row == script_load_) scripts_.Remember(request[2]);
  if (&row == script_flush_) scripts_.Clear();
  return SendToAll(session, row, request.frame(), block, NewSplitCollector(row.response, pool_.shards()));
}

// WAIT would block a connection that others share, so shards are asked for what their replicas have by now;
// the least of their answers is true for all keys.
RequestHandler::Outcome Router::Wait(ClientSession& session, const CommandRow& row,
                                     const RequestView& request) {
  const std::optional<int64_t> replicas = protocol::ParseInt64(request[1]);
  const std::optional<int64_t> timeout = protocol::ParseInt64(request[2]);
  if (!replicas.has_value()) {
    session.ReplyError(row.id, protocol::kNotInteger);
    return Outcome::kTaken;
  }
  if (!timeout.has_value() || *timeout < 0) {
    session.ReplyError(row.id,
                       timeout.has_value() ? protocol::kTimeoutNegative : protocol::kTimeoutNotInteger);
    return Outcome::kTaken;
  }
  std::string frame;
  protocol::AppendCommand(frame, {"WAIT", request[1], "1"});
  return SendToAll(session, row, frame, nullptr,
                   NewSplitCollector(protocol::ResponsePolicy::kMin, pool_.shards()));
}

}  // namespace ringway::proxy
