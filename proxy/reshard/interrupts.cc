#include "proxy/reshard/interrupts.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "proxy/check.h"

namespace ringway::proxy::reshard {

Interrupts::Interrupts() {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC);
}

Interrupts::~Interrupts() {
  if (signals_ >= 0) close(signals_);
}

Interrupts::Event Interrupts::Wait(int fd, std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    std::array<pollfd, 2> polled = {pollfd{signals_, POLLIN, 0}, pollfd{fd, POLLIN, 0}};
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const int ready =
        poll(polled.data(), polled.size(), static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (polled[0].revents != 0) {
      signalfd_siginfo signal;
      if (read(signals_, &signal, sizeof(signal)) > 0) return Event::kInterrupted;
    }
    return ready > 0 && polled[1].revents != 0 ? Event::kReady : Event::kTimedOut;
  }
}

}  // namespace ringway::proxy::reshard
