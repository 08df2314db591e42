#include "tests/support/fake_shard.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ringway::test {

FakeShard::FakeShard(Answer answer) : answer_(std::move(answer)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, generic, length) != 0 || ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, generic, &length) != 0) {
    ::close(listener_);
    throw SetUpFailure("a fake shard cannot listen");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Run(); });
}

FakeShard::~FakeShard() {
  stop_ = true;
  thread_.join();
  for (const Connection& connection : connections_) ::close(connection.fd);
  ::close(listener_);
}

std::vector<std::string> FakeShard::Commands() const {
  const std::lock_guard lock(mutex_);
  return commands_;
}

void FakeShard::Run() {
  while (!stop_) {
    std::vector<pollfd> polled = {{listener_, POLLIN, 0}};
    for (const Connection& connection : connections_) polled.push_back({connection.fd, POLLIN, 0});
    // The time-out is how soon the end of the test is noticed.
    if (::poll(polled.data(), polled.size(), 20) <= 0) continue;
    std::erase_if(connections_, [&](Connection& connection) {
      const auto ready = std::find_if(polled.begin(), polled.end(),
                                      [&](const pollfd& entry) { return entry.fd == connection.fd; });
      if (ready->revents == 0 || Serve(connection)) return false;
      ::close(connection.fd);
      return true;
    });
    if (polled.front().revents != 0) Accept();
  }
}

void FakeShard::Accept() {
  const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd >= 0) connections_.push_back({fd, ""});
}

bool FakeShard::Serve(Connection& connection) {
  std::array<char, 65536> buffer;
  const ssize_t got = ::recv(connection.fd, buffer.data(), buffer.size(), 0);
  if (got <= 0) return false;
  connection.received.append(buffer.data(), static_cast<size_t>(got));
  // A request is an array of bulk strings, so what reads replies reads it too.
  while (true) {
    const auto length = ReplyLength(connection.received);
    if (!length.has_value()) return false;
    if (*length == 0) return true;
    const Command command = ParseReply(connection.received.substr(0, *length)).Texts();
    connection.received.erase(0, *length);
    const std::string reply = ReplyTo(command);
    if (::send(connection.fd, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) return false;
  }
}

std::string FakeShard::ReplyTo(const Command& command) {
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + word;
  {
    const std::lock_guard lock(mutex_);
    commands_.push_back(line);
  }
  std::string reply = answer_(command);
  if (!reply.empty()) return reply;
  std::string name = command.empty() ? "" : command[0];
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  if (name == "PING") return "+PONG\r\n";
  if (name == "AUTH" || name == "SELECT") return "+OK\r\n";
  if (name == "INFO") return "$24\r\nredis_version:255.255.1\n\r\n";
  return "-ERR unknown command\r\n";
}

}  // namespace ringway::test
