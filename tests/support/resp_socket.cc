#include "tests/support/resp_socket.h"

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/support/resp_reply.h"

namespace ringway::test {

namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kReadSize = 1 << 18;
constexpr std::string_view kUnixPrefix = "unix:";

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;
};

std::optional<SocketAddress> ParseAddress(const std::string& address) {
  SocketAddress result;
  if (address.starts_with(kUnixPrefix)) {
    auto* local = reinterpret_cast<sockaddr_un*>(&result.storage);
    const std::string path = address.substr(kUnixPrefix.size());
    if (path.size() >= sizeof(local->sun_path)) return std::nullopt;
    local->sun_family = AF_UNIX;
    std::memcpy(local->sun_path, path.c_str(), path.size() + 1);
    result.length = sizeof(sockaddr_un);
    return result;
  }
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto port = static_cast<uint16_t>(std::strtoul(address.c_str() + colon + 1, nullptr, 10));
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&result.storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    result.length = sizeof(sockaddr_in6);
    host = host.substr(1, host.size() - 2);
    if (inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) != 1) return std::nullopt;
    return result;
  }
  auto* v4 = reinterpret_cast<sockaddr_in*>(&result.storage);
  v4->sin_family = AF_INET;
  v4->sin_port = htons(port);
  result.length = sizeof(sockaddr_in);
  if (inet_pton(AF_INET, host.c_str(), &v4->sin_addr) != 1) return std::nullopt;
  return result;
}

}  // namespace

RespSocket::RespSocket(RespSocket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), input_(std::move(other.input_)), error_(std::move(other.error_)) {}

RespSocket& RespSocket::operator=(RespSocket&& other) noexcept {
  if (this == &other) return *this;
  Close();
  fd_ = std::exchange(other.fd_, -1);
  input_ = std::move(other.input_);
  error_ = std::move(other.error_);
  return *this;
}

bool RespSocket::Connect(const std::string& address, int receive_buffer, milliseconds timeout) {
  Close();
  input_.clear();
  const auto target = ParseAddress(address);
  if (!target) {
    error_ = "not an address: " + address;
    return false;
  }
  fd_ = socket(target->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd_ < 0) {
    error_ = std::strerror(errno);
    return false;
  }
  if (receive_buffer > 0) setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
  const int on = 1;
  if (target->storage.ss_family != AF_UNIX) setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  int failure = 0;
  if (connect(fd_, reinterpret_cast<const sockaddr*>(&target->storage), target->length) != 0) {
    failure = errno;
    if (failure == EINPROGRESS && WaitFor(POLLOUT, Clock::now() + timeout)) {
      socklen_t length = sizeof(failure);
      getsockopt(fd_, SOL_SOCKET, SO_ERROR, &failure, &length);
    }
  }
  if (failure == 0) return true;
  error_ = std::strerror(failure);
  Close();
  return false;
}

bool RespSocket::Send(std::string_view bytes, milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (!bytes.empty()) {
    const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!WaitFor(POLLOUT, deadline)) return false;
    } else if (errno != EINTR) {
      error_ = std::strerror(errno);
      return false;
    }
  }
  return true;
}

std::optional<std::string> RespSocket::ReadReply(milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (true) {
    const auto length = ReplyLength(input_);
    if (!length) {
      error_ = "not RESP: " + input_.substr(0, 200);
      return std::nullopt;
    }
    if (*length > 0) {
      std::string reply = input_.substr(0, *length);
      input_.erase(0, *length);
      return reply;
    }
    if (Fill(deadline) <= 0) return std::nullopt;
  }
}

std::optional<std::string> RespSocket::ReadBytes(size_t size, milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (input_.size() < size) {
    if (Fill(deadline) <= 0) return std::nullopt;
  }
  std::string bytes = input_.substr(0, size);
  input_.erase(0, size);
  return bytes;
}

bool RespSocket::SkimBytes(size_t size, const std::function<void(std::string_view)>& see,
                           milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (size > 0) {
    if (input_.empty() && Fill(deadline) <= 0) return false;
    const size_t seen = std::min(size, input_.size());
    see(std::string_view(input_).substr(0, seen));
    input_.erase(0, seen);
    size -= seen;
  }
  return true;
}

std::optional<std::string> RespSocket::ReadUntilClosed(milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  int got = 1;
  while (got > 0) got = Fill(deadline);
  if (got < 0) return std::nullopt;
  return std::exchange(input_, {});
}

bool RespSocket::ReadableWithin(milliseconds timeout) {
  return !input_.empty() || WaitFor(POLLIN, Clock::now() + timeout);
}

void RespSocket::HalfClose() { shutdown(fd_, SHUT_WR); }

void RespSocket::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

void RespSocket::Abort() {
  const linger reset = {1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
  Close();
}

std::string RespSocket::LocalAddress() const {
  sockaddr_in local = {};
  socklen_t length = sizeof(local);
  if (getsockname(fd_, reinterpret_cast<sockaddr*>(&local), &length) != 0 || local.sin_family != AF_INET)
    return "";
  char host[INET_ADDRSTRLEN];
  inet_ntop(AF_INET, &local.sin_addr, host, sizeof(host));
  return std::string(host) + ":" + std::to_string(ntohs(local.sin_port));
}

bool RespSocket::WaitFor(short events, Clock::time_point deadline) {
  pollfd entry = {fd_, events, 0};
  while (true) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now()).count();
    const int ready = poll(&entry, 1, left > 0 ? static_cast<int>(left) + 1 : 0);
    if (ready > 0) return true;
    if (ready == 0 && left <= 0) {
      error_ = "timed out";
      return false;
    }
  }
}

int RespSocket::Fill(Clock::time_point deadline) {
  thread_local std::vector<char> buffer(kReadSize);
  while (true) {
    const ssize_t got = recv(fd_, buffer.data(), buffer.size(), 0);
    const int failure = errno;
    if (got > 0) {
      input_.append(buffer.data(), static_cast<size_t>(got));
      return 1;
    }
    if (got == 0) {
      error_ = "closed by the peer";
      return 0;
    }
    if (failure == ECONNRESET) {
      error_ = "reset by the peer";
      return 0;
    }
    if (failure != EAGAIN && failure != EINTR) {
      error_ = std::strerror(failure);
      return -1;
    }
    if (!WaitFor(POLLIN, deadline)) return -1;
  }
}

}  // namespace ringway::test
