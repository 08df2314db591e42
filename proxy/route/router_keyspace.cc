// The router's commands on all keys of a database.
#include <string>
#include <utility>

#include "protocol/command_writer.h"
#include "protocol/error_replies.h"
#include "proxy/route/keyspace_collectors.h"
#include "proxy/route/router.h"
#include "proxy/route/scan_walk.h"
#include "proxy/xorshift.h"

namespace ringway::proxy {

using protocol::CommandRow;
using protocol::RequestView;
bool Router::IsOnKeyspace(const CommandRow& row) const {
  return &row == scan_ || &row == randomkey_ || &row == keys_of_all_ || &row == dbsize_ ||
         &row == flushall_ || &row == flushdb_;
}

// While kHolding other workers may have gone on: whether keys move already is not known here.
RequestHandler::Outcome Router::RouteKeyspace(ClientSession& session, const CommandRow& row,
                                              const RequestView& request, const BlockRef* block) {
  if (&row == scan_) return Scan(session, row, request);
  if (hot_keys_.watching() && (&row == flushall_ || &row == flushdb_)) {
    if (const auto outcome = NoteFlush(session, row)) return *outcome;
  }
  if (topology_->holding()) return StallUntilTopology();
  const bool copies = copies_ != nullptr && !copies_->empty();
  if (topology_->moving() || &row == randomkey_ || &row == keys_of_all_ || (&row == dbsize_ && copies)) {
    return SendInSteps(session, row, request);
  }
  const size_t members = topology_->ring.members().size();
  return SendToFirst(members, session, row, request.frame(), block, NewSplitCollector(row.response, members));
}

RequestHandler::Outcome Router::SendInSteps(ClientSession& session, const CommandRow& row,
                                            const RequestView& request) {
  const std::vector<uint32_t> servers = ServersWithKeys(*topology_);
  if (!AdmitParts(session, servers)) return Outcome::kStall;
  std::vector<uint32_t> ids;
  for (const uint32_t server : servers) ids.push_back(topology_->shards[server].id);
  const uint32_t db = session.state().db;
  Steps steps(topology_, epoch_token_);
  Request* sent = NewRequest(session, row);
  // Held while parts are sent, which may be answered on the spot.
  sent->parts_pending = 1;
  if (&row == randomkey_) {
    auto* collector =
        new RandomKeyCollector(sender_, std::move(steps), std::move(ids), db, NextRandom(random_state_));
    sent->collector.reset(collector);
    collector->Start(*sent);
  } else if (&row == dbsize_) {
    auto* collector = new CountCollector(sender_, std::move(steps), std::move(ids), db, copies_);
    sent->collector.reset(collector);
    collector->Start(gate_queue_, *sent);
  } else if (&row == keys_of_all_) {
    auto* collector = new KeysCollector(sender_, std::move(steps), std::move(ids), db, request.frame());
    sent->collector.reset(collector);
    collector->Start(*sent);
  } else {
    auto* collector = new TwoRoundCollector(sender_, std::move(steps), std::move(ids), db, request.frame());
    sent->collector.reset(collector);
    if (topology_->move->RelaysAny()) {
      collector->StartGated(gate_queue_, *sent);
    } else {
      collector->Start(*sent);
    }
  }
  requests_.EndPart(sent);
  return Outcome::kTaken;
}

RequestHandler::Outcome Router::Scan(ClientSession& session, const CommandRow& row,
                                     const RequestView& request) {
  const std::optional<uint64_t> given = ParseCursor(request[1]);
  if (!given.has_value()) {
    session.Reject(row.id, protocol::kInvalidCursor);
    return Outcome::kTaken;
  }
  const ScanFacts facts = ScanFactsOf(*topology_);
  if (facts.servers.back().id >= ScanCursor::kBehindLast) {
    session.ReplyError(row.id, "ERR SCAN knows no more servers than 16383 in the life of a proxy");
    return Outcome::kTaken;
  }
  if (*given == 0 && facts.holding()) return StallUntilTopology();
  const std::optional<ScanCursor> position =
      *given == 0 ? BeginWalk(facts) : CheckedPosition(ScanCursor::Decode(*given), facts);
  if (!position.has_value()) {
    session.Reply(row.id, "*2\r\n$1\r\n0\r\n*0\r\n");
    return Outcome::kTaken;
  }
  if (position->shard_id == ScanCursor::kBehindLast) return StallUntilTopology();
  uint32_t shard = 0;
  while (topology_->shards[shard].id != position->shard_id) ++shard;
  const uint32_t target[] = {shard};
  if (!AdmitParts(session, target)) return Outcome::kStall;
  scratch_.clear();
  protocol::AppendHeader(scratch_, request.size());
  protocol::AppendArg(scratch_, request[0]);
  protocol::AppendArg(scratch_, std::to_string(position->inner));
  for (size_t i = 2; i < request.size(); ++i) protocol::AppendArg(scratch_, request[i]);
  Request* sent = session.NewRequest(row.id);
  sent->collector.reset(new ScanCollector(requests_.stats(), topology_, *position));
  sender_.SendPart(*sent, 0, position->shard_id, session.state().db, scratch_);
  return Outcome::kTaken;
}

}  // namespace ringway::proxy
