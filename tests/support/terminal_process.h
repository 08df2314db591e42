// A program that believes a person is there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "tests/support/test_environment.h"
#include "tests/support/virtual_screen.h"

namespace ringway::test {

// Runs a program on a pseudo terminal, types, and looks at the screen.
// Thread: one at a time. Owns: the process, killed and reaped in the destructor, and the terminal. Limits:
// none.
class TerminalProcess {
 public:
  // `environment` holds NAME=value lines; TERM is xterm and the locale C.UTF-8 unless they say otherwise, and
  // NO_COLOR is not set. Throws SetUpFailure when there is no terminal to be had.
  TerminalProcess(const std::vector<std::string>& command, const std::vector<std::string>& environment = {},
                  size_t width = 80, size_t height = 24);
  ~TerminalProcess();
  TerminalProcess(const TerminalProcess&) = delete;
  TerminalProcess& operator=(const TerminalProcess&) = delete;

  // Types; "\x03" is Ctrl-C.
  void Type(std::string_view keys);
  // Another size, which the program is free to notice. The screen keeps its own.
  void Resize(size_t width, size_t height);

  // Waits until the screen holds `text`.
  bool Shows(const std::string& text, milliseconds timeout = kPatience);
  // The screen with all that has been written so far.
  const VirtualScreen& screen();
  // Everything as it was written.
  const std::string& output();

  // The exit code (128 + n when signal n ended it); reads on meanwhile.
  std::optional<int> WaitExit(milliseconds timeout = kPatience);

 private:
  void ReadAvailable();

  pid_t pid_ = -1;
  int terminal_ = -1;
  std::optional<int> exit_code_;
  VirtualScreen screen_;
  std::string output_;
};

}  // namespace ringway::test
