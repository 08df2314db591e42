// Waiting that Ctrl-C ends.
#pragma once

#include <chrono>

namespace ringway::proxy::reshard {

// Takes SIGINT and SIGTERM as events, so that they end a wait and nothing else: what is drawn or sent is
// never cut off in the middle. Ignores SIGPIPE. For the life of the process. Thread: the only one. Owns: a
// descriptor for the signals. Limits: none.
class Interrupts {
 public:
  enum class Event { kReady, kTimedOut, kInterrupted };

  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Until `fd` can be read (or has failed); -1: only time and signals count.
  Event Wait(int fd, std::chrono::milliseconds timeout);

 private:
  int signals_ = -1;
};

}  // namespace ringway::proxy::reshard
