#include "proxy/reshard/reshard.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "proxy/reshard/reshard_options.h"
#include "proxy/reshard/reshard_session.h"

namespace ringway::proxy::reshard {

namespace {
constexpr int kWrongUse = 2;
}

int RunReshard(int argc, const char* const* argv) {
  const char* password = std::getenv("RINGWAY_PASSWORD");
  const auto options = ParseReshardOptions(argc, argv, password == nullptr ? "" : password);
  for (const auto& warning : options.warnings()) {
    std::fprintf(stderr, "warning: %s\n", warning.ToString().c_str());
  }
  if (!options.ok()) {
    for (const auto& problem : options.problems()) std::fprintf(stderr, "%s\n", problem.ToString().c_str());
    return kWrongUse;
  }
  if (options.value().help) {
    std::fputs(options.value().help_text.c_str(), stdout);
    return 0;
  }
  return ReshardSession(options.value()).Run();
}

}  // namespace ringway::proxy::reshard
