#include "proxy/route/router.h"

#include <algorithm>
#include <utility>

#include "protocol/command_writer.h"
#include "protocol/error_replies.h"
#include "proxy/check.h"
#include "proxy/log.h"
#include "proxy/words.h"
#include "ring/key_hash.h"

namespace ringway::proxy {
namespace {

using protocol::CommandRow;
using protocol::KeyKind;
using protocol::KeyStatus;
using protocol::RequestPolicy;
using protocol::RequestView;

// Scripts that a worker remembers to have put into the cache.
constexpr size_t kMaxSeenScripts = 65'536;

constexpr int64_t kHttpWarningUsec = 60'000'000;

// XREAD and XREADGROUP block only when they are asked to.
bool AsksToBlock(const RequestView& request) {
  for (size_t i = 1; i < request.size(); ++i) {
    if (IsWord(request[i], "block")) return true;
    if (IsWord(request[i], "streams")) return false;
  }
  return false;
}

}  // namespace

Router::Router(ShardPool& pool, RequestTable& requests, ScriptCache& scripts, LocalHandler& local)
    : pool_(pool),
      requests_(requests),
      scripts_(scripts),
      local_(local),
      sender_(pool, requests),
      collectors_(requests),
      random_state_(static_cast<uint64_t>(requests.now_usec()) | 1),
      eval_(protocol::FindCommand("eval")),
      eval_ro_(protocol::FindCommand("eval_ro")),
      evalsha_(protocol::FindCommand("evalsha")),
      evalsha_ro_(protocol::FindCommand("evalsha_ro")),
      script_load_(protocol::FindByFullName("script|load")),
      script_flush_(protocol::FindByFullName("script|flush")),
      sort_(protocol::FindCommand("sort")),
      sort_ro_(protocol::FindCommand("sort_ro")),
      scan_(protocol::FindCommand("scan")),
      randomkey_(protocol::FindCommand("randomkey")) {}

void Router::Adopt(std::shared_ptr<const Topology> topology) {
  topology_ = std::move(topology);
  epoch_token_ = std::make_shared<char>();
}

RequestHandler::Outcome Router::Handle(ClientSession& session, const RequestView& request,
                                       const BlockRef* block) {
  const CommandRow* row = protocol::FindCommand(request[0]);
  if (row == nullptr) [[unlikely]]
    return HandleUnknown(session, request, block);
  if (protocol::HasSubcommands(*row) && request.size() > 1) {
    const CommandRow* container = row;
    row = protocol::FindSubcommand(*container, request[1]);
    if (row == nullptr) row = local_.FindOwn(request);
    if (row == nullptr && learned_ != nullptr) row = learned_->FindSubcommand(*container, request[1]);
    if (row == nullptr) {
      session.Reject(container->id, protocol::UnknownSubcommand(container->name, request[1]));
      return Outcome::kTaken;
    }
  }
  return Dispatch(session, *row, request, block);
}

RequestHandler::Outcome Router::HandleUnknown(ClientSession& session, const RequestView& request,
                                              const BlockRef* block) {
  if (const CommandRow* own = local_.FindOwn(request)) return Dispatch(session, *own, request, block);
  const CommandRow* row = learned_ == nullptr ? nullptr : learned_->Find(request[0]);
  if (row != nullptr) {
    const CommandRow* sub =
        request.size() > 1 && HasSubcommands(*row) ? learned_->FindSubcommand(*row, request[1]) : nullptr;
    return Dispatch(session, sub != nullptr ? *sub : *row, request, block);
  }
  // A web page that makes a browser post to the proxy: what follows may be commands in disguise.
  if (IsWord(request[0], "post") || IsWord(request[0], "host:")) {
    // Somebody's health check may do this every second; as in Redis, the log hears of it once a minute.
    if (requests_.now_usec() >= next_http_warning_usec_) {
      next_http_warning_usec_ = requests_.now_usec() + kHttpWarningUsec;
      LogWarn("closed a connection from " + session.state().peer_address + ": it speaks HTTP");
    }
    session.CloseBroken();
    return Outcome::kTaken;
  }
  std::vector<std::string_view> args;
  for (size_t i = 1; i < request.size(); ++i) args.push_back(request[i]);
  session.Reject(WorkerStats::kOtherId, protocol::UnknownCommand(request[0], args));
  return Outcome::kTaken;
}

const CommandRow* Router::FindRow(const RequestView& request) const {
  const CommandRow* row = protocol::FindCommand(request[0]);
  if (row == nullptr) return learned_ == nullptr ? nullptr : learned_->Find(request[0]);
  if (!protocol::HasSubcommands(*row) || request.size() < 2) return row;
  return protocol::FindSubcommand(*row, request[1]);
}

RequestHandler::Outcome Router::Dispatch(ClientSession& session, const CommandRow& row,
                                         const RequestView& request, const BlockRef* block) {
  if (!protocol::ArityFits(row, request.size())) [[unlikely]] {
    session.Reject(row.id, protocol::WrongArity(row.name));
    return Outcome::kTaken;
  }
  // With nothing under way, no order is left to keep.
  if (session.pending() == 0 && session.detour().number != 0) [[unlikely]]
    session.detour() = ShardDetour{};
  SessionState& state = session.state();
  if (!state.authenticated) [[unlikely]] {
    if (const auto refusal = Refusal(session, row)) {
      session.Reject(row.id, *refusal);
      return Outcome::kTaken;
    }
  }
  if (pause_.mode != Pause::Mode::kNone && IsPaused(row)) [[unlikely]]
    return Outcome::kStall;
  const auto outcome = [&] {
    switch (row.request) {
      case RequestPolicy::kOneShard:
        [[likely]] return RouteOneShard(session, row, request, block);
      case RequestPolicy::kSplit:
        return RouteSplit(session, row, request, block);
      case RequestPolicy::kAllShards:
      case RequestPolicy::kSpecial:
        return RouteSpecial(session, row, request, block);
      case RequestPolicy::kAnyShard:
        return SendToAny(session, row, request.frame(), block);
      case RequestPolicy::kLocal:
        return local_.Run(session, row, request);
      case RequestPolicy::kUnsupported:
        break;
    }
    session.Reject(row.id, protocol::UnsupportedText(row));
    return Outcome::kTaken;
  }();
  if (outcome == Outcome::kTaken) {
    state.last_command_id = row.id;
    state.has_last_command = true;
    state.last_active_usec = requests_.now_usec();
    ++state.commands;
    requests_.stats().commands.Add();
  }
  return outcome;
}

std::optional<std::string> Router::Refusal(const ClientSession& session, const CommandRow& row) const {
  if (!session.state().authenticated && (row.flags & protocol::kNoAuth) == 0) {
    return std::string(protocol::kAuthRequired);
  }
  return std::nullopt;
}

bool Router::IsPaused(const CommandRow& row) const {
  if (requests_.now_usec() >= pause_.until_usec) return false;
  // CLIENT UNPAUSE must get through.
  if (row.name.starts_with("client|")) return false;
  return pause_.mode == Pause::Mode::kAll || (row.flags & (protocol::kWrite | protocol::kMayReplicate)) != 0;
}

// --- one shard ---

RequestHandler::Outcome Router::RouteOneShard(ClientSession& session, const CommandRow& row,
                                              const RequestView& request, const BlockRef* block) {
  if (row.key_kind == KeyKind::kFirst) [[likely]] {
    return SendToShard(session, row, request.frame(), block, topology_->Locate(request[1]));
  }
  if ((row.flags & protocol::kBlocking) != 0 && AsksToBlock(request)) {
    session.Reject(row.id, "ERR " + std::string(row.name) +
                               " with BLOCK is not available: blocking commands are not served");
    return Outcome::kTaken;
  }
  return RouteByKeys(session, row, request, block);
}

RequestHandler::Outcome Router::RouteByKeys(ClientSession& session, const CommandRow& row,
                                            const RequestView& request, const BlockRef* block) {
  const bool is_eval = &row == eval_ || &row == eval_ro_;
  if (is_eval) RememberScript(request[1]);
  switch (protocol::FindKeys(row, request, &keys_)) {
    case KeyStatus::kOk:
      break;
    case KeyStatus::kNoKeys:
    case KeyStatus::kInvalid:
      if (&row != evalsha_ && &row != evalsha_ro_) return SendToAny(session, row, request.frame(), block);
      keys_.Clear();
      break;
    case KeyStatus::kAskServer:
      return SendAskKeys(session, row, request);
  }
  uint32_t shard = keys_.empty() ? AnyShard() : 0;
  std::string error = CheckSharedTag(request, keys_, &shard);
  if (error.empty() && (&row == sort_ || &row == sort_ro_)) error = CheckSortPatterns(request, shard);
  if (!error.empty()) {
    session.Reject(row.id, error);
    return Outcome::kTaken;
  }
  if (&row == evalsha_ || &row == evalsha_ro_) return SendEvalSha(session, row, request, shard);
  return SendToShard(session, row, request.frame(), block, shard);
}

// All keys must have one hash tag (or be one key): keys that merely share a shard today may part on the day a
// shard is added, and the application would break then. An option relaxes this.
std::string Router::CheckSharedTag(const RequestView& request, const protocol::KeyList& keys,
                                   uint32_t* shard) const {
  if (keys.empty()) return "";
  const std::string_view first = request[keys[0]];
  *shard = topology_->Locate(first);
  if (topology_->shards.size() == 1) return "";
  const std::string_view tag = topology_->ring.TagOf(first);
  for (size_t i = 1; i < keys.size(); ++i) {
    const std::string_view key = request[keys[i]];
    if (topology_->ring.TagOf(key) == tag) continue;
    if (same_shard_is_enough_ && topology_->Locate(key) == *shard) continue;
    return std::string(protocol::kCrossSlot);
  }
  return "";
}

// SORT's BY and GET patterns name keys that the shard cannot see unless they share the sorted key's tag.
std::string Router::CheckSortPatterns(const RequestView& request, uint32_t shard) {
  if (topology_->shards.size() == 1) return "";
  const std::string_view tag = topology_->ring.TagOf(request[1]);
  protocol::FindSortPatterns(request, &keys_);
  for (const uint32_t index : keys_) {
    if (topology_->ring.TagOf(request[index]) == tag) continue;
    if (same_shard_is_enough_ && topology_->Locate(request[index]) == shard) continue;
    return "ERR BY and GET patterns of SORT must have the hash tag of the sorted key";
  }
  return "";
}

std::string Router::RouteKeys(const std::vector<std::string_view>& keys, uint32_t* shard_id) {
  const uint32_t shard = keys.empty() ? 0 : topology_->Locate(keys.front());
  for (const std::string_view key : keys) {
    const bool together = same_shard_is_enough_ || topology_->shards.size() == 1
                              ? topology_->Locate(key) == shard
                              : topology_->ring.TagOf(key) == topology_->ring.TagOf(keys.front());
    if (!together) return std::string(protocol::kCrossSlot);
  }
  *shard_id = topology_->shards[shard].id;
  return "";
}

RequestHandler::Outcome Router::SendToShard(ClientSession& session, const CommandRow& row,
                                            std::string_view frame, const BlockRef* block, uint32_t shard) {
  ShardConnection& connection = pool_.Pick(shard, session.state().db, session.state().resp);
  if (MustWaitItsTurn(session, connection)) return Outcome::kStall;
  switch (connection.admission()) {
    case ShardConnection::Admission::kOpen:
      break;
    case ShardConnection::Admission::kFull:
      connection.WaitForRoom(session.state().id);
      return Outcome::kStall;
    case ShardConnection::Admission::kDown:
      requests_.stats().by_shard.At(topology_->shards[shard].id).errors.Add();
      session.ReplyError(row.id, connection.DownError());
      return Outcome::kTaken;
  }
  Request* request = session.NewRequest(row.id);
  request->parts_pending = 1;
  connection.Send(request, 0, frame, block);
  return Outcome::kTaken;
}

RequestHandler::Outcome Router::SendEvalSha(ClientSession& session, const CommandRow& row,
                                            const RequestView& request, uint32_t shard) {
  const uint32_t target[] = {shard};
  if (!AdmitParts(session, target)) return Outcome::kStall;
  Request* sent = session.NewRequest(row.id);
  const uint32_t shard_id = topology_->shards[shard].id;
  sent->collector.reset(
      new EvalShaCollector(sender_, scripts_, shard_id, session.state().db, request[1], request.frame()));
  sender_.SendPart(*sent, 0, shard_id, session.state().db, request.frame());
  return Outcome::kTaken;
}

RequestHandler::Outcome Router::SendAskKeys(ClientSession& session, const CommandRow& row,
                                            const RequestView& request) {
  const uint32_t target[] = {AnyShard()};
  if (!AdmitParts(session, target)) return Outcome::kStall;
  Request* sent = session.NewRequest(row.id);
  sent->collector.reset(new AskKeysCollector(sender_, *this, session.state().db, request.frame()));
  scratch_.clear();
  protocol::AppendHeader(scratch_, request.size() + 2);
  protocol::AppendArg(scratch_, "COMMAND");
  protocol::AppendArg(scratch_, "GETKEYS");
  for (size_t i = 0; i < request.size(); ++i) protocol::AppendArg(scratch_, request[i]);
  sender_.SendPart(*sent, 0, topology_->shards[target[0]].id, session.state().db, scratch_);
  return Outcome::kTaken;
}

void Router::RememberScript(std::string_view body) {
  if (seen_generation_ != scripts_.generation() || seen_scripts_.size() >= kMaxSeenScripts) {
    seen_scripts_.clear();
    seen_generation_ = scripts_.generation();
  }
  if (seen_scripts_.insert(ring::Xxh3(body)).second) scripts_.Remember(body);
}

// --- several shards ---

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
  for (const uint32_t shard : shards) {
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
  // Parts in the order in which their first key came.
  part_of_shard_.resize(topology_->shards.size(), -1);
  part_shards_.clear();
  part_keys_.clear();
  key_parts_.clear();
  for (size_t i = 1; i < request.size(); i += step) {
    const uint32_t shard = topology_->Locate(request[i]);
    int32_t& part = part_of_shard_[shard];
    if (part < 0) {
      part = static_cast<int32_t>(part_shards_.size());
      part_shards_.push_back(shard);
      part_keys_.push_back(0);
    }
    ++part_keys_[static_cast<size_t>(part)];
    key_parts_.push_back(static_cast<uint32_t>(part));
  }
  for (const uint32_t shard : part_shards_) part_of_shard_[shard] = -1;
  if (part_shards_.size() == 1) {
    return SendToShard(session, row, request.frame(), block, part_shards_.front());
  }
  if (!AdmitParts(session, part_shards_)) return Outcome::kStall;
  return SendSplit(session, row, request, block);
}

RequestHandler::Outcome Router::SendSplit(ClientSession& session, const CommandRow& row,
                                          const RequestView& request, const BlockRef* block) {
  const size_t parts = part_shards_.size();
  SplitCollector* collector = collectors_.Take(row.response, parts);
  Request* sent = session.NewRequest(row.id);
  sent->collector.reset(collector);
  sent->parts_pending = static_cast<uint32_t>(parts);
  if ((row.flags & protocol::kWrite) != 0) collector->set_partial_write();
  // Each part's frame grows at the end of its shard's output while the keys are gone through once.
  part_outputs_.assign(parts, nullptr);
  for (uint32_t part = 0; part < parts; ++part) {
    ShardConnection& connection = pool_.Pick(part_shards_[part], session.state().db, session.state().resp);
    if (connection.admission() == ShardConnection::Admission::kDown) continue;
    OutputQueue& out = connection.BeginFrame(sent, part);
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
    if (part_outputs_[part] != nullptr) continue;
    ShardConnection& connection = pool_.Pick(part_shards_[part], session.state().db, session.state().resp);
    requests_.OnError(sent, part, connection.DownError());
  }
  return Outcome::kTaken;
}

RequestHandler::Outcome Router::SendToAll(ClientSession& session, const CommandRow& row,
                                          std::string_view frame, const BlockRef* block,
                                          CollectorPtr collector) {
  part_shards_.clear();
  for (uint32_t shard = 0; shard < pool_.shards(); ++shard) part_shards_.push_back(shard);
  if (!AdmitParts(session, part_shards_)) return Outcome::kStall;
  Request* sent = session.NewRequest(row.id);
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
    requests_.OnError(sent, shard, connection.DownError());
  }
  return Outcome::kTaken;
}

RequestHandler::Outcome Router::SendToAny(ClientSession& session, const CommandRow& row,
                                          std::string_view frame, const BlockRef* block) {
  return SendToShard(session, row, frame, block, AnyShard());
}

uint32_t Router::AnyShard() {
  const auto shards = static_cast<uint32_t>(pool_.shards());
  uint32_t shard = next_any_++ % shards;
  for (uint32_t tries = 1; tries < shards && pool_.IsDown(shard); ++tries) shard = (shard + 1) % shards;
  return shard;
}

}  // namespace ringway::proxy
