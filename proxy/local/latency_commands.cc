// LATENCY: HISTOGRAM from the proxy's own figures, since those are what clients see; events are the shards'.
#include <memory>
#include <string>
#include <vector>

#include "proxy/info/info_facts.h"
#include "proxy/local/entries.h"
#include "proxy/local/latency_merge.h"
#include "proxy/local/parts_collector.h"
#include "proxy/words.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

using Outcome = RequestHandler::Outcome;

std::vector<std::string_view> Views(std::span<const Slice> parts) {
  std::vector<std::string_view> views;
  for (const Slice& part : parts) views.push_back(part.view());
  return views;
}

Outcome AskAll(LocalCall& call, PartsCollector::OnError on_error, PartsCollector::Merge merge) {
  Router& router = call.worker.router();
  return router.SendToAll(
      call.session, call.row, call.request.frame(), nullptr,
      CollectorPtr(new PartsCollector(call.worker.requests(), router.topology().shards.size(), on_error,
                                      std::move(merge))));
}

Outcome LatencyLatest(LocalCall& call) {
  return AskAll(call, PartsCollector::OnError::kPassOn,
                [](std::span<const Slice> parts, protocol::ReplyWriter& reply) {
                  MergeLatestEvents(Views(parts), reply);
                });
}

Outcome LatencyHistory(LocalCall& call) {
  return AskAll(call, PartsCollector::OnError::kPassOn,
                [](std::span<const Slice> parts, protocol::ReplyWriter& reply) {
                  MergeHistories(Views(parts), reply);
                });
}

// A shard that has no samples of the event answers with an error; the others' graphs are shown all the same.
Outcome LatencyReport(LocalCall& call) {
  return AskAll(call, PartsCollector::OnError::kMerge,
                [topology = call.worker.router().shared_topology()](std::span<const Slice> parts,
                                                                    protocol::ReplyWriter& reply) {
                  std::vector<std::string_view> names;
                  for (const Shard& shard : topology->shards) names.push_back(shard.config.name);
                  MergeReports(names, Views(parts), reply);
                });
}

Outcome LatencyReset(LocalCall& call) {
  Router& router = call.worker.router();
  return router.SendToAll(
      call.session, call.row, call.request.frame(), nullptr,
      router.NewSplitCollector(protocol::ResponsePolicy::kSum, router.topology().shards.size()));
}

// What HISTOGRAM's arguments name, in their order; a container stands for its subcommands as well.
std::vector<size_t> WantedCommands(const protocol::RequestView& request) {
  std::vector<size_t> ids;
  if (request.size() == 2) {
    for (size_t id = 0; id < WorkerStats::kCommandIds; ++id) {
      if (id != WorkerStats::kOtherId) ids.push_back(id);
    }
    return ids;
  }
  for (size_t i = 2; i < request.size(); ++i) {
    if (IsWord(request[i], "ring")) ids.push_back(WorkerStats::kRingId);
    const protocol::CommandRow* row = protocol::FindByFullName(LowerCase(request[i]));
    if (row == nullptr) continue;
    ids.push_back(row->id);
    for (const protocol::CommandRow& sub : protocol::Subcommands(*row)) ids.push_back(sub.id);
  }
  return ids;
}

void WriteHistogram(const LatencySummary& latency, protocol::ReplyWriter& reply) {
  const std::vector<LatencyLevel> levels = CumulativeLevels(latency);
  reply.Map(2);
  reply.Bulk("calls");
  reply.Integer(static_cast<int64_t>(latency.total()));
  reply.Bulk("histogram_usec");
  reply.Map(levels.size());
  for (const LatencyLevel& level : levels) {
    reply.Integer(static_cast<int64_t>(level.usec));
    reply.Integer(static_cast<int64_t>(level.samples));
  }
}

Outcome LatencyHistogramCommand(LocalCall& call) {
  std::string body;
  protocol::ReplyWriter writer(body, call.reply.resp_version());
  size_t commands = 0;
  for (const size_t id : WantedCommands(call.request)) {
    const CommandFigures figures = FiguresOfCommand(call.worker.state(), id);
    if (figures.latency.total() == 0) continue;
    writer.Bulk(NameOfCommand(id));
    WriteHistogram(figures.latency, writer);
    ++commands;
  }
  call.reply.Map(commands);
  call.reply.Raw(body);
  return Outcome::kTaken;
}

constexpr LocalEntry kEntries[] = {
    {"latency|latest", &LatencyLatest}, {"latency|history", &LatencyHistory},
    {"latency|graph", &LatencyReport},  {"latency|doctor", &LatencyReport},
    {"latency|reset", &LatencyReset},   {"latency|histogram", &LatencyHistogramCommand},
    {"latency|help", &AskAnyShard},
};

}  // namespace

std::span<const LocalEntry> LatencyCommands() { return kEntries; }

}  // namespace ringway::proxy
