#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "proxy/buffer/output_queue.h"
#include "proxy/net/event_handles.h"

namespace ringway::proxy {

// An address as connect(2) and bind(2) take it.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  // "127.0.0.1:6380", "[::1]:6380" or "unix:/path".
  std::string ToString() const;
};

// The addresses of a numeric host; empty if `host` is a name that must be looked up.
std::vector<SocketAddress> NumericAddress(const std::string& host, uint16_t port);
SocketAddress UnixAddress(const std::string& path);
// Asks the system's resolver, and waits for it.
std::vector<SocketAddress> LookUp(const std::string& host, uint16_t port, std::string* error);

// A bound, listening, non-blocking socket; invalid with `error` filled in. `reuse_port`: several sockets may listen on
// one TCP port and share its connections. A unix socket's path is taken over if nobody listens there any more.
UniqueFd Listen(const config::ListenAddress& address, bool reuse_port, std::string* error);
SocketAddress LocalAddress(int fd);
SocketAddress PeerAddress(int fd);

// A non-blocking socket on its way to `address`; invalid with errno set.
UniqueFd StartConnect(const SocketAddress& address);
// The errno of a connect that has ended, 0 if it succeeded.
int ConnectError(int fd);
// No delay for small writes, and probes that find a peer which vanished without a word.
void TuneStream(int fd);

enum class IoStatus : uint8_t { kOk, kWouldBlock, kClosed };
struct IoResult {
  IoStatus status;
  size_t bytes;
};

// Where a connection's bytes go through: today the socket itself. The one place that TLS has to fill.
// Thread: that of its connection. Owns: nothing; the connection closes the descriptor.
class Transport {
 public:
  explicit Transport(int fd) : fd_(fd) {}
  // One read(2). kClosed at the end of the stream and on errors.
  IoResult Read(char* data, size_t size);
  // Whether the peer has ended the stream and nothing it has sent is left.
  bool AtEnd();
  // One write of as much of `queue` as the socket takes, which is dropped from it.
  IoResult Write(OutputQueue& queue);

 private:
  // More entries than this bring nothing: 64 blocks are 4 MiB.
  static constexpr size_t kMaxVectors = 64;

  int fd_;
};

}  // namespace ringway::proxy
