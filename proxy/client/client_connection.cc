#include "proxy/client/client_connection.h"

#include <utility>

#include "proxy/route/request_table.h"

namespace ringway::proxy {

ClientConnection::ClientConnection(EventLoop& loop, SessionEnvironment& environment, Owner& owner,
                                   UniqueFd fd)
    : loop_(loop),
      environment_(environment),
      owner_(owner),
      fd_(std::move(fd)),
      session_(environment, *this) {
  read_event_.Assign(loop_.base(), fd_.get(), EV_READ | EV_PERSIST, &ClientConnection::OnSocketEvent, this);
  write_event_.Assign(loop_.base(), fd_.get(), EV_WRITE, &ClientConnection::OnSocketEvent, this);
  read_event_.Add();
}

ClientConnection::~ClientConnection() { environment_.dirty_clients.Remove(this); }

void ClientConnection::OnSocketEvent(evutil_socket_t, short what, void* argument) {
  auto* self = static_cast<ClientConnection*>(argument);
  self->loop_.NoteWake();
  if ((what & EV_WRITE) != 0) {
    self->write_event_.NoteFired();
    self->environment_.dirty_clients.Add(self);
  }
  if ((what & EV_READ) != 0) self->OnReadable();
}

void ClientConnection::OnReadable() {
  if (closed_) return;
  const ClientSession::ReadBuffer buffer = session_.PrepareRead();
  const IoResult got = Transport(fd_.get()).Read(buffer.data, buffer.size);
  switch (got.status) {
    case IoStatus::kWouldBlock:
      return;
    case IoStatus::kClosed:
      session_.OnEndOfInput();
      if (session_.Finished() || session_.blocked()) {
        CloseSoon();
      } else {
        // It may only have shut down its sending side, and still wants its replies.
        UpdateReading();
      }
      return;
    case IoStatus::kOk:
      break;
  }
  environment_.requests.stats().bytes_in.Add(got.bytes);
  session_.state().last_active_usec = loop_.now_usec();
  session_.OnBytesRead(got.bytes);
  if (!session_.WantsInput()) UpdateReading();
  if (session_.Finished()) CloseSoon();
}

void ClientConnection::Flush() {
  if (closed_ || write_event_.added()) return;
  OutputQueue& output = session_.output();
  if (!output.empty()) {
    const IoResult sent = Transport(fd_.get()).Write(output);
    WorkerStats& stats = environment_.requests.stats();
    stats.client_writes.Add();
    stats.bytes_out.Add(sent.bytes);
    if (sent.bytes > 0) session_.state().last_active_usec = loop_.now_usec();
    if (sent.status == IoStatus::kClosed) {
      CloseSoon();
      return;
    }
    if (!output.empty()) write_event_.Add();
    session_.OnOutputTaken();
  }
  if (session_.Finished()) CloseSoon();
}

void ClientConnection::Resume() {
  if (closed_) return;
  session_.Resume();
  UpdateReading();
  if (session_.Finished()) CloseSoon();
}

bool ClientConnection::PeerHasGone() { return closed_ || Transport(fd_.get()).AtEnd(); }

void ClientConnection::Drain() {
  session_.CloseAfterReplies();
  UpdateReading();
  if (session_.Finished() || session_.blocked()) CloseSoon();
}

void ClientConnection::UpdateReading() {
  if (closed_) return;
  if (session_.WantsInput()) {
    read_event_.Add();
  } else {
    read_event_.Remove();
  }
}

void ClientConnection::CloseSoon() {
  if (std::exchange(closed_, true)) return;
  read_event_.Remove();
  write_event_.Remove();
  owner_.OnClientClosed(*this);
}

}  // namespace ringway::proxy
