// Real shards, and ports that stay reserved.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/support/resp_client.h"

namespace ringway::test {

// A port on 127.0.0.1 that stays this process's while the object lives: a socket is bound to it, but never
// listens, so a server with SO_REUSEADDR (redis-server, ringway) can listen there, nobody else is given the
// port, and connections are refused while no server runs.
class ReservedPort {
 public:
  ReservedPort();
  ~ReservedPort();
  ReservedPort(const ReservedPort&) = delete;
  ReservedPort& operator=(const ReservedPort&) = delete;

  int port() const { return port_; }

 private:
  int fd_ = -1;
  int port_ = 0;
};

// A real, unmodified redis-server without persistence, on a free port of 127.0.0.1 and in a directory of its
// own. Thread: one at a time. Owns: the process, the port and the directory. Limits: none.
class RedisServer {
 public:
  // `arguments` are appended to redis-server's command line, e.g. {"--requirepass", "secret"}. Starts it, and
  // returns when it answers PING. Throws SetUpFailure when it does not.
  explicit RedisServer(std::vector<std::string> arguments = {});

  // Starts without waiting, so that several start together; WaitReady waits.
  struct Later {};
  RedisServer(Later, std::vector<std::string> arguments);
  void WaitReady();

  // SIGTERM and wait; the port stays reserved and refuses connections.
  void Stop();
  // SIGKILL and wait.
  void Kill() { process_.Kill(); }
  // SIGSTOP: connections stay, and are accepted, but nothing answers. Returns when it has stopped.
  void Pause();
  void Resume();
  // Starts again, empty, on the same port, when it is not running.
  void Restart();
  // The same with other arguments.
  void Restart(std::vector<std::string> arguments);

  bool running() { return process_.running(); }
  pid_t pid() const { return process_.pid(); }
  int64_t Rss() const { return process_.Rss(); }
  double CpuSeconds() const { return process_.CpuSeconds(); }
  int port() const { return port_.port(); }
  // HOST:PORT
  std::string address() const { return "127.0.0.1:" + std::to_string(port()); }
  std::string log() const { return ReadFile(directory_.File("log")); }

  // A command on a fresh connection, around the proxy.
  Reply Do(const Command& command) const { return RespClient(address()).Do(command); }
  std::string Info(const std::string& field) const {
    return InfoField(Do({"INFO", "everything"}).text, field);
  }

 private:
  void Start();

  ReservedPort port_;
  TempDir directory_;
  std::vector<std::string> arguments_;
  ChildProcess process_;
};

}  // namespace ringway::test
