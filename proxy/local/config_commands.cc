// CONFIG: the proxy's own parameters, and those of its shards for what it does not have.
#include <string>
#include <utility>

#include "protocol/command_writer.h"
#include "protocol/error_replies.h"
#include "proxy/local/config_collectors.h"
#include "proxy/local/config_parameters.h"
#include "proxy/local/entries.h"
#include "proxy/local/gather.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

using Outcome = RequestHandler::Outcome;

// A shard that serves, if there is one; shards are alike in what CONFIG GET tells.
uint32_t PickShard(Worker& worker) {
  const auto shards = static_cast<uint32_t>(worker.pool().shards());
  uint32_t shard = 0;
  while (shard + 1 < shards && worker.pool().IsDown(shard)) ++shard;
  return worker.pool().IsDown(shard) ? 0 : shard;
}

Outcome ConfigGet(LocalCall& call) {
  FoundParameters found = FindParameters(call.worker.config(), call.request);
  if (!found.ask_shard) {
    call.reply.Map(found.own.size());
    for (const auto& [name, value] : found.own) {
      call.reply.Bulk(name);
      call.reply.Bulk(value);
    }
    return Outcome::kTaken;
  }
  Router& router = call.worker.router();
  const uint32_t shard_id = router.topology().shards[PickShard(call.worker)].id;
  Request* request = call.session.NewRequest(call.row.id);
  request->collector.reset(new ConfigGetCollector(call.worker, std::move(found.own)));
  router.sender().SendPart(*request, 0, shard_id, 0, call.request.frame());
  return Outcome::kTaken;
}

std::string EncodeConfigSet(const Parameters& parameters) {
  std::string frame;
  protocol::AppendHeader(frame, 2 + parameters.size() * 2);
  protocol::AppendArg(frame, "CONFIG");
  protocol::AppendArg(frame, "SET");
  for (const auto& [name, value] : parameters) {
    protocol::AppendArg(frame, name);
    protocol::AppendArg(frame, value);
  }
  return frame;
}

Outcome ConfigSet(LocalCall& call) {
  ConfigChange change;
  if (const auto error = ParseConfigSet(call.worker.config(), call.request, &change)) {
    call.reply.Error(*error);
    return Outcome::kTaken;
  }
  if (!change.for_shards.empty()) {
    const std::string frame = EncodeConfigSet(change.for_shards);
    CollectorPtr collector(new ConfigSetCollector(call.worker, std::move(change.own)));
    return call.worker.router().SendToAll(call.session, call.row, frame, nullptr, std::move(collector));
  }
  SetOwnParameters(call.worker, change.own);
  return AnswerWhenAllHaveIt(call, [](protocol::ReplyWriter& reply) { reply.Ok(); });
}

Outcome ConfigResetStat(LocalCall& call) {
  Router& router = call.worker.router();
  for (Worker* worker : call.worker.state().workers) worker->ResetStats();
  return router.SendToAll(
      call.session, call.row, call.request.frame(), nullptr,
      router.NewSplitCollector(protocol::ResponsePolicy::kAllSucceeded, call.worker.pool().shards()));
}

Outcome ConfigRewrite(LocalCall& call) {
  call.reply.Error("ERR CONFIG REWRITE is not available: write the change into the configuration file");
  return Outcome::kTaken;
}

constexpr LocalEntry kEntries[] = {
    {"config|get", &ConfigGet},         {"config|set", &ConfigSet},    {"config|resetstat", &ConfigResetStat},
    {"config|rewrite", &ConfigRewrite}, {"config|help", &AskAnyShard},
};

}  // namespace

std::span<const LocalEntry> ConfigCommands() { return kEntries; }

}  // namespace ringway::proxy
