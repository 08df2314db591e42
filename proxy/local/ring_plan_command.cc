// RING PLAN: what a change of the shards would move, and nothing is moved.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/error_replies.h"
#include "protocol/reply_cursor.h"
#include "protocol/reply_writer.h"
#include "proxy/buffer/output_queue.h"
#include "proxy/control/ring_forecast.h"
#include "proxy/info/shard_info.h"
#include "proxy/local/entries.h"
#include "proxy/local/gather.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

using Outcome = RequestHandler::Outcome;

constexpr std::string_view kInfo = "*1\r\n$4\r\nINFO\r\n";

// The parts of the request: the forecast, which another thread makes, and then those of the shards.
constexpr uint32_t kForecastPart = 0;
constexpr uint32_t kFirstShardPart = 1;

// Thread: one worker; the forecast is written by another thread before its part comes. Owns: the loads.
class PlanCollector final : public ReplyCollector {
 public:
  using SharedForecast = std::shared_ptr<std::optional<RingForecast>>;

  PlanCollector(SharedForecast forecast, size_t shards) : forecast_(std::move(forecast)), loads_(shards) {}

  void OnPart(Request&, uint32_t part, const Slice& reply) override {
    if (part == kForecastPart) return;
    const auto text = protocol::BulkOf(reply.view());
    if (!text) return;
    const ShardInfo info = ShardInfo::Parse(*text);
    // Without what the server needs to run at all.
    loads_[part - kFirstShardPart] = ShardLoad{info.keys(), info.Number("used_memory_dataset")};
  }

  void Finish(Request& request, OutputQueue& out) override {
    std::string bytes;
    protocol::ReplyWriter reply(bytes, request.resp);
    if (*forecast_) {
      WriteForecast(**forecast_, loads_, reply);
    } else {
      reply.Error("ERR the proxy is stopping");
    }
    out.Append(std::string_view(bytes));
  }

 private:
  const SharedForecast forecast_;
  std::vector<std::optional<ShardLoad>> loads_;
};

// On the control loop, so that no client waits for a ring to be built.
PlanCollector::SharedForecast StartForecast(Worker& worker, Request& request, ChangedShards after) {
  const auto forecast = std::make_shared<std::optional<RingForecast>>();
  const auto gathering =
      std::make_shared<Gathering>(worker, request, 1, [](protocol::ReplyWriter& reply) { reply.Ok(); });
  auto part = std::make_shared<Gathering::Part>(gathering);
  worker.state().control_loop->Post(
      [forecast, part = std::move(part), after = std::move(after),
       topology = worker.router().shared_topology(),
       ring = worker.config().ring] { forecast->emplace(Forecast(*topology, after, ring)); });
  return forecast;
}

// A shard that is known not to answer is not waited for, nor one that has no room for a further request.
std::vector<std::pair<uint32_t, ShardConnection*>> PickShards(LocalCall& call) {
  std::vector<std::pair<uint32_t, ShardConnection*>> picked;
  const SessionState& session = call.session.state();
  for (uint32_t i = 0; i < call.worker.router().topology().shards.size(); ++i) {
    const ShardSight sight = call.worker.state().board.Get(call.worker.router().topology().shards[i].id);
    if (call.worker.pool().IsDown(i) || (sight.seen && !sight.up)) continue;
    ShardConnection& connection = call.worker.pool().Pick(i, session.db, session.resp);
    if (connection.admission() == ShardConnection::Admission::kOpen) picked.emplace_back(i, &connection);
  }
  return picked;
}

Outcome Reject(LocalCall& call, std::string_view error) {
  call.session.Reject(call.row.id, error);
  return Outcome::kTaken;
}

}  // namespace

Outcome RingPlan(LocalCall& call) {
  std::vector<std::string_view> words;
  for (size_t i = 2; i < call.request.size(); ++i) words.push_back(call.request[i]);
  const ParsedRingChanges parsed = ParseRingChanges(words);
  if (!parsed.error.empty()) return Reject(call, "ERR " + parsed.error);
  const Topology& topology = call.worker.router().topology();
  if (topology.phase != Topology::Phase::kStable || call.worker.state().migration.Get().under_way()) {
    return Reject(call, protocol::kRingBusy);
  }
  config::Config config = call.worker.config();
  config.shards.clear();
  for (const Shard& shard : topology.shards) config.shards.push_back(shard.config);
  ChangedShards after = ApplyRingChanges(config, parsed.changes);
  if (!after.error.empty()) return Reject(call, "ERR " + after.error);

  const auto asked = PickShards(call);
  Request* request = call.session.NewRequest(call.row.id);
  request->parts_pending = static_cast<uint32_t>(asked.size());
  auto forecast = StartForecast(call.worker, *request, std::move(after));
  request->collector.reset(new PlanCollector(std::move(forecast), topology.shards.size()));
  for (const auto& [shard, connection] : asked) {
    connection->Send(request, kFirstShardPart + shard, kInfo, nullptr);
  }
  return Outcome::kTaken;
}

}  // namespace ringway::proxy
