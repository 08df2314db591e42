// SLOWLOG: the logs of all shards as one. The proxy itself has none: what takes long, takes long on a shard.
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "protocol/number_text.h"
#include "proxy/local/entries.h"
#include "proxy/local/parts_collector.h"
#include "proxy/local/slowlog_merge.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

using Outcome = RequestHandler::Outcome;

constexpr size_t kDefaultCount = 10;

// How many entries are wanted; a count that is none is refused by the shards.
size_t WantedCount(const protocol::RequestView& request) {
  if (request.size() < 3) return kDefaultCount;
  const int64_t count = protocol::ParseInt64(request[2]).value_or(0);
  return count < 0 ? std::numeric_limits<size_t>::max() : static_cast<size_t>(count);
}

Outcome SlowlogGet(LocalCall& call) {
  Router& router = call.worker.router();
  auto merge = [topology = router.shared_topology(), count = WantedCount(call.request)](
                   std::span<const Slice> parts, protocol::ReplyWriter& reply) {
    std::vector<SlowlogPart> logs;
    for (size_t i = 0; i < parts.size(); ++i) logs.push_back({topology->shards[i].id, parts[i].view()});
    MergeSlowlogs(logs, count, reply);
  };
  return router.SendToAll(
      call.session, call.row, call.request.frame(), nullptr,
      CollectorPtr(new PartsCollector(call.worker.requests(), router.topology().shards.size(),
                                      PartsCollector::OnError::kPassOn, std::move(merge))));
}

Outcome SlowlogLen(LocalCall& call) {
  Router& router = call.worker.router();
  return router.SendToAll(
      call.session, call.row, call.request.frame(), nullptr,
      router.NewSplitCollector(protocol::ResponsePolicy::kSum, router.topology().shards.size()));
}

Outcome SlowlogReset(LocalCall& call) {
  Router& router = call.worker.router();
  return router.SendToAll(
      call.session, call.row, call.request.frame(), nullptr,
      router.NewSplitCollector(protocol::ResponsePolicy::kAllSucceeded, router.topology().shards.size()));
}

constexpr LocalEntry kEntries[] = {
    {"slowlog|get", &SlowlogGet},
    {"slowlog|len", &SlowlogLen},
    {"slowlog|reset", &SlowlogReset},
    {"slowlog|help", &AskAnyShard},
};

}  // namespace

std::span<const LocalEntry> SlowlogCommands() { return kEntries; }

}  // namespace ringway::proxy
