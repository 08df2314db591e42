// The router for clients that are in a mode of their own.
#include "proxy/route/router.h"

namespace ringway::proxy {

using protocol::CommandRow;
using protocol::RequestView;

RequestHandler::Outcome Router::ExecuteInMode(ClientSession& session, const CommandRow& row,
                                              const RequestView& request, const BlockRef* block) {
  uint8_t& modes = session.state().modes;
  if ((modes & SessionState::kAwaitsReply) != 0) {
    if (session.pending() > 0) {
      session.StallUntilAnswered();
      return Outcome::kStall;
    }
    modes &= static_cast<uint8_t>(~SessionState::kAwaitsReply);
  }
  if ((modes & SessionState::kInTransaction) != 0) return Queue(session, row, request);
  return Execute(session, row, request, block);
}

}  // namespace ringway::proxy
