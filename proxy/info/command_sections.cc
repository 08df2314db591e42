// What the commands cost and how they failed.
#include <map>

#include "proxy/info/info_sections.h"
#include "proxy/info/info_text.h"
#include "proxy/worker.h"

namespace ringway::proxy {

void WriteCommandStats(const InfoFacts& facts, std::string& out) {
  for (size_t id = 0; id < WorkerStats::kCommandIds; ++id) {
    const CommandFigures figures = FiguresOfCommand(facts.state, id);
    if (figures.calls + figures.rejected + figures.failed == 0) continue;
    const double per_call =
        figures.calls == 0 ? 0 : static_cast<double>(figures.usec) / static_cast<double>(figures.calls);
    InfoLine("cmdstat_" + std::string(NameOfCommand(id)))
        .Add("calls", figures.calls)
        .Add("usec", figures.usec)
        .Decimal("usec_per_call", per_call, 2)
        .Add("rejected_calls", figures.rejected)
        .Add("failed_calls", figures.failed)
        .EndInto(out);
  }
}

void WriteLatencyStats(const InfoFacts& facts, std::string& out) {
  for (size_t id = 0; id < WorkerStats::kCommandIds; ++id) {
    const CommandFigures figures = FiguresOfCommand(facts.state, id);
    if (figures.latency.total() == 0) continue;
    const auto percentile = [&](double fraction) {
      return static_cast<double>(figures.latency.Percentile(fraction));
    };
    InfoLine("latency_percentiles_usec_" + std::string(NameOfCommand(id)))
        .Decimal("p50", percentile(0.5), 3)
        .Decimal("p99", percentile(0.99), 3)
        .Decimal("p99.9", percentile(0.999), 3)
        .EndInto(out);
  }
}

void WriteErrorStats(const InfoFacts& facts, std::string& out) {
  std::map<std::string, uint64_t> errors;
  for (const Worker* worker : facts.state.workers) {
    for (const auto& [code, count] : worker->stats().Errors()) errors[code] += count;
  }
  for (const auto& [code, count] : errors) InfoLine("errorstat_" + code).Add("count", count).EndInto(out);
}

}  // namespace ringway::proxy
