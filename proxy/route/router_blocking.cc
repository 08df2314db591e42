// The router's commands that wait at their shard: each on a connection of its client's own.
#include <algorithm>
#include <string>
#include <utility>

#include "protocol/command_writer.h"
#include "protocol/error_replies.h"
#include "protocol/number_text.h"
#include "proxy/blocking/blocked_request.h"
#include "proxy/blocking/blocking_command.h"
#include "proxy/blocking/wait_collector.h"
#include "proxy/client/errand.h"
#include "proxy/route/router.h"

namespace ringway::proxy {

using protocol::CommandRow;
using protocol::KeyStatus;
using protocol::RequestView;

namespace {

// Takes the answer to CLIENT UNBLOCK: if nobody was waiting yet, the next look at those that leave asks
// again.
class IgnoringCollector final : public ReplyCollector {
 public:
  void OnPart(Request&, uint32_t, const Slice&) override {}
  void Finish(Request&, OutputQueue&) override {}
};

}  // namespace

RequestHandler::Outcome Router::RouteBlocking(ClientSession& session, const CommandRow& row,
                                              const RequestView& request, const BlockRef* block) {
  if (protocol::FindKeys(row, request, &keys_) != KeyStatus::kOk) {
    return SendToAny(session, row, request.frame(), block);
  }
  uint32_t shard = 0;
  if (const std::string error = CheckKeys(request, keys_, &shard); !error.empty()) {
    session.Reject(row.id, error);
    return Outcome::kTaken;
  }
  // On another connection than what is under way, so after it.
  if (session.pending() > 0) {
    session.StallUntilAnswered();
    return Outcome::kStall;
  }
  if (!pool_.own().HasRoom()) {
    session.ReplyError(row.id, kNoOwnConnection);
    return Outcome::kTaken;
  }
  if (careful_) {
    const auto outcome = AwaitKeys(session, row, request, nullptr, shard);
    if (outcome.has_value()) {
      if (*outcome == Outcome::kTaken) session.state().modes |= SessionState::kAwaitsReply;
      return *outcome;
    }
  }
  session.state().modes |= SessionState::kAwaitsReply;
  Request* sent = session.NewRequest(row.id);
  sent->parts_pending = 1;
  Block(*sent, row, nullptr, request, topology_->shards[shard].id, session.state().db);
  requests_.EndPart(sent);
  return Outcome::kTaken;
}

// The keys are there. The request is held by one part.
void Router::Block(Request& request, const CommandRow& row,
                   std::shared_ptr<const protocol::LearnedCommands> learned, const RequestView& view,
                   uint32_t shard_id, uint32_t db) {
  OwnConnection connection;
  if (request.client != nullptr) connection = pool_.own().Take(shard_id, db, request.resp, nullptr);
  if (!connection) {
    ++request.parts_pending;
    requests_.Refuse(&request, 0, pool_.own().HasRoom() ? kShardHasLeft : kNoOwnConnection);
    return;
  }
  const std::optional<int64_t> timeout = BlockingTimeoutUsec(row, view);
  const int64_t until_usec = timeout.value_or(0) == 0 ? 0 : requests_.now_usec() + *timeout;
  auto* blocked = new BlockedRequest(*this, request,
                                     {&row,
                                      std::move(learned),
                                      std::string(view.frame()),
                                      {view.args().begin(), view.args().end()},
                                      db,
                                      until_usec});
  request.collector.reset(blocked);
  request.client->state().modes |= SessionState::kBlocked;
  blocked_.insert(blocked);
  CountHotWrites(*blocked);
  blocked->Begin(std::move(connection), view.frame());
}

// Of keys that are hot now, or have become so.
void Router::CountHotWrites(BlockedRequest& blocked) {
  const BlockedRequest::Command& command = blocked.command();
  if (!hot_keys_.watching() || (command.row->flags & protocol::kReadonly) != 0) return;
  protocol::FindKeys(*command.row, command.view(), &keys_);
  for (const uint32_t index : keys_) {
    const std::string_view key = command.view()[index];
    if (HotEntry* entry = hot_keys_.Find(command.db, key, topology_->ring.Hash(key))) {
      blocked.BeginHotWrite(entry->placement->key);
    }
  }
}

void Router::EndHotWrite(const std::shared_ptr<HotKey>& key, bool in_doubt) {
  if (in_doubt) {
    hot_keys_.settling().Add(key, ServersOf(key->key()));
  } else {
    key->EndWrite();
  }
}

bool Router::Unblock(const ClientSession& session, bool error) {
  const auto found = std::find_if(blocked_.begin(), blocked_.end(), [&](BlockedRequest* blocked) {
    return blocked->request().client == &session;
  });
  if (found == blocked_.end() || !(*found)->connection()) return false;
  (*found)->Unblock(error);
  return true;
}

void Router::Wake(const OwnConnection& connection, bool error) {
  ShardConnection* shared = pool_.FirstById(connection.shard_id(), 0, 2);
  if (shared == nullptr || shared->admission() == ShardConnection::Admission::kDown) return;
  std::string frame;
  protocol::AppendCommand(
      frame, {"CLIENT", "UNBLOCK", std::to_string(connection->client_id()), error ? "ERROR" : "TIMEOUT"});
  Request* request = requests_.NewInternal(CollectorPtr(new IgnoringCollector));
  request->parts_pending = 1;
  shared->Send(request, 0, frame, nullptr);
}

void Router::OnEnded(BlockedRequest& blocked) {
  blocked_.erase(&blocked);
  std::erase(released_, &blocked);
}

void Router::TickBlocked() {
  for (BlockedRequest* blocked : blocked_) blocked->WakeAgain();
  for (const auto& errand : errands_) {
    if (errand->session().stopped()) errand->session().MarkResumable();
  }
  std::erase_if(errands_, [](const auto& errand) { return errand->done(); });
}

void Router::PutBack(uint32_t db, std::string frame) {
  errands_.push_back(std::make_unique<Errand>(*sessions_, db, std::move(frame)));
  errands_.back()->Run();
}

// --- while keys move ---

// A hold has begun: nobody is to take a key from where it is any more.
void Router::ReleaseBlocked() {
  const std::vector<BlockedRequest*> all(blocked_.begin(), blocked_.end());
  for (BlockedRequest* blocked : all) {
    protocol::FindKeys(*blocked->command().row, blocked->command().view(), &keys_);
    const bool moves = std::any_of(keys_.begin(), keys_.end(), [&](uint32_t index) {
      return topology_->move->Moves(topology_->ring.Hash(blocked->command().view()[index]));
    });
    if (moves) blocked->LeaveServer();
  }
}

bool Router::BlockedAreReleased() const {
  return std::none_of(blocked_.begin(), blocked_.end(),
                      [](const BlockedRequest* blocked) { return blocked->leaving(); });
}

void Router::OnReleased(BlockedRequest& blocked) {
  released_.push_back(&blocked);
  if (!topology_->holding()) BeginReleased();
}

void Router::BeginReleased() {
  std::vector<BlockedRequest*> released;
  released.swap(released_);
  for (BlockedRequest* blocked : released) {
    const BlockedRequest::Command& command = blocked->command();
    protocol::KeyList keys;
    protocol::FindKeys(*command.row, command.view(), &keys);
    blocked->ExpectKeys(keys.size());
    for (const uint32_t index : keys) {
      const std::string_view key = command.view()[index];
      AwaitKey(blocked->request(), *blocked, command.db, key, topology_->ring.Hash(key));
    }
  }
}

// Its keys are there.
void Router::BeginAgain(BlockedRequest& blocked) {
  const BlockedRequest::Command& command = blocked.command();
  const RequestView view = command.view();
  protocol::FindKeys(*command.row, view, &keys_);
  const uint64_t hash = topology_->ring.Hash(view[keys_[0]]);
  if (IsHeld(hash)) {
    released_.push_back(&blocked);
    return;
  }
  OwnConnection connection = pool_.own().Take(OwnerOf(hash), command.db, blocked.request().resp, nullptr);
  if (!connection) {
    blocked.Fail(pool_.own().HasRoom() ? kShardHasLeft : kNoOwnConnection);
    return;
  }
  const int64_t left =
      command.until_usec == 0 ? 0 : std::max<int64_t>(command.until_usec - requests_.now_usec(), 1);
  blocked.Begin(std::move(connection), WithTimeout(*command.row, view, left, blocked.stream_ids()));
  requests_.EndPart(&blocked.request());
}

// --- WAIT ---

// A server answers for what its connection has seen, so each is asked for something first: the client's
// writes, which have been answered, came before.
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
  if (session.pending() > 0) {
    session.StallUntilAnswered();
    return Outcome::kStall;
  }
  std::vector<OwnConnection> connections;
  const size_t shards = topology_->ring.members().size();
  for (size_t i = 0; i < shards; ++i) {
    connections.push_back(pool_.own().Take(topology_->shards[i].id, 0, 2, nullptr));
    if (connections.back()) continue;
    session.ReplyError(row.id, kNoOwnConnection);
    return Outcome::kTaken;
  }
  session.state().modes |= SessionState::kAwaitsReply | SessionState::kBlocked;
  Request* sent = session.NewRequest(row.id);
  auto* collector = new WaitCollector(requests_, std::move(connections), [this] { --waiting_; });
  sent->collector.reset(collector);
  ++waiting_;
  sent->parts_pending = static_cast<uint32_t>(shards) + 1;
  std::string frames;
  protocol::AppendCommand(frames, {"PING"});
  protocol::AppendCommand(frames, {"WAIT", request[1], request[2]});
  for (size_t i = 0; i < shards; ++i) {
    ShardConnection& connection = *collector->connections()[i];
    connection.set_patient(true);
    connection.SendBatch(sent, frames, 2, static_cast<uint32_t>(i));
  }
  requests_.EndPart(sent);
  return Outcome::kTaken;
}

}  // namespace ringway::proxy
