#include "bench/load/load_client.h"

#include <cerrno>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace ringway::bench {

LoadClient::LoadClient(int epoll, const sockaddr* address, socklen_t address_length, std::size_t pipeline,
                       std::unique_ptr<Conversation> conversation)
    : epoll_(epoll),
      address_(address),
      address_length_(address_length),
      pipeline_(pipeline),
      conversation_(std::move(conversation)),
      reader_(conversation_.get()) {}

LoadClient::~LoadClient() { Close(); }

bool LoadClient::Connect(uint32_t source, uint64_t now_ns) {
  connect_start_ns_ = now_ns;
  socket_ = socket(address_->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return false;
  const int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (source != 0) {
    sockaddr_in from = {};
    from.sin_family = AF_INET;
    from.sin_addr.s_addr = htonl(source);
    // The port is chosen at connect, where only the pair of both ends has to be free.
    setsockopt(socket_, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (bind(socket_, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0) return false;
  }
  const bool connected = connect(socket_, address_, address_length_) == 0;
  if (!connected && errno != EINPROGRESS) return false;
  state_ = connected ? State::kIdle : State::kConnecting;
  watching_writable_ = !connected;
  epoll_event event = {};
  event.events = EPOLLIN | (watching_writable_ ? EPOLLOUT : 0u);
  event.data.ptr = this;
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, socket_, &event) == 0;
}

void LoadClient::Close() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  state_ = State::kClosed;
  unsent_ = {};
  reader_.Reset();
  if (due_ > 0) conversation_->ConnectionLost();
  due_ = 0;
}

bool LoadClient::Watch(bool writable) {
  if (writable == watching_writable_) return true;
  watching_writable_ = writable;
  epoll_event event = {};
  event.events = EPOLLIN | (writable ? EPOLLOUT : 0u);
  event.data.ptr = this;
  return epoll_ctl(epoll_, EPOLL_CTL_MOD, socket_, &event) == 0;
}

bool LoadClient::SendBatch(uint64_t now_ns) {
  unsent_ = conversation_->NextBatch();
  due_ = pipeline_;
  batch_start_ns_ = now_ns;
  state_ = State::kWaiting;
  return Flush();
}

bool LoadClient::Flush() {
  const ssize_t sent = send(socket_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
  if (sent >= 0) {
    unsent_.remove_prefix(static_cast<std::size_t>(sent));
  } else if (errno != EAGAIN && errno != EINTR) {
    return false;
  }
  return Watch(!unsent_.empty());
}

bool LoadClient::OnWritable() {
  if (state_ == State::kConnecting) {
    int error = 0;
    socklen_t length = sizeof error;
    if (getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &length) != 0 || error != 0) {
      errno = error;
      return false;
    }
    state_ = State::kIdle;
    return Watch(false);
  }
  return unsent_.empty() || Flush();
}

bool LoadClient::OnReadable(char* buffer, std::size_t size, uint64_t* replies) {
  *replies = 0;
  const ssize_t got = recv(socket_, buffer, size, 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) {
    errno = ECONNRESET;
    return false;
  }
  const uint64_t before = reader_.replies();
  const bool well_formed = reader_.Feed(std::string_view(buffer, static_cast<std::size_t>(got)));
  *replies = reader_.replies() - before;
  if (!well_formed || *replies > due_) {
    errno = EPROTO;
    return false;
  }
  due_ -= *replies;
  if (due_ == 0 && state_ == State::kWaiting) state_ = State::kIdle;
  return true;
}

}  // namespace ringway::bench
