// The router's commands for all shards.
#include "proxy/route/router.h"

namespace ringway::proxy {

using protocol::CommandRow;
using protocol::RequestView;

RequestHandler::Outcome Router::RouteSpecial(ClientSession& session, const CommandRow& row,
                                             const RequestView& request, const BlockRef* block) {
  if (IsOnKeyspace(row)) return RouteKeyspace(session, row, request, block);
  if (row.group == protocol::CommandGroup::kTransactions) return RouteTransaction(session, row, request);
  if (row.request == protocol::RequestPolicy::kSpecial) return Wait(session, row, request);
  if (&row == script_load_) scripts_.Remember(request[2]);
  if (&row == script_flush_) scripts_.Clear();
  return SendToAll(session, row, request.frame(), block, NewSplitCollector(row.response, pool_.shards()));
}

}  // namespace ringway::proxy
