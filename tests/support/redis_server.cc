#include "tests/support/redis_server.h"

#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ringway::test {

namespace {

// State letter of a process, from /proc; 'T' is stopped.
char ProcessState(pid_t pid) {
  const std::string stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  const size_t name_end = stat.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= stat.size() ? '?' : stat[name_end + 2];
}

}  // namespace

ReservedPort::ReservedPort() {
  fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  if (bind(fd_, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw SetUpFailure("cannot reserve a port");
  }
  port_ = ntohs(address.sin_port);
}

ReservedPort::~ReservedPort() { close(fd_); }

RedisServer::RedisServer(std::vector<std::string> arguments) : RedisServer(Later(), std::move(arguments)) {
  WaitReady();
}

RedisServer::RedisServer(Later, std::vector<std::string> arguments) : arguments_(std::move(arguments)) {
  Start();
}

void RedisServer::Start() {
  std::vector<std::string> command = {"redis-server", "--bind", "127.0.0.1", "--port", std::to_string(port()),
                                      "--save", "", "--appendonly", "no", "--dir", directory_.path(),
                                      // Tests ask for these around the proxy.
                                      "--enable-debug-command", "yes"};
  command.insert(command.end(), arguments_.begin(), arguments_.end());
  process_.Start(command, directory_.File("log"));
}

void RedisServer::WaitReady() {
  const bool ready = Eventually([this] {
    RespSocket socket;
    if (!socket.Connect(address())) return !process_.running();
    socket.Send("PING\r\n");
    const auto reply = socket.ReadReply();
    // With a password the answer is NOAUTH: ready as well.
    return reply && !reply->starts_with("-LOADING");
  });
  if (ready && process_.running()) return;
  throw SetUpFailure("redis-server did not start:\n" + log());
}

void RedisServer::Stop() {
  process_.Signal(SIGTERM);
  process_.WaitExit(kPatience);
  process_.Kill();
}

void RedisServer::Pause() {
  process_.Signal(SIGSTOP);
  Eventually([this] { return ProcessState(pid()) == 'T'; });
}

void RedisServer::Resume() { process_.Signal(SIGCONT); }

void RedisServer::Restart() {
  if (running()) return;
  Start();
  WaitReady();
}

void RedisServer::Restart(std::vector<std::string> arguments) {
  Kill();
  arguments_ = std::move(arguments);
  Restart();
}

}  // namespace ringway::test
