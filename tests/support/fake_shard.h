// A server that answers what a test tells it to.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/resp_client.h"

namespace ringway::test {

// Speaks enough RESP2 to be taken for a Redis server by the proxy, and answers every other command through a
// function of the test's: shards with modules, or with whims, that redis-server does not have.
// Thread: one at a time; the function runs on the server's own. Owns: its listener and connections.
class FakeShard {
 public:
  // Gives the raw reply to a command; "" for what PING, AUTH, SELECT, INFO and HELLO ("-ERR") get by default.
  using Answer = std::function<std::string(const Command& command)>;
  // Throws SetUpFailure when it cannot listen.
  explicit FakeShard(Answer answer);
  ~FakeShard();
  FakeShard(const FakeShard&) = delete;
  FakeShard& operator=(const FakeShard&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  // All commands so far, as words joined by blanks.
  std::vector<std::string> Commands() const;

 private:
  struct Connection {
    int fd;
    std::string received;
  };
  void Run();
  void Accept();
  // False when the client has gone.
  bool Serve(Connection& connection);
  std::string ReplyTo(const Command& command);

  const Answer answer_;
  int listener_ = -1;
  int port_ = 0;
  std::vector<Connection> connections_;
  mutable std::mutex mutex_;
  std::vector<std::string> commands_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace ringway::test
