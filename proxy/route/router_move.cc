// The router while keys move from one shard to another.
#include <utility>

#include "protocol/number_text.h"
#include "proxy/move/test_fault.h"
#include "proxy/route/router.h"
#include "proxy/words.h"

namespace ringway::proxy {

using protocol::CommandRow;
using protocol::RequestView;

// A request on keys that move waits while their owner changes (kHolding), and until they have been brought to
// the new one (kMoving). What the session has under way on the same keys comes first: pulls of one key are
// answered in the order in which they were asked for, so requests of one key each may follow one another;
// around those of several keys everything else waits.
std::optional<RequestHandler::Outcome> Router::AwaitKeys(ClientSession& session, const CommandRow& row,
                                                         const RequestView& request, const BlockRef* block,
                                                         uint32_t shard) {
  const TestFault fault = CurrentTestFault();
  const bool in_order = fault != TestFault::kForgetOrder;
  if (in_order && (session.pulls_of_several() > 0 || (session.pulls() > 0 && !topology_->moving()))) {
    session.StallUntilAnswered();
    return Outcome::kStall;
  }
  if (topology_->move == nullptr) return std::nullopt;
  FindPulls(row, request, session.state().db);
  if (topology_->holding()) {
    if (!any_key_moves_ || fault == TestFault::kSkipHold) return std::nullopt;
    return StallUntilTopology();
  }
  const bool patterns = any_key_moves_ && HasSortPatterns(row, request);
  if ((pulls_.empty() && !patterns) || fault == TestFault::kSkipPull) return std::nullopt;
  if (const auto outcome = CheckPullOrder(session)) return outcome;
  WaitingCommand command;
  command.row = &row;
  command.learned = learned_;
  const std::string_view frame = request.frame();
  command.frame = block == nullptr ? requests_.Copy(frame) : Slice{*block, frame.data(), frame.size()};
  command.args.assign(request.args().begin(), request.args().end());
  command.db = session.state().db;
  command.topology = topology_;
  command.epoch_token = epoch_token_;
  command.keys.assign(keys_.begin(), keys_.end());
  command.shard = shard;
  // Of a key in two databases it may be the other one's that is waited for.
  command.several = keys_.size() > 1 || pulls_.size() > 1 || &row == move_ || patterns;
  command.patterns = patterns;
  Request* sent = NewRequest(session, row);
  if (!pulls_.empty()) {
    StartPulls(*sent, std::move(command));
  } else {
    sent->parts_pending = 1;
    Continue(*sent, command);
    requests_.EndPart(sent);
  }
  return Outcome::kTaken;
}

bool Router::HasSortPatterns(const CommandRow& row, const RequestView& request) {
  if (&row != sort_ && &row != sort_ro_) return false;
  protocol::FindSortPatterns(request, &patterns_);
  return !patterns_.empty();
}

void Router::AskSortElements(Request& request, const WaitingCommand& command) {
  if (request.client != nullptr) request.client->BeginPull(true);
  auto* collector = new SortCollector(*this, command);
  request.collector.reset(collector);
  sender_.SendInOrder(request, 0, command.topology->shards[command.shard].id, command.db,
                      collector->QuestionFrame(), nullptr);
}

void Router::ContinueSort(Request& request, WaitingCommand command, const std::vector<std::string>& keys) {
  command.patterns = false;
  // Under the topology that the command began with: it is the one under which the owner was chosen.
  const Topology& topology = *command.topology;
  pulls_.clear();
  for (const std::string& key : keys) {
    const uint64_t hash = topology.ring.Hash(key);
    if (topology.move->Moves(hash)) pulls_.push_back({command.db, key, hash});
  }
  if (pulls_.empty()) {
    Continue(request, command);
  } else {
    StartPulls(request, std::move(command));
  }
}

void Router::FindPulls(const CommandRow& row, const RequestView& request, uint32_t db) {
  pulls_.clear();
  any_key_moves_ = false;
  for (const uint32_t index : keys_) AddPull(*topology_, db, request[index]);
  if (const auto other = KeyInOtherDatabase(row, request, db)) AddPull(*topology_, other->db, other->key);
}

std::optional<Router::DatabaseKey> Router::KeyInOtherDatabase(const CommandRow& row,
                                                              const RequestView& request, uint32_t db) const {
  std::optional<int64_t> other;
  std::string_view key;
  if (&row == move_) {
    other = protocol::ParseInt64(request[2]);
    key = request[1];
  } else if (&row == copy_) {
    for (size_t i = 3; i + 1 < request.size(); ++i) {
      if (IsWord(request[i], "db")) other = protocol::ParseInt64(request[i + 1]);
    }
    key = request[2];
  }
  if (!other.has_value() || *other < 0 || *other > INT32_MAX || *other == db) return std::nullopt;
  return DatabaseKey{static_cast<uint32_t>(*other), key};
}

void Router::AddPull(const Topology& topology, uint32_t db, std::string_view key) {
  const uint64_t hash = topology.ring.Hash(key);
  if (!topology.move->Moves(hash)) return;
  any_key_moves_ = true;
  if (topology.moving() && !puller_.Has(db, key)) pulls_.push_back({db, key, hash});
}

// A command that has waited goes to the first connection of each of its lanes: what the session has under way
// on a further one comes first.
std::optional<RequestHandler::Outcome> Router::CheckPullOrder(ClientSession& session) {
  if (session.detour().number != 0 && session.pending() > 0) {
    session.StallUntilAnswered();
    return Outcome::kStall;
  }
  if (puller_.HasRoom()) return std::nullopt;
  puller_.WaitForRoom(session.state().id);
  return Outcome::kStall;
}

void Router::StartPulls(Request& request, WaitingCommand command) {
  // Until the last of pulls_ is there.
  ++request.parts_pending;
  if (request.client != nullptr) request.client->BeginPull(command.several);
  const std::shared_ptr<const MovePlan> plan = command.topology->move;
  auto* collector = new PullCollector(pool_, requests_, *this, std::move(command));
  request.collector.reset(collector);
  collector->Expect(pulls_.size());
  for (const KeyToPull& pull : pulls_) puller_.Pull(plan, pull.hash, pull.db, pull.key, request, *collector);
}

void Router::Continue(Request& request, const WaitingCommand& command) {
  const RequestView view = command.view();
  const CommandRow& row = *command.row;
  uint32_t shard = command.shard;
  if (row.request == protocol::RequestPolicy::kSplit) {
    FindParts(*command.topology, view, static_cast<size_t>(row.key_step), nullptr);
    if (part_shards_.size() > 1) {
      StartSplit(request, Destination{*command.topology, command.db, true}, row, view, &command.frame.block);
      return;
    }
    shard = part_shards_.front();
  }
  if (command.patterns) {
    AskSortElements(request, command);
    return;
  }
  const uint32_t shard_id = command.topology->shards[shard].id;
  if (protocol::MayBlock(row, view)) {
    Block(request, row, command.learned, view, shard_id, command.db);
    return;
  }
  if (&row == exec_) {
    SendBatch(request, shard_id, command.db, command.batch, command.batch_replies);
    return;
  }
  if (&row == watch_) {
    SendWatch(request, view.frame(), shard_id, command.db);
    return;
  }
  if (&row == evalsha_ || &row == evalsha_ro_) {
    request.collector = NewEvalShaCollector(view, shard_id, command.db, command.epoch_token);
  }
  sender_.SendInOrder(request, 0, shard_id, command.db, view.frame(), &command.frame.block);
}

}  // namespace ringway::proxy
