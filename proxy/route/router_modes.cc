// The router for clients that are in a mode of their own.
#include "proxy/route/router.h"

namespace ringway::proxy {

using protocol::CommandRow;
using protocol::RequestView;

RequestHandler::Outcome Router::ExecuteInMode(ClientSession& session, const CommandRow& row,
                                              const RequestView& request, const BlockRef* block) {
  return Execute(session, row, request, block);
}

}  // namespace ringway::proxy
