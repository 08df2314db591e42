#include "proxy/route/router.h"

#include <algorithm>
#include <utility>

#include "protocol/command_writer.h"
#include "protocol/error_replies.h"
#include "proxy/check.h"
#include "proxy/hotkey/bucket_name.h"
#include "proxy/log.h"
#include "proxy/transaction/transaction.h"
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

}  // namespace

Router::Router(ShardPool& pool, RequestTable& requests, ScriptCache& scripts, LocalHandler& local,
               Puller& puller)
    : pool_(pool),
      requests_(requests),
      scripts_(scripts),
      local_(local),
      puller_(puller),
      sender_(pool, requests),
      collectors_(requests),
      gate_queue_(pool.loop(), requests),
      hot_keys_(sender_, *this),
      sampler_(static_cast<uint64_t>(requests.now_usec()) + 1),
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
      randomkey_(protocol::FindCommand("randomkey")),
      keys_of_all_(protocol::FindCommand("keys")),
      dbsize_(protocol::FindCommand("dbsize")),
      flushall_(protocol::FindCommand("flushall")),
      flushdb_(protocol::FindCommand("flushdb")),
      move_(protocol::FindCommand("move")),
      copy_(protocol::FindCommand("copy")),
      multi_(protocol::FindCommand("multi")),
      exec_(protocol::FindCommand("exec")),
      discard_(protocol::FindCommand("discard")),
      watch_(protocol::FindCommand("watch")) {}

void Router::Adopt(std::shared_ptr<const Topology> topology) {
  if (topology_ != nullptr && topology_->moving()) moving_epochs_.push_back(epoch_token_);
  topology_ = std::move(topology);
  NewEpoch();
  puller_.Adopt(*topology_);
  hot_keys_.Adopt(*topology_);
  UpdateCare();
}

void Router::Adopt(const std::shared_ptr<const HotSet>& set) {
  hot_keys_.Adopt(set);
  UpdateCare();
  for (BlockedRequest* blocked : blocked_) CountHotWrites(*blocked);
}

void Router::ResumeParked() {
  if (topology_->holding()) {
    ReleaseBlocked();
  } else {
    BeginReleased();
    ResumeParkedReads();
  }
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
  if (pause_.mode != Pause::Mode::kNone && IsPaused(session, row)) [[unlikely]]
    return Outcome::kStall;
  const Outcome outcome =
      state.modes == 0 ? Execute(session, row, request, block) : ExecuteInMode(session, row, request, block);
  // It was refused, or will be tried again.
  if (hot_keys_.writes().has_notes()) [[unlikely]]
    hot_keys_.writes().Drop();
  if (outcome == Outcome::kTaken) {
    state.last_command_id = row.id;
    state.has_last_command = true;
    state.last_active_usec = requests_.now_usec();
    ++state.commands;
    requests_.stats().commands.Add();
  }
  return outcome;
}

RequestHandler::Outcome Router::Execute(ClientSession& session, const CommandRow& row,
                                        const RequestView& request, const BlockRef* block) {
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
}

std::optional<std::string> Router::Refusal(const ClientSession& session, const CommandRow& row) const {
  if (!session.state().authenticated && (row.flags & protocol::kNoAuth) == 0) {
    return std::string(protocol::kAuthRequired);
  }
  return std::nullopt;
}

RequestHandler::Outcome Router::RefuseReserved(ClientSession& session, const CommandRow& row) {
  session.Reject(row.id, kReservedKey);
  return Outcome::kTaken;
}

bool Router::IsPaused(const ClientSession& session, const CommandRow& row) const {
  if (requests_.now_usec() >= pause_.until_usec) return false;
  // CLIENT UNPAUSE must get through.
  if (row.name.starts_with("client|")) return false;
  if (&row == exec_ && session.find_transaction() != nullptr && session.find_transaction()->writes())
    return true;
  return pause_.mode == Pause::Mode::kAll || (row.flags & (protocol::kWrite | protocol::kMayReplicate)) != 0;
}

// --- one shard ---

RequestHandler::Outcome Router::RouteOneShard(ClientSession& session, const CommandRow& row,
                                              const RequestView& request, const BlockRef* block) {
  if (row.key_kind == KeyKind::kFirst) [[likely]] {
    if (IsBucketName(request[1])) [[unlikely]]
      return RefuseReserved(session, row);
    const uint64_t hash = topology_->ring.Hash(request[1]);
    const uint32_t shard = topology_->ring.Owner(hash);
    sampler_.Note(session.state().db, request[1], row);
    if (attentive_) [[unlikely]] {
      if (const auto outcome = LookTwice(session, row, request, block, hash)) return *outcome;
    }
    return SendToShard(session, row, request.frame(), block, shard);
  }
  if ((row.flags & protocol::kBlocking) != 0 && protocol::MayBlock(row, request)) {
    return RouteBlocking(session, row, request, block);
  }
  return RouteByKeys(session, row, request, block);
}

// For a request of which argument 1, with this hash, is the one key: nothing if it may go to the key's shard.
std::optional<RequestHandler::Outcome> Router::LookTwice(ClientSession& session, const CommandRow& row,
                                                         const RequestView& request, const BlockRef* block,
                                                         uint64_t hash) {
  keys_.Clear();
  keys_.Add(1);
  if (hot_keys_.watching()) {
    if (const auto outcome = RouteHotKey(session, row, request, hash)) return outcome;
  }
  if (!careful_) return std::nullopt;
  return AwaitKeys(session, row, request, block, topology_->ring.Owner(hash));
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
  std::string error = CheckKeys(request, keys_, &shard);
  if (error.empty() && (&row == sort_ || &row == sort_ro_)) error = CheckSortPatterns(request, shard);
  if (!error.empty()) {
    session.Reject(row.id, error);
    return Outcome::kTaken;
  }
  if (keys_.size() == 1) sampler_.Note(session.state().db, request[keys_[0]], row);
  if (hot_keys_.watching()) [[unlikely]] {
    if (const auto outcome = RouteHotKeys(session, row, request)) return *outcome;
  }
  if (careful_ && !keys_.empty()) [[unlikely]] {
    if (const auto outcome = AwaitKeys(session, row, request, block, shard)) return *outcome;
  }
  if (&row == evalsha_ || &row == evalsha_ro_) return SendEvalSha(session, row, request, shard);
  return SendToShard(session, row, request.frame(), block, shard);
}

// No key may be a hot key's copy. All must have one hash tag (or be one key): keys that merely share a shard
// today may part on the day a shard is added, and the application would break then. An option relaxes this.
std::string Router::CheckKeys(const RequestView& request, const protocol::KeyList& keys,
                              uint32_t* shard) const {
  if (keys.empty()) return "";
  for (const uint32_t index : keys) {
    if (IsBucketName(request[index])) return std::string(kReservedKey);
  }
  const std::string_view first = request[keys[0]];
  *shard = topology_->Locate(first);
  if (topology_->OneMember()) return "";
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
  protocol::FindSortPatterns(request, &patterns_);
  if (topology_->OneMember()) return "";
  const std::string_view tag = topology_->ring.TagOf(request[1]);
  for (const uint32_t index : patterns_) {
    if (topology_->ring.TagOf(request[index]) == tag) continue;
    if (same_shard_is_enough_ && topology_->Locate(request[index]) == shard) continue;
    return "ERR BY and GET patterns of SORT must have the hash tag of the sorted key";
  }
  return "";
}

std::string Router::SendByKeys(Request& request, AskedCommand command,
                               const std::vector<std::string_view>& keys) {
  // While the answer was on its way a hold may have begun, which waits for this command: its keys still go
  // where they went, and are not there before they have been pulled.
  const Topology& topology = *command.topology;
  const uint32_t shard = keys.empty() ? 0 : topology.Locate(keys.front());
  for (const std::string_view key : keys) {
    if (IsBucketName(key)) return std::string(kReservedKey);
    const bool together = same_shard_is_enough_ || topology.OneMember()
                              ? topology.Locate(key) == shard
                              : topology.ring.TagOf(key) == topology.ring.TagOf(keys.front());
    if (!together) return std::string(protocol::kCrossSlot);
  }
  AttachHotWrites(request, *command.row, command.db, keys);
  pulls_.clear();
  if (topology.moving()) {
    for (const std::string_view key : keys) AddPull(topology, command.db, key);
  }
  if (pulls_.empty()) {
    sender_.SendInOrder(request, 0, topology.shards[shard].id, command.db, command.frame, nullptr);
    return "";
  }
  WaitingCommand waiting;
  waiting.row = command.row;
  waiting.learned = std::move(command.learned);
  waiting.frame = requests_.Copy(command.frame);
  waiting.db = command.db;
  waiting.topology = std::move(command.topology);
  waiting.epoch_token = std::move(command.epoch_token);
  waiting.shard = shard;
  StartPulls(request, std::move(waiting));
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
  Request* request = NewRequest(session, row);
  request->parts_pending = 1;
  connection.Send(request, 0, frame, block);
  return Outcome::kTaken;
}

Request* Router::NewRequest(ClientSession& session, const CommandRow& row) {
  Request* request = session.NewRequest(row.id);
  if (hot_keys_.writes().has_notes()) [[unlikely]]
    hot_keys_.writes().Attach(*request);
  return request;
}

RequestHandler::Outcome Router::SendEvalSha(ClientSession& session, const CommandRow& row,
                                            const RequestView& request, uint32_t shard) {
  const uint32_t target[] = {shard};
  if (!AdmitParts(session, target)) return Outcome::kStall;
  Request* sent = NewRequest(session, row);
  const uint32_t shard_id = topology_->shards[shard].id;
  sent->collector = NewEvalShaCollector(request, shard_id, session.state().db, epoch_token_);
  sender_.SendPart(*sent, 0, shard_id, session.state().db, request.frame());
  return Outcome::kTaken;
}

CollectorPtr Router::NewEvalShaCollector(const RequestView& request, uint32_t shard_id, uint32_t db,
                                         const std::shared_ptr<const void>& epoch_token) {
  return CollectorPtr(
      new EvalShaCollector(sender_, scripts_, shard_id, db, request[1], request.frame(), epoch_token));
}

RequestHandler::Outcome Router::SendAskKeys(ClientSession& session, const CommandRow& row,
                                            const RequestView& request) {
  // Whether its keys move is known only when it can wait no more.
  if (topology_->holding()) return StallUntilTopology();
  // It may write the key that a bucket has been asked for, and that may yet be asked itself.
  if (session.bucket_reads() > 0) {
    session.StallUntilAnswered();
    return Outcome::kStall;
  }
  const uint32_t target[] = {AnyShard()};
  if (!AdmitParts(session, target)) return Outcome::kStall;
  session.hot_trail().NoteUnknown(session.next_request());
  Request* sent = session.NewRequest(row.id);
  sent->collector.reset(
      new AskKeysCollector(requests_, *this,
                           AskedCommand{&row, learned_, session.state().db, std::string(request.frame()),
                                        topology_, epoch_token_}));
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

}  // namespace ringway::proxy
