// A program started by a test.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "tests/support/test_environment.h"

namespace ringway::test {

// A program started by a test, which dies with the test whatever happens to it.
// Thread: one at a time. Owns: the process; the destructor kills and reaps it. Limits: none.
class ChildProcess {
 public:
  ChildProcess() = default;
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Starts command[0] (looked up in PATH) with its standard output and error appended to `log_path` and its
  // standard input closed. `environment` holds NAME=value lines that are added to this process's.
  // Throws SetUpFailure when the process cannot be made; a program that cannot be executed exits 127.
  void Start(const std::vector<std::string>& command, const std::string& log_path,
             const std::vector<std::string>& environment = {});

  // Sends the signal; nothing happens when the process has been reaped.
  void Signal(int signal_number);
  // The exit code (128 + n when signal n ended it) if it ends within `timeout`.
  std::optional<int> WaitExit(milliseconds timeout);
  // SIGKILL, and waits until the process is gone.
  void Kill();

  bool running() { return pid_ > 0 && !WaitExit(milliseconds(0)).has_value(); }
  // 0 before Start.
  pid_t pid() const { return pid_; }

  // Resident memory in bytes and open file descriptors, from /proc; 0 when it has ended.
  int64_t Rss() const;
  int64_t OpenFds() const;
  // User and system time used so far, in seconds.
  double CpuSeconds() const;

 private:
  pid_t pid_ = 0;
  std::optional<int> exit_code_;
};

}  // namespace ringway::test
