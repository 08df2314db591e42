// The router's side of hot keys: which requests a bucket may answer, and which end the use of copies.
#include <algorithm>
#include <utility>

#include "proxy/route/router.h"

namespace ringway::proxy {

using protocol::CommandRow;
using protocol::RequestView;

namespace {

bool MayWrite(const CommandRow& row) { return (row.flags & protocol::kReadonly) == 0; }

// A request of several keys has steps of its own before it counts as under way, so those that bind nobody
// any more are forgotten before its first key is looked at, and not in between.
void ForgetStepsWhenIdle(ClientSession& session) {
  if (session.pending() == 0) session.hot_trail().Clear();
}

}  // namespace

// For a request whose one key, with this hash, is argument 1 (and stands in keys_): nothing if it goes the
// usual way.
std::optional<RequestHandler::Outcome> Router::RouteHotKey(ClientSession& session, const CommandRow& row,
                                                           const RequestView& request, uint64_t hash) {
  if (CopyCanAnswer(row)) return ReadFromBucket(session, row, request, 1, hash);
  return NoteHotWrites(session, row, request);
}

// The same for keys_.
std::optional<RequestHandler::Outcome> Router::RouteHotKeys(ClientSession& session, const CommandRow& row,
                                                            const RequestView& request) {
  if (CopyCanAnswer(row) && keys_.size() == 1) {
    return ReadFromBucket(session, row, request, keys_[0], topology_->ring.Hash(request[keys_[0]]));
  }
  return NoteHotWrites(session, row, request);
}

std::optional<RequestHandler::Outcome> Router::ReadFromBucket(ClientSession& session, const CommandRow& row,
                                                              const RequestView& request, size_t key_index,
                                                              uint64_t hash) {
  if (const auto outcome = StallBehindBucketReads(session)) return outcome;
  HotEntry* entry = hot_keys_.Find(session.state().db, request[key_index], hash);
  if (entry == nullptr) return std::nullopt;
  ForgetStepsWhenIdle(session);
  // Which keys an older request reads a server has yet to say.
  bool must_wait = session.hot_trail().HasUnknown(session.answered());
  const auto choice = must_wait ? std::nullopt : ChooseBucket(session, *entry, &must_wait);
  if (must_wait) {
    session.StallUntilAnswered();
    return Outcome::kStall;
  }
  if (!choice.has_value()) return std::nullopt;
  hot_keys_.Read(*session.NewRequest(row.id), *choice, request, key_index);
  return Outcome::kTaken;
}

// A bucket; nothing: the key itself. Sets `must_wait`: neither, before what is under way has been answered
// (HotTrail).
std::optional<BucketChoice> Router::ChooseBucket(ClientSession& session, HotEntry& entry, bool* must_wait) {
  const uint8_t resp = session.state().resp;
  HotTrail::Step* step = session.FindHotStep(entry.key());
  std::optional<BucketChoice> choice;
  if (step == nullptr) {
    choice = hot_keys_.Choose(entry, resp);
    HotTrail::Step first{&entry.key(), session.next_request(), 0, 0, false, {}};
    if (choice.has_value()) {
      first.copy = choice->copy;
      first.bucket = choice->bucket;
      first.escorted = choice->escorted;
      first.place = choice->connection->place();
    }
    session.hot_trail().Add(first);
    return choice;
  }
  if (step->copy != 0) {
    choice = hot_keys_.ChooseAgain(entry, resp, *step);
  } else {
    hot_keys_.CountReadOfKey(entry);
  }
  // Answers of buckets are held whole, so a client that asks for large ones gets them one by one.
  const auto held = static_cast<size_t>(entry.placement->bytes.load(std::memory_order_relaxed)) *
                    (session.bucket_reads() + 1);
  const bool moves = ++step->followers > HotTrail::kMaxFollowers ||
                     (step->copy != 0 && (!choice.has_value() || held > ClientSession::kSoftOutputBytes));
  // With nothing under way the step is of this very request, which names the key again.
  if (moves && session.pending() > 0) *must_wait = true;
  step->request = session.next_request();
  return choice;
}

// A read that a bucket was asked for may yet be asked of the key itself: what its client writes after it
// waits until that is over.
std::optional<RequestHandler::Outcome> Router::NoteHotWrites(ClientSession& session, const CommandRow& row,
                                                             const RequestView& request) {
  const uint32_t db = session.state().db;
  if (!MayWrite(row)) return NoteReads(session, request);
  const auto note = [this](uint32_t in_db, std::string_view key) {
    if (HotEntry* entry = hot_keys_.Find(in_db, key, topology_->ring.Hash(key))) {
      hot_keys_.writes().Note(entry->placement->key);
    }
  };
  for (const uint32_t index : keys_) note(db, request[index]);
  if (const auto other = KeyInOtherDatabase(row, request, db)) note(other->db, other->key);
  return StallBehindBucketReads(session);
}

// Of hot keys among keys_, by a command that no bucket can answer.
std::optional<RequestHandler::Outcome> Router::NoteReads(ClientSession& session, const RequestView& request) {
  if (const auto outcome = StallBehindBucketReads(session)) return outcome;
  ForgetStepsWhenIdle(session);
  for (const uint32_t index : keys_) {
    const std::string_view key = request[index];
    HotEntry* entry = hot_keys_.Find(session.state().db, key, topology_->ring.Hash(key));
    if (entry == nullptr) continue;
    HotTrail::Step* step = session.FindHotStep(entry->key());
    if (step == nullptr) {
      session.hot_trail().Add({&entry->key(), session.next_request(), 0, 0, false, {}});
    } else if (step->copy == 0) {
      step->request = session.next_request();
    } else {
      session.StallUntilAnswered();
      return Outcome::kStall;
    }
  }
  return std::nullopt;
}

std::optional<RequestHandler::Outcome> Router::NoteFlush(ClientSession& session, const CommandRow& row) {
  hot_keys_.NoteAll(&row == flushdb_ ? std::optional(session.state().db) : std::nullopt);
  return StallBehindBucketReads(session);
}

// For what has been noted to be written; and for any request on keys while a key that is not hot any more has
// reads at buckets: of which key they are the session does not know.
std::optional<RequestHandler::Outcome> Router::StallBehindBucketReads(ClientSession& session) {
  if (session.bucket_reads() == 0) return std::nullopt;
  if (!hot_keys_.writes().has_notes() && !hot_keys_.has_leavers()) return std::nullopt;
  session.StallUntilAnswered();
  return Outcome::kStall;
}

void Router::AttachHotWrites(Request& request, const CommandRow& row, uint32_t db,
                             const std::vector<std::string_view>& keys) {
  if (!hot_keys_.watching() || !MayWrite(row)) return;
  for (const std::string_view key : keys) {
    if (HotEntry* entry = hot_keys_.Find(db, key, topology_->ring.Hash(key))) {
      hot_keys_.writes().Note(entry->placement->key);
    }
  }
  if (hot_keys_.writes().has_notes()) hot_keys_.writes().Attach(request);
}

// --- where keys are ---

void Router::AwaitKey(Request& request, PullWaiter& waiter, uint32_t db, std::string_view key,
                      uint64_t hash) {
  // The worker ends, and nobody pulls keys any more.
  if (pool_.shards() == 0) {
    waiter.OnKeyPulled(request, {PullOutcome::Kind::kSourceTrouble, std::string(kShardHasLeft)});
    return;
  }
  if (topology_->move != nullptr && topology_->move->Moves(hash)) {
    if (topology_->holding()) {
      parked_reads_.push_back({&request, &waiter, db, std::string(key), hash});
      return;
    }
    if (!puller_.Has(db, key)) {
      puller_.Pull(topology_->move, hash, db, key, request, waiter);
      return;
    }
  }
  waiter.OnKeyPulled(request, PullOutcome{});
}

void Router::ResumeParkedReads() {
  if (parked_reads_.empty() || topology_->holding()) return;
  std::vector<ParkedRead> reads;
  reads.swap(parked_reads_);
  for (const ParkedRead& read : reads) AwaitKey(*read.request, *read.waiter, read.db, read.key, read.hash);
}

// What is still parked is given back to the table before the collectors' memory goes.
Router::~Router() {
  const PullOutcome outcome{PullOutcome::Kind::kSourceTrouble, "SHARDDOWN the proxy ends"};
  for (const ParkedRead& read : parked_reads_) read.waiter->OnKeyPulled(*read.request, outcome);
}

bool Router::IsKeyThere(uint32_t db, std::string_view key, uint64_t hash) {
  if (topology_->move == nullptr || !topology_->move->Moves(hash)) return true;
  return topology_->moving() && puller_.Has(db, key);
}

uint32_t Router::OwnerOf(uint64_t hash) const { return topology_->shards[topology_->ring.Owner(hash)].id; }

std::vector<uint32_t> Router::ServersOf(std::string_view key) const {
  const uint64_t hash = topology_->ring.Hash(key);
  if (topology_->move == nullptr || !topology_->move->Moves(hash)) return {OwnerOf(hash)};
  return {topology_->Source(hash).id, topology_->Target(hash).id};
}

// Whoever holds the older token keeps the newer one alive, so that a drain which waits for that waits for
// both.
std::shared_ptr<const void> Router::RenewEpochToken() {
  std::shared_ptr<const void> older = epoch_token_;
  if (topology_->moving()) moving_epochs_.push_back(older);
  Epoch* const epoch = epoch_;
  NewEpoch();
  epoch->newer = epoch_token_;
  return older;
}

void Router::NewEpoch() {
  auto epoch = std::make_shared<Epoch>();
  epoch_ = epoch.get();
  epoch_token_ = std::move(epoch);
}

}  // namespace ringway::proxy
