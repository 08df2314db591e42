#include "tests/support/child_process.h"

#include <cstdio>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ringway::test {

namespace {

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& string : strings) pointers.push_back(const_cast<char*>(string.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> WithInheritedEnvironment(std::vector<std::string> added) {
  for (char** entry = environ; *entry != nullptr; ++entry) added.emplace_back(*entry);
  return added;
}

}  // namespace

ChildProcess::~ChildProcess() { Kill(); }

void ChildProcess::Start(const std::vector<std::string>& command, const std::string& log_path,
                         const std::vector<std::string>& environment) {
  Kill();
  exit_code_.reset();
  // Everything that allocates is done before fork: the test may have other threads.
  const std::vector<char*> arguments = Pointers(command);
  const std::vector<std::string> variables = WithInheritedEnvironment(environment);
  const std::vector<char*> variable_pointers = Pointers(variables);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) throw SetUpFailure("cannot fork");
  if (pid_ > 0) return;

  // PDEATHSIG fires when the *thread* that forked ends, so tests start processes from the main thread.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  const int input = open("/dev/null", O_RDONLY);
  const int output = open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (input < 0 || output < 0) _exit(127);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execvpe(arguments[0], arguments.data(), variable_pointers.data());
  std::perror(arguments[0]);
  _exit(127);
}

void ChildProcess::Signal(int signal_number) {
  if (pid_ > 0 && !exit_code_) kill(pid_, signal_number);
}

std::optional<int> ChildProcess::WaitExit(milliseconds timeout) {
  if (pid_ <= 0) return std::nullopt;
  Eventually(
      [this] {
        if (exit_code_) return true;
        int status = 0;
        if (waitpid(pid_, &status, WNOHANG) != pid_) return false;
        exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        return true;
      },
      timeout);
  return exit_code_;
}

void ChildProcess::Kill() {
  if (pid_ <= 0) return;
  Signal(SIGKILL);
  WaitExit(kPatience);
  pid_ = 0;
}

int64_t ChildProcess::Rss() const {
  std::istringstream statm(ReadFile("/proc/" + std::to_string(pid_) + "/statm"));
  int64_t total_pages = 0;
  int64_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

int64_t ChildProcess::OpenFds() const {
  int64_t count = 0;
  std::error_code error;
  std::filesystem::directory_iterator entries("/proc/" + std::to_string(pid_) + "/fd", error);
  if (error) return 0;
  for ([[maybe_unused]] const auto& entry : entries) ++count;
  return count;
}

double ChildProcess::CpuSeconds() const {
  // Fields 14 and 15 of stat, counted after the program's name, which may hold spaces.
  const std::string stat = ReadFile("/proc/" + std::to_string(pid_) + "/stat");
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user_ticks = 0;
  double system_ticks = 0;
  fields >> user_ticks >> system_ticks;
  return (user_ticks + system_ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace ringway::test
