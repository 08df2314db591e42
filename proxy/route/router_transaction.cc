// The router's transactions: MULTI, EXEC, DISCARD, WATCH, UNWATCH, and what is queued between.
#include <string>
#include <utility>

#include "protocol/command_writer.h"
#include "protocol/error_replies.h"
#include "proxy/hotkey/bucket_name.h"
#include "proxy/route/router.h"
#include "proxy/transaction/own_reply.h"
#include "proxy/transaction/parts_runner.h"
#include "proxy/transaction/transaction.h"

namespace ringway::proxy {

using protocol::CommandRow;
using protocol::KeyStatus;
using protocol::RequestPolicy;
using protocol::RequestView;

namespace {

constexpr std::string_view kTooLarge = "ERR the transaction is larger than limits.request_bytes allows";
constexpr std::string_view kKeysUnknown =
    "ERR only a shard can tell the keys of this command, which a transaction cannot wait for";
constexpr std::string_view kPatternsMove =
    "MOVEFAIL keys that SORT's patterns mean are being moved, and a transaction cannot wait for them";

// What any shard answers as the proxy would, so that it need not stand apart.
bool AnyShardAnswersAlike(const CommandRow& row) {
  return row.name == "ping" || row.name == "echo" || row.name == "time" || row.name == "lolwut";
}

}  // namespace

// --- queueing ---

RequestHandler::Outcome Router::Queue(ClientSession& session, const CommandRow& row,
                                      const RequestView& request) {
  if (&row == exec_ || &row == discard_ || &row == multi_ || &row == watch_ || row.name == "quit" ||
      row.name == "reset") {
    return Execute(session, row, request, nullptr);
  }
  Transaction& transaction = session.transaction();
  if ((row.flags & protocol::kNoMulti) != 0) {
    session.Reject(row.id, protocol::kNotInTransaction);
    return Outcome::kTaken;
  }
  if (row.request == RequestPolicy::kUnsupported) {
    session.Reject(row.id, protocol::UnsupportedText(row));
    return Outcome::kTaken;
  }
  if (transaction.bytes() + request.frame().size() > session.environment().limits.request.max_request_bytes) {
    session.Reject(row.id, kTooLarge);
    return Outcome::kTaken;
  }
  Transaction::Command command{std::string(request.frame()), GoesApart(row), ""};
  if (!command.apart) {
    if (const std::string error = QueueKeys(session, row, request); !error.empty()) {
      session.Reject(row.id, error);
      return Outcome::kTaken;
    }
  }
  if (&row == eval_ || &row == eval_ro_) RememberScript(request[1]);
  if (&row == script_load_ && !command.apart) scripts_.Remember(request[2]);
  if (&row == evalsha_ || &row == evalsha_ro_) command.script_sha = request[1];
  if ((row.flags & (protocol::kWrite | protocol::kMayReplicate)) != 0) transaction.NoteWrite();
  transaction.Add(std::move(command));
  session.Reply(row.id, "+QUEUED\r\n");
  return Outcome::kTaken;
}

// Over one member the shard can do what concerns all keys itself, so that it stays within the transaction.
bool Router::GoesApart(const CommandRow& row) const {
  switch (row.request) {
    case RequestPolicy::kOneShard:
    case RequestPolicy::kSplit:
    case RequestPolicy::kAnyShard:
    case RequestPolicy::kUnsupported:
      return false;
    case RequestPolicy::kLocal:
      return !AnyShardAnswersAlike(row);
    case RequestPolicy::kAllShards:
      return !topology_->OneMember() || topology_->shards.size() != 1;
    case RequestPolicy::kSpecial:
      return row.group != protocol::CommandGroup::kTransactions &&
             (!topology_->OneMember() || topology_->shards.size() != 1 || &row == scan_);
  }
  return false;
}

std::string Router::QueueKeys(ClientSession& session, const CommandRow& row, const RequestView& request) {
  Transaction& transaction = session.transaction();
  switch (protocol::FindKeys(row, request, &keys_)) {
    case KeyStatus::kOk:
      break;
    case KeyStatus::kNoKeys:
    case KeyStatus::kInvalid:
      return "";
    case KeyStatus::kAskServer:
      return std::string(kKeysUnknown);
  }
  uint32_t shard = 0;
  std::string error = CheckKeys(request, keys_, &shard);
  if (error.empty() && (&row == sort_ || &row == sort_ro_)) {
    error = CheckSortPatterns(request, shard);
    if (!patterns_.empty()) transaction.NotePatterns();
  }
  if (!error.empty()) return error;
  const std::string_view key = request[keys_[0]];
  if (const std::string* first = transaction.first_key(); first != nullptr && !topology_->OneMember()) {
    const bool together = topology_->ring.TagOf(key) == topology_->ring.TagOf(*first) ||
                          (same_shard_is_enough_ && topology_->Locate(*first) == shard);
    if (!together) return std::string(protocol::kCrossSlot);
  }
  if (transaction.watch() && transaction.watch()->shard_id() != topology_->shards[shard].id &&
      !WatchedKeysMayHaveMoved(transaction)) {
    return std::string(protocol::kCrossSlot);
  }
  const uint32_t db = session.state().db;
  const bool written = (row.flags & protocol::kReadonly) == 0;
  for (const uint32_t index : keys_) {
    sampler_.Note(db, request[index], false);
    transaction.AddKey({db, std::string(request[index]), written});
  }
  if (const auto other = KeyInOtherDatabase(row, request, db)) {
    transaction.AddKey({other->db, std::string(other->key), written});
  }
  return "";
}

// --- the commands ---

RequestHandler::Outcome Router::RouteTransaction(ClientSession& session, const CommandRow& row,
                                                 const RequestView& request) {
  Transaction& transaction = session.transaction();
  if (&row == watch_) return Watch(session, row, request);
  if (&row == exec_) return Exec(session, row);
  if (&row == multi_) {
    if (transaction.open()) {
      session.ReplyError(row.id, protocol::kNestedMulti);
      return Outcome::kTaken;
    }
    transaction.Open();
    session.state().modes |= SessionState::kInTransaction;
  } else if (&row == discard_) {
    if (!transaction.open()) {
      session.ReplyError(row.id, protocol::kDiscardWithoutMulti);
      return Outcome::kTaken;
    }
    EndTransaction(session);
    transaction.Unwatch();
  } else {
    transaction.Unwatch();
  }
  session.Reply(row.id, "+OK\r\n");
  return Outcome::kTaken;
}

void Router::EndTransaction(ClientSession& session) {
  session.transaction().Close();
  session.state().modes &= static_cast<uint8_t>(~SessionState::kInTransaction);
}

RequestHandler::Outcome Router::Exec(ClientSession& session, const CommandRow& row) {
  Transaction& transaction = session.transaction();
  if (!transaction.open()) {
    session.ReplyError(row.id, protocol::kExecWithoutMulti);
    return Outcome::kTaken;
  }
  if (transaction.tainted()) {
    EndTransaction(session);
    transaction.Unwatch();
    session.ReplyError(row.id, protocol::kExecAbort);
    return Outcome::kTaken;
  }
  if (transaction.watching() && (transaction.dirty() || WatchedKeysMayHaveMoved(transaction))) {
    EndTransaction(session);
    transaction.Unwatch();
    session.Reply(row.id, session.state().resp == 2 ? "*-1\r\n" : "_\r\n");
    return Outcome::kTaken;
  }
  if (transaction.commands().empty() && !transaction.watching()) {
    EndTransaction(session);
    session.Reply(row.id, "*0\r\n");
    return Outcome::kTaken;
  }
  if (!transaction.has_commands_apart()) return SendTransaction(session, row);
  if (session.pending() > 0) {
    session.StallUntilAnswered();
    return Outcome::kStall;
  }
  Request* sent = session.NewRequest(row.id);
  auto* runner = new PartsRunner(session, *sent, transaction);
  sent->collector.reset(runner);
  sent->parts_pending = 1;
  EndTransaction(session);
  session.state().modes |= SessionState::kAwaitsReply;
  runner->Start();
  return Outcome::kTaken;
}

// --- sending ---

RequestHandler::Outcome Router::SendTransaction(ClientSession& session, const CommandRow& row) {
  Transaction& transaction = session.transaction();
  const std::string* key = transaction.first_key();
  if (const auto outcome = NoteTransactionKeys(session)) return *outcome;
  const uint32_t shard = key == nullptr ? AnyShard() : topology_->Locate(*key);
  if (careful_ && key != nullptr) {
    if (const auto outcome = AwaitTransactionKeys(session, row, shard)) return *outcome;
  }
  if (transaction.watching()) return SendOnWatch(session, row);
  const uint32_t target[] = {shard};
  if (!AdmitParts(session, target)) return Outcome::kStall;
  ShardConnection& connection = pool_.Pick(shard, session.state().db, session.state().resp);
  if (connection.admission() == ShardConnection::Admission::kDown) {
    EndTransaction(session);
    session.ReplyError(row.id, connection.DownError());
    return Outcome::kTaken;
  }
  size_t replies = 0;
  const std::string frames = BatchOf(session, &replies);
  EndTransaction(session);
  Request* sent = NewRequest(session, row);
  sent->parts_pending = 1;
  connection.SendBatch(sent, frames, replies);
  return Outcome::kTaken;
}

// Scripts that the shard may not know yet are shown to it first.
std::string Router::BatchOf(const ClientSession& session, size_t* replies) {
  const Transaction& transaction = *session.find_transaction();
  std::string frames;
  *replies = 0;
  for (const Transaction::Command& command : transaction.commands()) {
    if (command.script_sha.empty()) continue;
    if (const auto body = scripts_.Find(command.script_sha)) {
      protocol::AppendCommand(frames, {"SCRIPT", "LOAD", *body});
      ++*replies;
    }
  }
  Transaction::Batch batch = transaction.MakeBatch();
  *replies += batch.replies;
  return frames.empty() ? std::move(batch.frames) : frames + batch.frames;
}

// The connection may be one for another database or version than the session is in by now.
RequestHandler::Outcome Router::SendOnWatch(ClientSession& session, const CommandRow& row) {
  if (session.pending() > 0) {
    session.StallUntilAnswered();
    return Outcome::kStall;
  }
  Transaction& transaction = session.transaction();
  const SessionState& state = session.state();
  size_t replies = 0;
  std::string frames = BatchOf(session, &replies);
  OwnConnection connection = transaction.TakeWatch();
  connection->set_owner(nullptr);
  connection->Switch(state.db, state.resp);
  EndTransaction(session);
  session.state().modes |= SessionState::kAwaitsReply;
  Request* sent = NewRequest(session, row);
  auto* reply = new OwnReply(std::move(connection));
  sent->collector.reset(reply);
  sent->parts_pending = 1;
  ShardConnection& to = *reply->connection();
  to.SendBatch(sent, frames, replies);
  return Outcome::kTaken;
}

void Router::SendBatch(Request& request, uint32_t shard_id, uint32_t db, std::string_view frames,
                       size_t replies) {
  ShardConnection* connection = pool_.FirstById(shard_id, db, request.resp);
  ++request.parts_pending;
  if (connection == nullptr) {
    requests_.Refuse(&request, 0, kShardHasLeft);
  } else if (connection->admission() == ShardConnection::Admission::kDown) {
    requests_.Refuse(&request, 0, connection->DownError());
  } else {
    connection->SendBatch(&request, frames, replies);
  }
}

// --- keys that are hot, or move ---

// Reads in a transaction go to the key itself, and those behind them must not be older.
std::optional<RequestHandler::Outcome> Router::NoteTransactionKeys(ClientSession& session) {
  if (!hot_keys_.watching()) return std::nullopt;
  if (session.bucket_reads() > 0) {
    session.StallUntilAnswered();
    return Outcome::kStall;
  }
  if (session.pending() == 0) session.hot_trail().Clear();
  for (const Transaction::Key& key : session.transaction().keys()) {
    HotEntry* entry = hot_keys_.Find(key.db, key.key, topology_->ring.Hash(key.key));
    if (entry == nullptr) continue;
    if (key.written) hot_keys_.writes().Note(entry->placement->key);
    HotTrail::Step* step = session.FindHotStep(entry->key());
    if (step == nullptr) {
      session.hot_trail().Add({&entry->key(), session.next_request(), 0, 0, false, {}});
    } else {
      step->request = session.next_request();
    }
  }
  return std::nullopt;
}

std::optional<RequestHandler::Outcome> Router::AwaitTransactionKeys(ClientSession& session,
                                                                    const CommandRow& row, uint32_t shard) {
  if (session.pulls() > 0) {
    session.StallUntilAnswered();
    return Outcome::kStall;
  }
  if (topology_->move == nullptr) return std::nullopt;
  Transaction& transaction = session.transaction();
  pulls_.clear();
  any_key_moves_ = false;
  for (const Transaction::Key& key : transaction.keys()) AddPull(*topology_, key.db, key.key);
  if (topology_->holding()) {
    if (!any_key_moves_) return std::nullopt;
    return StallUntilTopology();
  }
  if (any_key_moves_ && transaction.patterns()) {
    EndTransaction(session);
    transaction.Unwatch();
    session.ReplyError(row.id, kPatternsMove);
    return Outcome::kTaken;
  }
  if (pulls_.empty()) return std::nullopt;
  // What is watched has been brought there with WATCH. Other keys of the tag have not, and to bring them
  // takes a while in which the connection is not looked at.
  if (transaction.watching()) {
    EndTransaction(session);
    transaction.Unwatch();
    session.Reply(row.id, session.state().resp == 2 ? "*-1\r\n" : "_\r\n");
    return Outcome::kTaken;
  }
  if (const auto outcome = CheckPullOrder(session)) return outcome;
  WaitingCommand command;
  command.row = &row;
  command.db = session.state().db;
  command.topology = topology_;
  command.epoch_token = epoch_token_;
  command.shard = shard;
  command.batch = BatchOf(session, &command.batch_replies);
  Request* sent = NewRequest(session, row);
  // The keys to be pulled are those of the transaction.
  StartPulls(*sent, std::move(command));
  EndTransaction(session);
  return Outcome::kTaken;
}

// --- WATCH ---

// A move that ended, began or turned since: others may have written the keys where this one does not look.
bool Router::WatchedKeysMayHaveMoved(const Transaction& transaction) const {
  return transaction.watch_generation() != topology_->generation;
}

RequestHandler::Outcome Router::Watch(ClientSession& session, const CommandRow& row,
                                      const RequestView& request) {
  Transaction& transaction = session.transaction();
  if (transaction.open()) {
    session.ReplyError(row.id, protocol::kWatchInsideMulti);
    return Outcome::kTaken;
  }
  protocol::FindKeys(row, request, &keys_);
  uint32_t shard = 0;
  std::string error = CheckKeys(request, keys_, &shard);
  const uint32_t shard_id = topology_->shards[shard].id;
  const bool moved = transaction.watching() && WatchedKeysMayHaveMoved(transaction);
  if (error.empty() && transaction.watch() && !moved && transaction.watch()->shard_id() != shard_id) {
    error = protocol::kCrossSlot;
  }
  if (!error.empty()) {
    session.Reject(row.id, error);
    return Outcome::kTaken;
  }
  if (session.pending() > 0) {
    session.StallUntilAnswered();
    return Outcome::kStall;
  }
  if (moved || transaction.dirty()) {
    // EXEC will answer nil whatever is watched besides.
    session.Reply(row.id, "+OK\r\n");
    return Outcome::kTaken;
  }
  if (careful_ && topology_->holding()) {
    FindPulls(row, request, session.state().db);
    if (any_key_moves_) return StallUntilTopology();
  }
  if (!transaction.watch()) {
    OwnConnection connection =
        pool_.own().Take(shard_id, session.state().db, session.state().resp, &transaction.owner());
    if (!connection) {
      session.ReplyError(row.id, pool_.own().HasRoom() ? kShardHasLeft : kNoOwnConnection);
      return Outcome::kTaken;
    }
    transaction.Watch(std::move(connection), topology_->generation);
  }
  session.state().modes |= SessionState::kAwaitsReply;
  if (careful_) {
    if (const auto outcome = AwaitKeys(session, row, request, nullptr, shard)) return *outcome;
  }
  Request* sent = session.NewRequest(row.id);
  sent->parts_pending = 1;
  SendWatch(*sent, request.frame(), shard_id, session.state().db);
  requests_.EndPart(sent);
  return Outcome::kTaken;
}

void Router::SendWatch(Request& request, std::string_view frame, uint32_t, uint32_t db) {
  ++request.parts_pending;
  Transaction* transaction = request.client == nullptr ? nullptr : &request.client->transaction();
  if (transaction == nullptr || !transaction->watch()) {
    requests_.Refuse(&request, 0, kShardHasLeft);
    return;
  }
  ShardConnection& connection = *transaction->watch();
  // Keys are watched in the session's database.
  connection.Switch(db, connection.resp());
  connection.Send(&request, 0, frame, nullptr);
}

}  // namespace ringway::proxy
