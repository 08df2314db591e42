// The router's commands that need more than their keys: those for all shards, and the walk over the keyspace.
#include <algorithm>
#include <string>
#include <utility>

#include "protocol/command_writer.h"
#include "protocol/error_replies.h"
#include "protocol/number_text.h"
#include "proxy/route/keyspace_collectors.h"
#include "proxy/route/router.h"
#include "proxy/route/scan_cursor.h"

namespace ringway::proxy {
namespace {

using protocol::CommandRow;
using protocol::RequestView;

constexpr std::string_view kDbSize = "*1\r\n$6\r\nDBSIZE\r\n";

// xorshift64 (Marsaglia, 2003): any cheap sequence will do to pick a shard.
uint64_t NextRandom(uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

}  // namespace

RequestHandler::Outcome Router::RouteSpecial(ClientSession& session, const CommandRow& row,
                                             const RequestView& request, const BlockRef* block) {
  if (&row == scan_) return Scan(session, row, request);
  if (&row == randomkey_) return RandomKey(session, row);
  if (row.request == protocol::RequestPolicy::kSpecial) return Wait(session, row, request);
  if (&row == script_load_) scripts_.Remember(request[2]);
  if (&row == script_flush_) scripts_.Clear();
  return SendToAll(session, row, request.frame(), block, NewSplitCollector(row.response, pool_.shards()));
}

// The shards in the order of their ids, so that a shard which joins meanwhile is walked as well.
std::optional<uint32_t> Router::NextShardId(uint32_t after) const {
  std::optional<uint32_t> next;
  for (const Shard& shard : topology_->shards) {
    if (shard.id > after && (!next.has_value() || shard.id < *next)) next = shard.id;
  }
  return next;
}

std::optional<uint32_t> Router::IndexOfShard(uint32_t id) const {
  for (uint32_t i = 0; i < topology_->shards.size(); ++i) {
    if (topology_->shards[i].id == id) return i;
  }
  return std::nullopt;
}

RequestHandler::Outcome Router::Scan(ClientSession& session, const CommandRow& row,
                                     const RequestView& request) {
  const std::optional<uint64_t> given = ParseCursor(request[1]);
  if (!given.has_value()) {
    session.Reject(row.id, protocol::kInvalidCursor);
    return Outcome::kTaken;
  }
  ScanCursor cursor = ScanCursor::Decode(*given);
  std::optional<uint32_t> shard = IndexOfShard(cursor.shard_id);
  if (!shard.has_value()) {
    // The shard has left since, or the cursor is made up: on to the next one.
    const std::optional<uint32_t> next = NextShardId(cursor.shard_id);
    if (!next.has_value()) {
      session.Reply(row.id, "*2\r\n$1\r\n0\r\n*0\r\n");
      return Outcome::kTaken;
    }
    cursor = ScanCursor{*next, 0};
    shard = IndexOfShard(*next);
  }
  const uint32_t target[] = {*shard};
  if (!AdmitParts(session, target)) return Outcome::kStall;
  scratch_.clear();
  protocol::AppendHeader(scratch_, request.size());
  protocol::AppendArg(scratch_, request[0]);
  protocol::AppendArg(scratch_, std::to_string(cursor.inner));
  for (size_t i = 2; i < request.size(); ++i) protocol::AppendArg(scratch_, request[i]);
  Request* sent = session.NewRequest(row.id);
  sent->collector.reset(new ScanCollector(requests_.stats(), cursor.shard_id, NextShardId(cursor.shard_id)));
  sender_.SendPart(*sent, 0, cursor.shard_id, session.state().db, scratch_);
  return Outcome::kTaken;
}

RequestHandler::Outcome Router::RandomKey(ClientSession& session, const CommandRow& row) {
  std::vector<uint32_t> ids;
  for (const Shard& shard : topology_->shards) ids.push_back(shard.id);
  return SendToAll(session, row, kDbSize, nullptr,
                   CollectorPtr(new RandomKeyCollector(sender_, std::move(ids), session.state().db,
                                                       NextRandom(random_state_))));
}

// WAIT would block a connection that others share, so shards are asked for what their replicas have by now;
// the least of their answers is true for all keys.
RequestHandler::Outcome Router::Wait(ClientSession& session, const CommandRow& row,
                                     const RequestView& request) {
  const std::optional<int64_t> replicas = protocol::ParseInt64(request[1]);
  const std::optional<int64_t> timeout = protocol::ParseInt64(request[2]);
  if (!replicas.has_value()) {
    session.ReplyError(row.id, protocol::kNotInteger);
    return Outcome::kTaken;
  }
  if (!timeout.has_value() || *timeout < 0) {
    session.ReplyError(row.id,
                       timeout.has_value() ? protocol::kTimeoutNegative : protocol::kTimeoutNotInteger);
    return Outcome::kTaken;
  }
  std::string frame;
  protocol::AppendCommand(frame, {"WAIT", request[1], "1"});
  return SendToAll(session, row, frame, nullptr,
                   NewSplitCollector(protocol::ResponsePolicy::kMin, pool_.shards()));
}

}  // namespace ringway::proxy
