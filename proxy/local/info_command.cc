// INFO: the proxy's own figures, and the shards' from a fresh INFO of each.
#include <string>
#include <utility>
#include <vector>

#include "proxy/info/info_collector.h"
#include "proxy/info/info_sections.h"
#include "proxy/local/entries.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

using Outcome = RequestHandler::Outcome;

// The default sections, which every version knows by no argument.
constexpr std::string_view kInfo = "*1\r\n$4\r\nINFO\r\n";

InfoFacts StartFacts(Worker& worker) {
  InfoFacts facts{worker.state(), worker.state().config(), worker.router().shared_topology(), {}};
  for (uint32_t i = 0; i < facts.topology->shards.size(); ++i) {
    const ShardSight sight = facts.state.board.Get(facts.topology->shards[i].id);
    facts.shards.push_back({!worker.pool().IsDown(i) && (sight.up || !sight.seen), {}});
  }
  return facts;
}

Outcome Info(LocalCall& call) {
  std::vector<std::string_view> arguments;
  for (size_t i = 1; i < call.request.size(); ++i) arguments.push_back(call.request[i]);
  std::vector<const InfoSection*> sections = PickSections(arguments);
  InfoFacts facts = StartFacts(call.worker);
  // A shard that is known not to answer is not waited for, nor one that has no room for a further request.
  std::vector<std::pair<uint32_t, ShardConnection*>> asked;
  if (NeedShards(sections)) {
    const SessionState& state = call.session.state();
    for (uint32_t i = 0; i < facts.shards.size(); ++i) {
      if (!facts.shards[i].up) continue;
      ShardConnection& connection = call.worker.pool().Pick(i, state.db, state.resp);
      if (connection.admission() == ShardConnection::Admission::kOpen) asked.emplace_back(i, &connection);
    }
  }
  if (asked.empty()) {
    call.reply.Verbatim(WriteSections(sections, facts));
    return Outcome::kTaken;
  }
  Request* request = call.session.NewRequest(call.row.id);
  request->collector.reset(new InfoCollector(std::move(sections), std::move(facts)));
  request->parts_pending = static_cast<uint32_t>(asked.size());
  for (const auto& [shard, connection] : asked) connection->Send(request, shard, kInfo, nullptr);
  return Outcome::kTaken;
}

constexpr LocalEntry kEntries[] = {
    {"info", &Info},
};

}  // namespace

std::span<const LocalEntry> InfoCommands() { return kEntries; }

}  // namespace ringway::proxy
