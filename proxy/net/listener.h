#pragma once

#include <functional>
#include <memory>
#include <string>

#include "proxy/net/event_loop.h"
#include "proxy/net/socket.h"

namespace ringway::proxy {

// Accepts connections on one listening socket. When no descriptors are left it pauses for kPauseUsec at a
// time instead of spinning, and says so once when it begins and once when it is over. Thread: one loop. Owns:
// the socket, perhaps together with other listeners.
class Listener {
 public:
  static constexpr int64_t kPauseUsec = 100'000;
  // Connections taken in one turn, so that a flood of them does not keep clients waiting.
  static constexpr int kMaxAcceptsPerTurn = 64;

  using Callback = std::function<void(UniqueFd)>;
  // Several loops may accept from one socket, each with a listener of its own.
  Listener(EventLoop& loop, std::shared_ptr<UniqueFd> fd, Callback on_accept);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

 private:
  static void OnReady(evutil_socket_t fd, short what, void* self);
  static void OnPauseOver(evutil_socket_t fd, short what, void* self);
  void AcceptAll();
  void Pause(int error);

  EventLoop& loop_;
  std::shared_ptr<UniqueFd> fd_;
  Callback on_accept_;
  Event ready_event_;
  Event pause_event_;
  bool starved_ = false;
};

}  // namespace ringway::proxy
