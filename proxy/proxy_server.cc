#include "proxy/proxy_server.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "proxy/control/reconcile.h"
#include "proxy/control/state_file.h"
#include "proxy/log.h"

namespace ringway::proxy {
namespace {

sigset_t HandledSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

int64_t UsableProcessors() {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof(usable), &usable) != 0) return 1;
  return std::max(CPU_COUNT(&usable), 1);
}

}  // namespace

ProxyServer::ProxyServer(config::Config config, std::string config_path, Reload reload)
    : start_config_(std::move(config)), config_path_(std::move(config_path)), reload_(std::move(reload)) {}

ProxyServer::~ProxyServer() {
  // It calls back into the workers, which go first when the start has failed half way.
  if (state_ != nullptr) state_->resolver.Stop();
}

int ProxyServer::Run() {
  // Blocked here and in all threads that come; WaitForSignals takes them.
  const sigset_t signals = HandledSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);

  std::string problem;
  if (!OpenLog(start_config_.log, &problem)) {
    std::fprintf(stderr, "ringway: log.file: %s\n", problem.c_str());
    return 1;
  }
  problem = StartDevShards();
  if (problem.empty()) {
    if (start_config_.threads == 0) start_config_.threads = UsableProcessors();
    problem = Prepare();
  }
  if (problem.empty()) {
    for (int64_t i = 0; i < start_config_.threads; ++i) {
      workers_.push_back(std::make_unique<Worker>(*state_, static_cast<uint32_t>(i)));
      state_->workers.push_back(workers_.back().get());
    }
    problem = OpenListeners();
  }
  if (!problem.empty()) {
    LogError(problem);
    return 1;
  }
  for (auto& worker : workers_) worker->Start();
  control_->Start();
  PrintReady();
  WaitForSignals();
  Drain();
  return 0;
}

// Finds out where the keys are, by what an earlier run has saved and what the configuration says.
std::string ProxyServer::Prepare() {
  state_ = std::make_unique<ProxyState>(start_config_);
  state_->config_path = config_path_;
  auto file = StateFile::Open(start_config_.state_file);
  if (!file.ok()) return file.problems().front().ToString();
  auto saved = file.value()->Load();
  if (!saved.ok()) return saved.problems().front().ToString();
  Beginning beginning = Begin(start_config_, saved.value(), state_->proxy_id(), state_->run_id());
  for (const std::string& line : beginning.notes) LogInfo(line);
  for (const std::string& line : beginning.warnings) LogWarn(line);
  const std::string problem = file.value()->Save(beginning.state);
  if (!problem.empty()) return problem;
  state_->set_proxy_id(beginning.state.proxy_id);
  state_->ChangeConfig([&](config::Config* config) { *config = beginning.config; });
  control_ =
      std::make_unique<ControlThread>(*state_, std::move(file).value(), std::move(beginning), start_config_);
  return "";
}

std::string ProxyServer::StartDevShards() {
  if (start_config_.dev_shards == 0) return "";
  const std::string problem = dev_shards_.Start(start_config_.dev_shards);
  for (const auto& shard : dev_shards_.shards()) start_config_.shards.push_back(shard);
  return problem;
}

std::string ProxyServer::OpenListeners() {
  for (const auto& address : start_config_.listen) {
    const std::string problem = ListenOn(address);
    if (!problem.empty()) return "cannot listen on " + address.ToString() + ": " + problem;
  }
  return "";
}

// Each worker has a TCP listener of its own, and the kernel spreads connections over them; a unix socket has
// one, which all workers accept from.
std::string ProxyServer::ListenOn(const config::ListenAddress& address) {
  std::string problem;
  UniqueFd first = Listen(address, false, &problem);
  if (!first.valid()) return problem;
  const bool is_unix = address.kind == config::ListenAddress::Kind::kUnix;
  if (workers_.size() > 1 && !is_unix) {
    // Asked for alone, the port was free; asked for to be shared at once, another proxy's would have been
    // shared too.
    first.Reset();
    first = Listen(address, true, &problem);
    if (!first.valid()) return problem;
  }
  config::ListenAddress bound = address;
  if (is_unix) {
    unix_paths_.push_back(address.path);
  } else {
    const SocketAddress local = LocalAddress(first.get());
    bound.port = ntohs(local.storage.ss_family == AF_INET6
                           ? reinterpret_cast<const sockaddr_in6*>(&local.storage)->sin6_port
                           : reinterpret_cast<const sockaddr_in*>(&local.storage)->sin_port);
  }
  state_->listening.push_back(bound.ToString());
  // One descriptor for the unix socket of all workers.
  const auto shared = std::make_shared<UniqueFd>(std::move(first));
  if (is_unix) unix_sockets_.push_back(shared);
  workers_[0]->Listen(shared);
  for (size_t i = 1; i < workers_.size(); ++i) {
    const auto next = is_unix ? shared : std::make_shared<UniqueFd>(Listen(bound, true, &problem));
    if (!next->valid()) return problem;
    workers_[i]->Listen(next);
  }
  return "";
}

void ProxyServer::PrintReady() const {
  for (const auto& shard : dev_shards_.shards()) {
    std::printf("dev shard %s on %s\n", shard.name.c_str(), shard.address.c_str());
  }
  for (const std::string& address : state_->listening) {
    std::printf("ready: listening on %s\n", address.c_str());
  }
  if (!dev_shards_.shards().empty()) PrintFirstSteps();
  std::fflush(stdout);
  LogInfo("ringway " RINGWAY_VERSION " serves " + std::to_string(state_->config()->shards.size()) +
          " shards with " + std::to_string(workers_.size()) + " workers");
}

// For somebody who has just started the proxy for the first time.
void ProxyServer::PrintFirstSteps() const {
  const std::string port = state_->listening.front().substr(state_->listening.front().rfind(':') + 1);
  std::printf(
      "\ntry, in another terminal:\n"
      "  redis-cli -p %s set greeting hello      a key, on the shard that the ring gives it\n"
      "  redis-cli -p %s ring locate greeting    which shard that is\n"
      "  redis-cli -p %s info ring               how the keys are spread\n"
      "  redis-benchmark -p %s -q -P 16 -t get,set\n"
      "Ctrl-C stops the proxy and its shards.\n",
      port.c_str(), port.c_str(), port.c_str(), port.c_str());
}

void ProxyServer::WaitForSignals() {
  const sigset_t signals = HandledSignals();
  while (true) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) continue;
    if (signal != SIGHUP) {
      LogInfo("stopping: serving what was asked, taking no more");
      return;
    }
    ReloadConfig();
  }
}

void ProxyServer::ReloadConfig() {
  config::Result<config::Config> fresh = reload_();
  if (!fresh.ok()) {
    LogError("the configuration is not reloaded and the old one stays in force, since it has mistakes:");
    for (const auto& problem : fresh.problems()) LogError(problem.ToString());
    return;
  }
  for (const auto& warning : fresh.warnings()) LogWarn("reload: " + warning.ToString());
  config::Config wanted = std::move(fresh).value();
  // What the start has put in the place of what the file says.
  if (wanted.threads == 0) wanted.threads = UsableProcessors();
  if (wanted.dev_shards > 0) wanted.shards = state_->config()->shards;
  control_->migrator().PostReload(std::move(wanted));
}

void ProxyServer::Drain() {
  const int64_t timeout_usec = state_->config()->timeouts.drain_ms * 1000;
  // First, so that shards which stop with the proxy are not reported.
  control_->Stop();
  // The path goes first, so that nobody connects any more; the descriptor last, since one worker may still
  // take it out of its epoll set when another has let go of it.
  for (const std::string& path : unix_paths_) ::unlink(path.c_str());
  for (auto& worker : workers_) worker->PostDrain(timeout_usec);
  for (auto& worker : workers_) worker->Join();
  unix_sockets_.clear();
  // It calls back into the workers.
  state_->resolver.Stop();
  control_.reset();
  workers_.clear();
  LogInfo("stopped");
}

}  // namespace ringway::proxy
