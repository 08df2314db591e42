#pragma once

#include <functional>

#include "proxy/client/client_session.h"
#include "proxy/net/event_loop.h"
#include "proxy/net/socket.h"

namespace ringway::proxy {

// The socket of one client.
// Thread: one worker. Owns: the socket, the session.
// Limits: one read(2) and one write(2) in a turn, so that no client keeps the others waiting.
class ClientConnection final : public ClientHost {
 public:
  // What a connection tells its worker.
  class Owner {
   public:
    // The connection is to be deleted at the end of the turn.
    virtual void OnClientClosed(ClientConnection& connection) = 0;

   protected:
    ~Owner() = default;
  };

  ClientConnection(EventLoop& loop, SessionEnvironment& environment, Owner& owner, UniqueFd fd);
  ~ClientConnection() override;
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  void Flush() override;
  void CloseSoon() override;
  // Reads on if the session wants it.
  void Resume() override;
  bool PeerHasGone() override;
  // SIGTERM: no further requests; ends when all replies are out.
  void Drain();

  ClientSession& session() { return session_; }
  uint64_t id() const { return session_.state().id; }

 private:
  static void OnSocketEvent(evutil_socket_t fd, short what, void* self);
  void OnReadable();
  void UpdateReading();

  EventLoop& loop_;
  SessionEnvironment& environment_;
  Owner& owner_;
  UniqueFd fd_;
  Event read_event_;
  Event write_event_;
  bool closed_ = false;
  ClientSession session_;
};

}  // namespace ringway::proxy
