#include "proxy/net/listener.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>

#include "proxy/log.h"

namespace ringway::proxy {

Listener::Listener(EventLoop& loop, std::shared_ptr<UniqueFd> fd, Callback on_accept)
    : loop_(loop), fd_(std::move(fd)), on_accept_(std::move(on_accept)) {
  ready_event_.Assign(loop_.base(), fd_->get(), EV_READ | EV_PERSIST, &Listener::OnReady, this);
  pause_event_.Assign(loop_.base(), -1, 0, &Listener::OnPauseOver, this);
  ready_event_.Add();
}

void Listener::OnReady(evutil_socket_t, short, void* argument) {
  auto* self = static_cast<Listener*>(argument);
  self->loop_.NoteWake();
  self->AcceptAll();
}

void Listener::OnPauseOver(evutil_socket_t, short, void* argument) {
  auto* self = static_cast<Listener*>(argument);
  self->loop_.NoteWake();
  self->pause_event_.NoteFired();
  self->ready_event_.Add();
}

void Listener::AcceptAll() {
  for (int i = 0; i < kMaxAcceptsPerTurn; ++i) {
    UniqueFd client(accept4(fd_->get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (client.valid()) {
      TuneStream(client.get());
      on_accept_(std::move(client));
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      Pause(errno);
    } else if (std::exchange(starved_, false)) {
      // All who waited have come in; one descriptor that became free would not be the end of it.
      LogInfo("accepting connections again");
    }
    return;
  }
}

void Listener::Pause(int error) {
  if (!std::exchange(starved_, true)) {
    LogWarn("cannot accept connections for now: " + std::string(std::strerror(error)));
  }
  ready_event_.Remove();
  pause_event_.AddTimeout(kPauseUsec);
}

}  // namespace ringway::proxy
