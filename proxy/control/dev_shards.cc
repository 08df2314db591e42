#include "proxy/control/dev_shards.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/address.h"
#include "proxy/net/clock.h"
#include "proxy/net/socket.h"

namespace ringway::proxy {
namespace {

constexpr int64_t kStartTimeoutUsec = 10'000'000;
constexpr int kPortTries = 5;

// A port that is free now; somebody may take it before the server does, so starting is tried again.
uint16_t FreePort() {
  config::ListenAddress address;
  address.host = "127.0.0.1";
  std::string error;
  const UniqueFd fd = Listen(address, false, &error);
  if (!fd.valid()) return 0;
  const SocketAddress bound = LocalAddress(fd.get());
  return ntohs(reinterpret_cast<const sockaddr_in*>(&bound.storage)->sin_port);
}

bool Answers(uint16_t port) {
  const timeval timeout{1, 0};
  const std::unique_ptr<redisContext, decltype(&redisFree)> context(
      redisConnectWithTimeout("127.0.0.1", port, timeout), &redisFree);
  if (context == nullptr || context->err != 0) return false;
  const std::unique_ptr<void, decltype(&freeReplyObject)> reply(redisCommand(context.get(), "PING"),
                                                                &freeReplyObject);
  return reply != nullptr && static_cast<redisReply*>(reply.get())->type == REDIS_REPLY_STATUS;
}

[[noreturn]] void RunServer(uint16_t port, const std::string& folder, pid_t parent) {
  // Signals of the terminal are the proxy's: it drains first and stops the servers then.
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  const int log = open((folder + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  const std::string port_text = std::to_string(port);
  execlp("redis-server", "redis-server", "--port", port_text.c_str(), "--bind", "127.0.0.1", "--save", "",
         "--appendonly", "no", "--dir", folder.c_str(), static_cast<char*>(nullptr));
  _exit(127);
}

}  // namespace

DevShards::~DevShards() {
  for (const pid_t process : processes_) kill(process, SIGTERM);
  for (const pid_t process : processes_) waitpid(process, nullptr, 0);
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

std::string DevShards::Start(int64_t count) {
  std::string pattern = std::filesystem::temp_directory_path() / "ringway-dev-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    return "cannot make a folder for the dev shards: " + std::string(std::strerror(errno));
  }
  folder_ = pattern;
  for (int64_t number = 1; number <= count; ++number) {
    const std::string problem = StartOne(number);
    if (!problem.empty()) return problem;
  }
  return "";
}

std::string DevShards::StartOne(int64_t number) {
  const std::string folder = folder_ + "/" + std::to_string(number);
  std::filesystem::create_directory(folder);
  for (int attempt = 0; attempt < kPortTries; ++attempt) {
    const uint16_t port = FreePort();
    const pid_t parent = getpid();
    const pid_t process = fork();
    if (process < 0) return "cannot start a redis-server: " + std::string(std::strerror(errno));
    if (process == 0) RunServer(port, folder, parent);
    const int64_t give_up_usec = MonotonicUsec() + kStartTimeoutUsec;
    int status = 0;
    while (waitpid(process, &status, WNOHANG) == 0) {
      if (Answers(port)) {
        config::ShardConfig shard;
        shard.name = "dev" + std::to_string(number);
        config::ParseShardAddress("127.0.0.1:" + std::to_string(port), &shard);
        shards_.push_back(std::move(shard));
        processes_.push_back(process);
        return "";
      }
      if (MonotonicUsec() > give_up_usec) {
        kill(process, SIGKILL);
        waitpid(process, nullptr, 0);
        return "a dev redis-server does not answer; its log was " + folder + "/log";
      }
      usleep(5'000);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
      return "redis-server cannot be run; on Debian: apt-get install redis-server";
    }
  }
  return "a dev redis-server does not start";
}

}  // namespace ringway::proxy
