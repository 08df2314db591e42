#include "proxy/net/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>

namespace ringway::proxy {
namespace {

constexpr int kBacklog = 1024;

std::vector<SocketAddress> GetAddresses(const std::string& host, uint16_t port, int flags, int* status) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  *status = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  std::vector<SocketAddress> addresses;
  if (*status != 0) return addresses;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    SocketAddress address;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.length = entry->ai_addrlen;
    addresses.push_back(address);
  }
  return addresses;
}

void SetOption(int fd, int level, int name, int value) {
  // Best effort: unix sockets know none of the TCP options.
  setsockopt(fd, level, name, &value, sizeof(value));
}

// Whether a unix socket's file is left over from a process that has gone.
bool IsAbandoned(const SocketAddress& address) {
  const UniqueFd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return connect(probe.get(), address.get(), address.length) != 0 && errno == ECONNREFUSED;
}

std::string BindAndListen(int fd, const SocketAddress& address) {
  if (bind(fd, address.get(), address.length) != 0) return std::strerror(errno);
  if (listen(fd, kBacklog) != 0) return std::strerror(errno);
  return "";
}

}  // namespace

std::string SocketAddress::ToString() const {
  char text[INET6_ADDRSTRLEN] = "";
  switch (storage.ss_family) {
    case AF_INET: {
      const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
      inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text));
      return std::string(text) + ":" + std::to_string(ntohs(v4->sin_port));
    }
    case AF_INET6: {
      const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
      inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof(text));
      return "[" + std::string(text) + "]:" + std::to_string(ntohs(v6->sin6_port));
    }
    case AF_UNIX:
      if (length > offsetof(sockaddr_un, sun_path)) {
        return std::string("unix:") + reinterpret_cast<const sockaddr_un*>(&storage)->sun_path;
      }
      return "unix:";
    default: return "";
  }
}

std::vector<SocketAddress> NumericAddress(const std::string& host, uint16_t port) {
  int status;
  return GetAddresses(host, port, AI_NUMERICHOST, &status);
}

std::vector<SocketAddress> LookUp(const std::string& host, uint16_t port, std::string* error) {
  int status;
  std::vector<SocketAddress> addresses = GetAddresses(host, port, AI_ADDRCONFIG, &status);
  if (status != 0) *error = gai_strerror(status);
  return addresses;
}

SocketAddress UnixAddress(const std::string& path) {
  SocketAddress address;
  auto* local = reinterpret_cast<sockaddr_un*>(&address.storage);
  local->sun_family = AF_UNIX;
  const size_t size = std::min(path.size(), sizeof(local->sun_path) - 1);
  std::memcpy(local->sun_path, path.data(), size);
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size + 1);
  return address;
}

UniqueFd Listen(const config::ListenAddress& where, bool reuse_port, std::string* error) {
  std::vector<SocketAddress> addresses;
  const bool is_unix = where.kind == config::ListenAddress::Kind::kUnix;
  if (is_unix) {
    addresses.push_back(UnixAddress(where.path));
  } else {
    addresses = LookUp(where.host, where.port, error);
  }
  if (addresses.empty()) return {};
  const SocketAddress& address = addresses.front();
  UniqueFd fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) {
    *error = std::strerror(errno);
    return {};
  }
  SetOption(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (reuse_port && !is_unix) SetOption(fd.get(), SOL_SOCKET, SO_REUSEPORT, 1);
  if (address.storage.ss_family == AF_INET6) SetOption(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (is_unix && IsAbandoned(address)) ::unlink(where.path.c_str());
  *error = BindAndListen(fd.get(), address);
  if (!error->empty()) return {};
  return fd;
}

SocketAddress LocalAddress(int fd) {
  SocketAddress address;
  address.length = sizeof(address.storage);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0) address = {};
  return address;
}

SocketAddress PeerAddress(int fd) {
  SocketAddress address;
  address.length = sizeof(address.storage);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0) address = {};
  return address;
}

UniqueFd StartConnect(const SocketAddress& address) {
  UniqueFd fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return {};
  TuneStream(fd.get());
  if (connect(fd.get(), address.get(), address.length) != 0 && errno != EINPROGRESS) return {};
  return fd;
}

int ConnectError(int fd) {
  int error = 0;
  socklen_t size = sizeof(error);
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

void TuneStream(int fd) {
  SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  // Dead after about two minutes of silence: 60 s idle, then four probes 15 s apart.
  SetOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, 60);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, 15);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
}

IoResult Transport::Read(char* data, size_t size) {
  while (true) {
    const ssize_t got = ::recv(fd_, data, size, 0);
    if (got > 0) return {IoStatus::kOk, static_cast<size_t>(got)};
    if (got == 0) return {IoStatus::kClosed, 0};
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {IoStatus::kWouldBlock, 0};
    return {IoStatus::kClosed, 0};
  }
}

bool Transport::AtEnd() {
  char byte;
  const ssize_t got = ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK);
}

IoResult Transport::Write(OutputQueue& queue) {
  std::array<iovec, kMaxVectors> vectors;
  const size_t count = queue.Peek(vectors);
  while (true) {
    ssize_t sent;
    if (count == 1) {
      sent = ::send(fd_, vectors[0].iov_base, vectors[0].iov_len, MSG_NOSIGNAL);
    } else {
      msghdr message{};
      message.msg_iov = vectors.data();
      message.msg_iovlen = count;
      sent = ::sendmsg(fd_, &message, MSG_NOSIGNAL);
    }
    if (sent >= 0) {
      queue.Consume(static_cast<size_t>(sent));
      return {IoStatus::kOk, static_cast<size_t>(sent)};
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {IoStatus::kWouldBlock, 0};
    return {IoStatus::kClosed, 0};
  }
}

}  // namespace ringway::proxy
