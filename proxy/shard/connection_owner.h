#pragma once

#include <string_view>

namespace ringway::proxy {

class ShardConnection;

// Told what concerns a connection that it has for itself (OwnConnections). None of these may end or give back
// the connection on the spot but through its OwnConnection, which waits for the end of the turn.
// Thread: one worker.
class ConnectionOwner {
 public:
  // The server lets requests in, after each connect: what is to stand on the connection may be sent. Before
  // anything that was sent while it connected.
  virtual void OnReady(ShardConnection&) {}
  // A push of RESP3, whole: no reply to anything. Valid for the call.
  virtual void OnPush(ShardConnection& from, std::string_view push) = 0;
  // The connection has gone, or could not be made, and with it what the server knew of it. What was under way
  // has been answered with an error. It connects again with the next request.
  virtual void OnLost(ShardConnection& connection) = 0;

 protected:
  ~ConnectionOwner() = default;
};

}  // namespace ringway::proxy
