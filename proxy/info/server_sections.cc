// The proxy itself: who it is, its clients, its time.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "config/version.h"
#include "proxy/info/info_sections.h"
#include "proxy/info/info_text.h"
#include "proxy/net/clock.h"
#include "proxy/redis_version.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

std::string OperatingSystem() {
  utsname name;
  if (uname(&name) != 0) return "unknown";
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

std::string Executable() {
  std::array<char, 4096> path;
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  return size < 0 ? std::string() : std::string(path.data(), static_cast<size_t>(size));
}

std::string AbsolutePath(const std::string& path) {
  if (path.empty()) return path;
  const std::unique_ptr<char, decltype(&std::free)> absolute(realpath(path.c_str(), nullptr), &std::free);
  return absolute == nullptr ? path : std::string(absolute.get());
}

// The port of the first address that is TCP; 0 when there is none, as Redis tells it.
std::string TcpPort(const std::vector<std::string>& listening) {
  for (const std::string& address : listening) {
    if (!address.starts_with("unix:")) return address.substr(address.rfind(':') + 1);
  }
  return "0";
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

void WriteServer(const InfoFacts& facts, std::string& out) {
  const ProxyState& state = facts.state;
  const int64_t now_usec = WallClockUsec();
  const int64_t uptime = std::max<int64_t>(0, (now_usec - state.started_usec()) / 1'000'000);
  const std::string version = facts.RedisVersion();
  InfoText text(out);
  text.Field("redis_version", version.empty() ? kRedisVersion : std::string_view(version));
  text.Field("ringway_version", config::kVersion);
  text.Field("redis_mode", "standalone");
  text.Field("os", OperatingSystem());
  text.Field("arch_bits", sizeof(void*) * 8);
  text.Field("monotonic_clock", "POSIX clock_gettime");
  text.Field("multiplexing_api", "epoll");
  text.Field("gcc_version", __VERSION__);
  text.Field("process_id", getpid());
  text.Field("run_id", state.run_id());
  text.Field("tcp_port", TcpPort(state.listening));
  text.Field("server_time_usec", now_usec);
  text.Field("uptime_in_seconds", uptime);
  text.Field("uptime_in_days", uptime / 86'400);
  text.Field("hz", 10);
  text.Field("configured_hz", 10);
  text.Field("executable", Executable());
  text.Field("config_file", AbsolutePath(state.config_path));
  text.Field("io_threads_active", state.workers.size() > 1 ? 1 : 0);
  text.Field("worker_threads", state.workers.size());
}

void WriteClients(const InfoFacts& facts, std::string& out) {
  InfoText text(out);
  text.Field("connected_clients", facts.state.connected_clients.load(std::memory_order_relaxed));
  text.Field("cluster_connections", 0);
  text.Field("maxclients", facts.state.max_clients.load(std::memory_order_relaxed));
  text.Field("blocked_clients", Total(facts.state, &WorkerStats::blocked_clients));
  text.Field("tracking_clients", 0);
  text.Field("clients_in_timeout_table", 0);
}

void WriteCpu(const InfoFacts&, std::string& out) {
  rusage self{};
  rusage children{};
  getrusage(RUSAGE_SELF, &self);
  getrusage(RUSAGE_CHILDREN, &children);
  InfoText text(out);
  text.Decimal("used_cpu_sys", Seconds(self.ru_stime), 6);
  text.Decimal("used_cpu_user", Seconds(self.ru_utime), 6);
  text.Decimal("used_cpu_sys_children", Seconds(children.ru_stime), 6);
  text.Decimal("used_cpu_user_children", Seconds(children.ru_utime), 6);
}

// A proxy replicates nothing and has no history of its own; the shards' replicas are the shards' affair.
// Libraries look for role:master before they write.
void WriteReplication(const InfoFacts&, std::string& out) {
  constexpr std::string_view kNoHistory = "0000000000000000000000000000000000000000";
  InfoText text(out);
  text.Field("role", "master");
  text.Field("connected_slaves", 0);
  text.Field("master_failover_state", "no-failover");
  text.Field("master_replid", kNoHistory);
  text.Field("master_replid2", kNoHistory);
  text.Field("master_repl_offset", 0);
  text.Field("second_repl_offset", -1);
  for (const std::string_view name : {"repl_backlog_active", "repl_backlog_size",
                                      "repl_backlog_first_byte_offset", "repl_backlog_histlen"}) {
    text.Field(name, 0);
  }
}

void WriteModules(const InfoFacts&, std::string&) {}

void WriteCluster(const InfoFacts&, std::string& out) { InfoText(out).Field("cluster_enabled", 0); }

}  // namespace ringway::proxy
