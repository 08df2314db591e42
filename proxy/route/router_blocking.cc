// The router's commands that wait at their shard.
#include "proxy/route/router.h"

namespace ringway::proxy {

using protocol::CommandRow;
using protocol::RequestView;

RequestHandler::Outcome Router::RouteBlocking(ClientSession& session, const CommandRow& row,
                                              const RequestView&, const BlockRef*) {
  session.Reject(row.id, "ERR " + std::string(row.name) +
                             " with BLOCK is not available: blocking commands are not served");
  return Outcome::kTaken;
}

}  // namespace ringway::proxy
