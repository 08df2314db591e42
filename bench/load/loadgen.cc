// Puts load on one Redis-compatible server and prints one line of JSON; see docs/benchmarks.md.

#include <cstdio>
#include <string>
#include <string_view>

#include "bench/load/load_run.h"
#include "bench/load/options.h"

namespace ringway::bench {
namespace {

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

double Microseconds(uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000.0; }

void Print(const LoadOptions& options, const LoadResult& result) {
  const Tally& tally = result.tally;
  const double rps = result.seconds > 0 ? static_cast<double>(tally.requests) / result.seconds : 0;
  std::printf(
      "{\"requests\": %lu, \"errors\": %lu, \"wrong\": %lu, \"lost\": %lu, \"misses\": %lu, "
      "\"disconnects\": %lu, \"unanswered\": %lu, \"stalled\": %s, \"verified\": %s, \"seed\": %lu, "
      "\"seconds\": %.6f, \"rps\": %.1f, \"p50_usec\": %.1f, \"p99_usec\": %.1f, \"p999_usec\": %.1f, "
      "\"max_usec\": %.1f, \"own_cpu_seconds\": %.6f, \"first_error\": %s, \"first_wrong\": %s",
      tally.requests, tally.errors, tally.wrong, tally.lost, tally.misses, tally.disconnects,
      tally.unanswered, result.stalled ? "true" : "false", options.verify ? "true" : "false", options.seed,
      result.seconds, rps, Microseconds(result.latency.Quantile(0.5)),
      Microseconds(result.latency.Quantile(0.99)), Microseconds(result.latency.Quantile(0.999)),
      Microseconds(result.latency.max()), result.own_cpu_seconds, JsonString(tally.first_error).c_str(),
      JsonString(tally.first_wrong).c_str());
  if (result.watched) {
    std::printf(
        ", \"watched_cpu_seconds\": %.9f, \"watched_voluntary_switches\": %lu, "
        "\"watched_involuntary_switches\": %lu",
        static_cast<double>(result.watched->cpu_ns) * 1e-9, result.watched->voluntary_switches,
        result.watched->involuntary_switches);
  }
  std::printf("}\n");
}

int Main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--help") {
      std::fputs(kUsage, stdout);
      return 0;
    }
  }
  std::string error;
  const auto options = ParseLoadOptions(argc, argv, &error);
  if (!options) {
    std::fprintf(stderr, "%s\n%s", error.c_str(), kUsage);
    return 2;
  }
  LoadRun run(*options);
  if (!run.Prepare(&error)) {
    std::fprintf(stderr, "%s\n", error.c_str());
    return 2;
  }
  const LoadResult result = run.Run();
  Print(*options, result);
  const bool good =
      result.tally.wrong == 0 && result.tally.lost == 0 && result.tally.requests > 0 && !result.stalled;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace ringway::bench

int main(int argc, char** argv) { return ringway::bench::Main(argc, argv); }
