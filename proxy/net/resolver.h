#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "proxy/net/socket.h"

namespace ringway::proxy {

// Looks names up on a thread of its own, since the system's resolver (hosts file, DNS, whatever nsswitch.conf
// says) can only be waited for. Nothing is remembered: each reconnect asks anew, so a shard may change its
// address. Thread: Resolve from any.
class Resolver {
 public:
  struct Answer {
    std::vector<SocketAddress> addresses;  // empty on failure
    std::string error;
  };
  using Callback = std::function<void(Answer)>;
  // How names are looked up; tests give their own.
  using Function = std::function<std::vector<SocketAddress>(const std::string&, uint16_t, std::string*)>;

  explicit Resolver(Function look_up = &LookUp);
  ~Resolver() { Stop(); }

  // Waits for the look-up under way; those in the queue are dropped. After it no callback is called.
  void Stop();

  // `done` is called once, on the resolver's thread.
  void Resolve(std::string host, uint16_t port, Callback done);

 private:
  struct Question {
    std::string host;
    uint16_t port;
    Callback done;
  };
  void Run();

  const Function look_up_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Question> questions_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace ringway::proxy
