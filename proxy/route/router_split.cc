// The router's commands whose parts go to several shards, and what all must observe that send more than one.
#include <utility>

#include "protocol/command_writer.h"
#include "protocol/error_replies.h"
#include "proxy/hotkey/bucket_name.h"
#include "proxy/route/router.h"

namespace ringway::proxy {

using protocol::CommandRow;
using protocol::RequestView;

// Whether a request on this connection might overtake one that the session has under way on another
// connection to the same shard: large replies make a shard's traffic change between them. If so the session
// waits for its replies.
bool Router::MustWaitItsTurn(ClientSession& session, const ShardConnection& connection) {
  const ShardDetour& place = connection.place();
  ShardDetour& taken = session.detour();
  if (place.number == 0 && taken.number == 0) [[likely]]
    return false;
  if (taken.number != ShardDetour::kSeveral) {
    if (place == taken) return false;
    if (place.number == 0 && place.lane != taken.lane) return false;
  }
  if (session.pending() > 0) {
    session.StallUntilAnswered();
    return true;
  }
  if (place.number != 0) taken = taken.number == 0 ? place : ShardDetour{0, ShardDetour::kSeveral};
  return false;
}

// Whether each of the shards takes one more request. If one does not, the session waits for it.
bool Router::AdmitParts(ClientSession& session, std::span<const uint32_t> shards) {
  // What waits for its keys must not be overtaken by what may concern all keys.
  if (session.pulls() > 0) {
    session.StallUntilAnswered();
    return false;
  }
  for (const uint32_t shard : shards) {
    if (shard == kBucketPart) continue;
    ShardConnection& connection = pool_.Pick(shard, session.state().db, session.state().resp);
    if (MustWaitItsTurn(session, connection)) return false;
    if (connection.admission() == ShardConnection::Admission::kFull) {
      connection.WaitForRoom(session.state().id);
      return false;
    }
  }
  return true;
}

RequestHandler::Outcome Router::RouteSplit(ClientSession& session, const CommandRow& row,
                                           const RequestView& request, const BlockRef* block) {
  const auto step = static_cast<size_t>(row.key_step);
  if ((request.size() - 1) % step != 0) {
    session.Reject(row.id, protocol::WrongArity(row.name));
    return Outcome::kTaken;
  }
  for (size_t i = 1; i < request.size(); i += step) {
    if (IsBucketName(request[i])) [[unlikely]]
      return RefuseReserved(session, row);
    sampler_.Note(session.state().db, request[i], row);
  }
  const bool hot = hot_keys_.watching();
  bool from_buckets = hot && CopyCanAnswer(row) && request.size() - 1 <= kMaxHotParts;
  if (careful_ || hot) [[unlikely]] {
    keys_.Clear();
    for (size_t i = 1; i < request.size(); i += step) {
      keys_.Add(i);
      // What waits for keys is not split before these are there, and asks them all themselves.
      if (careful_ && !IsKeyThere(session.state().db, request[i], topology_->ring.Hash(request[i]))) {
        from_buckets = false;
      }
    }
    if (hot) {
      // Which keys an older request reads a server has yet to say.
      if (from_buckets && session.hot_trail().HasUnknown(session.answered())) {
        session.StallUntilAnswered();
        return Outcome::kStall;
      }
      const auto outcome =
          from_buckets ? StallBehindBucketReads(session) : NoteHotWrites(session, row, request);
      if (outcome.has_value()) return *outcome;
    }
    if (careful_) {
      if (const auto outcome = AwaitKeys(session, row, request, block, 0)) return *outcome;
    }
  }
  // The steps of this request's own keys, which it has before it counts as under way, stay.
  if (from_buckets && session.pending() == 0) session.hot_trail().Clear();
  FindParts(*topology_, request, step, from_buckets ? &session : nullptr);
  if (hot_parts_wait_) {
    session.StallUntilAnswered();
    return Outcome::kStall;
  }
  if (part_shards_.size() == 1 && hot_parts_.empty()) {
    return SendToShard(session, row, request.frame(), block, part_shards_.front());
  }
  if (!AdmitParts(session, part_shards_)) return Outcome::kStall;
  StartSplit(*NewRequest(session, row), Destination{*topology_, session.state().db, false}, row, request,
             block);
  return Outcome::kTaken;
}

// Parts in the order in which their first key came.
void Router::FindParts(const Topology& topology, const RequestView& request, size_t step,
                       ClientSession* reader) {
  hot_parts_.clear();
  hot_parts_wait_ = false;
  part_of_shard_.resize(topology.shards.size(), -1);
  part_shards_.clear();
  part_keys_.clear();
  key_parts_.clear();
  for (size_t i = 1; i < request.size(); i += step) {
    const uint64_t hash = topology.ring.Hash(request[i]);
    if (reader != nullptr && FindHotPart(*reader, request[i], hash)) [[unlikely]]
      continue;
    const uint32_t shard = topology.ring.Owner(hash);
    int32_t& part = part_of_shard_[shard];
    if (part < 0) {
      part = static_cast<int32_t>(part_shards_.size());
      part_shards_.push_back(shard);
      part_keys_.push_back(0);
    }
    ++part_keys_[static_cast<size_t>(part)];
    key_parts_.push_back(static_cast<uint32_t>(part));
  }
  for (const uint32_t shard : part_shards_) {
    if (shard != kBucketPart) part_of_shard_[shard] = -1;
  }
}

// A part of its own for a key that a bucket can be asked for.
bool Router::FindHotPart(ClientSession& reader, std::string_view key, uint64_t hash) {
  HotEntry* entry = hot_keys_.Find(reader.state().db, key, hash);
  if (entry == nullptr) return false;
  const auto choice = ChooseBucket(reader, *entry, &hot_parts_wait_);
  if (!choice.has_value()) return false;
  const auto part = static_cast<uint32_t>(part_shards_.size());
  hot_parts_.push_back({part, *choice});
  part_shards_.push_back(kBucketPart);
  part_keys_.push_back(1);
  key_parts_.push_back(part);
  return true;
}

ShardConnection* Router::ConnectionTo(const Destination& to, uint32_t shard, uint8_t resp) {
  if (!to.continued) return &pool_.Pick(shard, to.db, resp);
  return pool_.FirstById(to.topology.shards[shard].id, to.db, resp);
}

void Router::StartSplit(Request& sent, const Destination& to, const CommandRow& row,
                        const RequestView& request, const BlockRef* block) {
  const size_t parts = part_shards_.size();
  SplitCollector* collector = collectors_.Take(row.response, parts);
  sent.collector.reset(collector);
  sent.parts_pending += static_cast<uint32_t>(parts);
  if ((row.flags & protocol::kWrite) != 0) collector->set_partial_write();
  // Each part's frame grows at the end of its shard's output while the keys are gone through once.
  part_outputs_.assign(parts, nullptr);
  for (uint32_t part = 0; part < parts; ++part) {
    if (part_shards_[part] == kBucketPart) continue;
    ShardConnection* connection = ConnectionTo(to, part_shards_[part], sent.resp);
    if (connection == nullptr || connection->admission() == ShardConnection::Admission::kDown) continue;
    OutputQueue& out = connection->BeginFrame(&sent, part);
    scratch_.clear();
    protocol::AppendHeader(scratch_, 1 + part_keys_[part] * static_cast<size_t>(row.key_step));
    protocol::AppendArg(scratch_, request[0]);
    out.Append(std::string_view(scratch_));
    part_outputs_[part] = &out;
  }
  const auto step = static_cast<size_t>(row.key_step);
  for (size_t key = 0; key < key_parts_.size(); ++key) {
    const uint32_t part = key_parts_[key];
    if (row.response == protocol::ResponsePolicy::kKeyOrder) {
      collector->AddKey(static_cast<uint16_t>(part));
    }
    if (part_outputs_[part] == nullptr) continue;
    part_outputs_[part]->Append(request.Encoded(1 + key * step, step), block);
  }
  for (uint32_t part = 0; part < parts; ++part) {
    if (part_outputs_[part] != nullptr || part_shards_[part] == kBucketPart) continue;
    const ShardConnection* connection = ConnectionTo(to, part_shards_[part], sent.resp);
    requests_.Refuse(&sent, part,
                     connection == nullptr ? std::string(kShardHasLeft) : connection->DownError());
  }
  for (const HotPart& hot : hot_parts_) hot_keys_.ReadPart(sent, hot.part, hot.choice, request[0]);
}

RequestHandler::Outcome Router::SendToFirst(size_t shards, ClientSession& session, const CommandRow& row,
                                            std::string_view frame, const BlockRef* block,
                                            CollectorPtr collector) {
  part_shards_.clear();
  for (uint32_t shard = 0; shard < shards; ++shard) part_shards_.push_back(shard);
  if (!AdmitParts(session, part_shards_)) return Outcome::kStall;
  Request* sent = NewRequest(session, row);
  sent->collector = std::move(collector);
  sent->parts_pending = static_cast<uint32_t>(part_shards_.size());
  std::vector<uint32_t> down;
  for (const uint32_t shard : part_shards_) {
    ShardConnection& connection = pool_.Pick(shard, session.state().db, session.state().resp);
    if (connection.admission() == ShardConnection::Admission::kDown) {
      down.push_back(shard);
    } else {
      connection.Send(sent, shard, frame, block);
    }
  }
  for (const uint32_t shard : down) {
    ShardConnection& connection = pool_.Pick(shard, session.state().db, session.state().resp);
    requests_.Refuse(sent, shard, connection.DownError());
  }
  return Outcome::kTaken;
}

RequestHandler::Outcome Router::SendToAny(ClientSession& session, const CommandRow& row,
                                          std::string_view frame, const BlockRef* block) {
  return SendToShard(session, row, frame, block, AnyShard());
}

uint32_t Router::AnyShard() {
  // Not one that has yet to join, or is about to leave.
  const auto shards = static_cast<uint32_t>(topology_->ring.members().size());
  uint32_t shard = next_any_++ % shards;
  for (uint32_t tries = 1; tries < shards && pool_.IsDown(shard); ++tries) shard = (shard + 1) % shards;
  return shard;
}

}  // namespace ringway::proxy
