#include <cstdio>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "config/command_line.h"
#include "proxy/proxy_server.h"
#include "proxy/reshard/reshard.h"

// Read by jemalloc when the program starts: memory that a burst took goes back to the system within seconds,
// by a thread of jemalloc's own, so that no request pays for it.
extern "C" const char* malloc_conf;
const char* malloc_conf = "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:1000";

namespace {

using ringway::config::Invocation;

ringway::config::Result<Invocation> Parse(int argc, char** argv) {
  auto parsed = ringway::config::ParseCommandLine(argc, argv);
  for (const auto& warning : parsed.warnings()) {
    std::fprintf(stderr, "warning: %s\n", warning.ToString().c_str());
  }
  return parsed;
}

// A socket must not get the number of a standard stream that the caller has closed: what is printed would be
// sent to a client or a shard.
void OpenStandardStreams() {
  int fd;
  do {
    fd = open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  OpenStandardStreams();
  if (argc > 1 && std::string_view(argv[1]) == "reshard") {
    return ringway::proxy::reshard::RunReshard(argc - 1, argv + 1);
  }
  auto parsed = Parse(argc, argv);
  if (!parsed.ok()) {
    for (const auto& problem : parsed.problems()) std::fprintf(stderr, "%s\n", problem.ToString().c_str());
    return 1;
  }
  const Invocation& invocation = parsed.value();
  if (invocation.action != Invocation::Action::kRun) {
    std::fputs(invocation.text_to_print.c_str(), stdout);
    return invocation.exit_code;
  }
  ringway::proxy::ProxyServer server(invocation.config, invocation.config_path, [=]() {
    auto again = ringway::config::ParseCommandLine(argc, argv);
    if (!again.ok()) return ringway::config::Result<ringway::config::Config>::Failure(again.problems());
    return ringway::config::Result<ringway::config::Config>(again.value().config, again.warnings());
  });
  return server.Run();
}
