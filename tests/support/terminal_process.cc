#include "tests/support/terminal_process.h"

#include <array>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ringway::test {

namespace {

winsize SizeOf(size_t width, size_t height) {
  winsize size{};
  size.ws_col = static_cast<uint16_t>(width);
  size.ws_row = static_cast<uint16_t>(height);
  return size;
}

bool IsReplaced(std::string_view line) {
  for (const std::string_view name : {"TERM=", "LC_ALL=", "NO_COLOR="}) {
    if (line.starts_with(name)) return true;
  }
  return false;
}

}  // namespace

TerminalProcess::TerminalProcess(const std::vector<std::string>& command,
                                 const std::vector<std::string>& environment, size_t width, size_t height)
    : screen_(width, height) {
  // Everything that allocates is done before the fork: the test may have other threads. Of two lines for one
  // variable the first counts.
  std::vector<std::string> variables = environment;
  variables.insert(variables.end(), {"TERM=xterm", "LC_ALL=C.UTF-8"});
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!IsReplaced(*entry)) variables.emplace_back(*entry);
  }
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> variable_pointers;
  for (const std::string& line : variables) variable_pointers.push_back(const_cast<char*>(line.c_str()));
  variable_pointers.push_back(nullptr);

  const winsize size = SizeOf(width, height);
  pid_ = forkpty(&terminal_, nullptr, nullptr, &size);
  if (pid_ < 0) throw SetUpFailure("there is no pseudo terminal");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execvpe(arguments[0], arguments.data(), variable_pointers.data());
    std::perror(arguments[0]);
    _exit(127);
  }
  fcntl(terminal_, F_SETFL, O_NONBLOCK);
  fcntl(terminal_, F_SETFD, FD_CLOEXEC);
}

TerminalProcess::~TerminalProcess() {
  if (!exit_code_) {
    kill(pid_, SIGKILL);
    WaitExit();
  }
  close(terminal_);
}

void TerminalProcess::Type(std::string_view keys) {
  if (write(terminal_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) {
    throw SetUpFailure("the terminal takes no keys");
  }
}

void TerminalProcess::Resize(size_t width, size_t height) {
  const winsize size = SizeOf(width, height);
  ioctl(terminal_, TIOCSWINSZ, &size);
}

void TerminalProcess::ReadAvailable() {
  std::array<char, 4096> buffer;
  for (ssize_t got; (got = read(terminal_, buffer.data(), buffer.size())) > 0;) {
    const std::string_view bytes(buffer.data(), static_cast<size_t>(got));
    output_ += bytes;
    screen_.Feed(bytes);
  }
}

bool TerminalProcess::Shows(const std::string& text, milliseconds timeout) {
  return Eventually([&] { return screen().Text().find(text) != std::string::npos; }, timeout);
}

const VirtualScreen& TerminalProcess::screen() {
  ReadAvailable();
  return screen_;
}

const std::string& TerminalProcess::output() {
  ReadAvailable();
  return output_;
}

std::optional<int> TerminalProcess::WaitExit(milliseconds timeout) {
  Eventually(
      [this] {
        ReadAvailable();
        if (exit_code_) return true;
        int status = 0;
        if (waitpid(pid_, &status, WNOHANG) != pid_) return false;
        exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        return true;
      },
      timeout);
  ReadAvailable();
  return exit_code_;
}

}  // namespace ringway::test
