// The built program, run by a test.
#pragma once

#include <string>
#include <vector>

#include "tests/support/child_process.h"

namespace ringway::test {

// Path of the program under test: RINGWAY_BINARY of the environment, else the one built beside the tests.
std::string RingwayBinary();

// A ringway started with arguments of the test's choice.
// Thread: one at a time. Owns: the process and a directory for its log. Limits: none.
class RingwayProcess {
 public:
  // `environment` holds NAME=value lines. `wrapper` is a command that is given ringway's as its arguments,
  // and executes it in the same process.
  explicit RingwayProcess(std::vector<std::string> arguments, std::vector<std::string> environment = {},
                          std::vector<std::string> wrapper = {});

  // Waits until it has said `ready: listening on ...` for that many listeners; false when it ended before or
  // `timeout` passed.
  bool WaitReady(size_t listeners = 1, milliseconds timeout = kPatience);
  // Addresses it listens on so far, in the order of its lines: HOST:PORT, [HOST6]:PORT or unix:PATH.
  std::vector<std::string> Addresses() const;
  // The first one; empty when there is none.
  std::string address() const;

  // All it has written to standard output and error.
  std::string log() const { return ReadFile(directory_.File("log")); }
  bool LogContains(const std::string& text) const { return log().find(text) != std::string::npos; }

  void Signal(int signal_number) { process_.Signal(signal_number); }
  std::optional<int> WaitExit(milliseconds timeout = kPatience) { return process_.WaitExit(timeout); }
  bool running() { return process_.running(); }
  pid_t pid() const { return process_.pid(); }
  int64_t Rss() const { return process_.Rss(); }
  int64_t OpenFds() const { return process_.OpenFds(); }
  double CpuSeconds() const { return process_.CpuSeconds(); }

 private:
  TempDir directory_;
  ChildProcess process_;
};

}  // namespace ringway::test
