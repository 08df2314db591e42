#include "proxy/control/source_mover.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "protocol/command_writer.h"
#include "protocol/number_text.h"
#include "protocol/reply_cursor.h"
#include "proxy/control/info_values.h"
#include "proxy/hotkey/bucket_name.h"
#include "proxy/net/clock.h"
#include "proxy/shard/shard_problems.h"

namespace ringway::proxy {
namespace {

using protocol::BulkOf;

constexpr int64_t kRetryUsec = 1'000'000;
// MEMORY USAGE in one call: a tenth of a millisecond for the source.
constexpr size_t kMaxSizesAtOnce = 128;
// From so many keys on, the part of them that moves says more than the ring's shares do.
constexpr uint64_t kScannedEnough = 1'000;

// How far a SCAN has come, from its cursor: its bits, reversed, count up, whatever the size of the table.
double ScannedShare(uint64_t cursor) {
  uint64_t reversed = 0;
  for (int bit = 0; bit < 64; ++bit) reversed |= (cursor >> bit & 1) << (63 - bit);
  return static_cast<double>(reversed) / 0x1p64;
}

}  // namespace

SourceMover::SourceMover(MoverContext& context, Host& host, uint32_t source)
    : context_(context),
      host_(host),
      source_(source),
      client_(context.links, context.plan->from()[source], 0, context.options.timeout_usec),
      targets_(context.plan->to().size()) {
  timer_.Assign(context_.links.loop.base(), -1, 0, &SourceMover::OnTimer, this);
}

SourceMover::~SourceMover() {
  *self_ = nullptr;
  CloseGate();
}

void SourceMover::OnTimer(evutil_socket_t, short, void* argument) {
  auto* self = static_cast<SourceMover*>(argument);
  self->context_.links.loop.NoteWake();
  self->timer_.NoteFired();
  self->Step();
}

void SourceMover::Wake() {
  pace_.SetMaxBusy(context_.max_source_busy);
  if (!busy_ && !clean_) WaitUntil(0);
}

void SourceMover::WaitUntil(int64_t usec) { timer_.AddTimeout(std::max<int64_t>(usec - MonotonicUsec(), 0)); }

void SourceMover::Step() {
  if (busy_ || clean_ || context_.paused || context_.stopping) return;
  const int64_t next_usec = std::max(pace_.next_call_usec(), retry_usec_);
  if (MonotonicUsec() < next_usec) {
    WaitUntil(next_usec);
    return;
  }
  ChooseCall();
}

void SourceMover::ChooseCall() {
  if (probe_first_) {
    ProbeTarget();
  } else if (send_again_) {
    Send();
  } else if (!pass_begun_) {
    AskKeyspace();
  } else if (!singles_.empty()) {
    SendSingle();
  } else if (const auto target = DueTarget()) {
    SendBatch(*target);
  } else if (unsized_.size() >= kMaxSizesAtOnce || (scan_done_ && !unsized_.empty())) {
    AskSizes();
  } else if (!scan_done_) {
    Scan();
  } else if (!big_.empty()) {
    SendBig();
  } else if (NextDatabase()) {
    Scan();
  } else {
    EndPass();
  }
}

void SourceMover::BeginCall() {
  busy_ = true;
  call_sent_usec_ = MonotonicUsec();
}

void SourceMover::Continue() {
  busy_ = false;
  Estimate();
  if (context_.stopping) {
    host_.OnSourceQuiet();
  } else {
    Step();
  }
}

bool SourceMover::Answered(const ShardClient::Answer& answer) {
  std::string problem = answer.problem;
  if (answer.ok()) {
    // Whatever a lost connection had left with the source is over, since a later one has been served.
    CloseGate();
    const std::string_view error = answer.FirstError();
    if (!error.empty()) problem = "answers " + ErrorWithoutArguments(error);
  }
  if (problem.empty()) {
    Well(Cure::kAnswer);
    return true;
  }
  Trouble(client_.Label() + " " + problem, Cure::kAnswer);
  Continue();
  return false;
}

void SourceMover::Trouble(std::string text, Cure cure) {
  trouble_ = std::move(text);
  cure_ = cure;
  retry_usec_ = MonotonicUsec() + kRetryUsec;
  host_.OnSourceTrouble();
}

void SourceMover::Well(Cure cured) {
  if (trouble_.empty() || (cured != cure_ && cure_ != Cure::kAnswer)) return;
  trouble_.clear();
  host_.OnSourceTrouble();
}

// --- finding keys ---

void SourceMover::AskKeyspace() {
  BeginCall();
  client_.Do({"INFO", "keyspace"}, [this](const ShardClient::Answer& answer) { OnKeyspace(answer); });
}

void SourceMover::OnKeyspace(const ShardClient::Answer& answer) {
  pace_.OnCall(call_sent_usec_, MonotonicUsec());
  databases_.clear();
  if (answer.ok() && answer.FirstError().starts_with("NOPERM")) {
    // Then all are looked into, and what remains is not estimated.
    for (uint32_t number = 0; number < context_.options.databases; ++number)
      databases_.push_back({number, 0});
    CloseGate();
  } else {
    if (!Answered(answer)) return;
    for (const KeyspaceLine& line : ReadKeyspace(BulkOf(answer[0]).value_or(std::string_view()))) {
      databases_.push_back({line.database, line.keys});
    }
  }
  BeginPass();
  Continue();
}

void SourceMover::BeginPass() {
  pass_begun_ = true;
  next_database_ = 0;
  scan_done_ = true;
  scanned_ = found_ = failed_keys_ = 0;
  for (Target& target : targets_) target.found = target.waiting = 0;
}

void SourceMover::EndPass() {
  pass_begun_ = false;
  first_pass_ = false;
  Estimate();
  if (failed_keys_ > 0) {
    Trouble(client_.Label() + " has " + std::to_string(failed_keys_) +
                (failed_keys_ == 1 ? " key" : " keys") + " that cannot be moved: " + failure_,
            Cure::kPass);
  } else {
    Well(Cure::kPass);
  }
  if (found_ == 0) {
    clean_ = true;
    host_.OnSourceClean();
  } else {
    WaitUntil(0);
  }
}

bool SourceMover::NextDatabase() {
  if (next_database_ == databases_.size()) return false;
  client_.UseDatabase(databases_[next_database_++].number);
  cursor_ = "0";
  scan_done_ = false;
  return true;
}

void SourceMover::Scan() {
  BeginCall();
  const size_t count = pace_.scan_count();
  client_.Do({"SCAN", cursor_, "COUNT", std::to_string(count)},
             [this, count](const ShardClient::Answer& answer) { OnScan(answer, count); });
}

void SourceMover::OnScan(const ShardClient::Answer& answer, size_t count) {
  pace_.OnScan(call_sent_usec_, MonotonicUsec(), count);
  if (answer.problem == kNoSuchDatabase) {
    scan_done_ = true;
    Continue();
    return;
  }
  if (!Answered(answer)) return;
  protocol::ReplyCursor reply(answer[0]);
  std::string_view cursor;
  std::string_view list;
  if (!reply.Next(&cursor) || !reply.Next(&list) || !BulkOf(cursor)) {
    Trouble(client_.Label() + " gives an unexpected reply to SCAN", Cure::kAnswer);
    Continue();
    return;
  }
  protocol::ReplyCursor keys(list);
  for (std::string_view key; keys.Next(&key);) TakeFound(BulkOf(key).value_or(std::string_view()));
  cursor_ = *BulkOf(cursor);
  scan_done_ = cursor_ == "0";
  Continue();
}

void SourceMover::TakeFound(std::string_view key) {
  ++scanned_;
  // Copies of hot keys stay behind, to expire.
  if (IsBucketName(key)) return;
  const uint64_t hash = plan().diff().from().Hash(key);
  if (plan().FromIndex(hash) != source_ || !plan().Moves(hash)) return;
  ++found_;
  MovingKey moving{std::string(key), plan().ToIndex(hash)};
  ++targets_[moving.to].found;
  ++targets_[moving.to].waiting;
  if (plan().Relays(plan().PairOf(source_, moving.to))) {
    Enqueue(std::move(moving));
  } else {
    unsized_.push_back(std::move(moving));
  }
}

void SourceMover::AskSizes() {
  BeginCall();
  std::string frame;
  const size_t count = std::min(unsized_.size(), kMaxSizesAtOnce);
  for (size_t i = 0; i < count; ++i) protocol::AppendCommand(frame, {"MEMORY", "USAGE", unsized_[i].name});
  client_.DoFrame(frame, count, [this](const ShardClient::Answer& answer) { OnSizes(answer); });
}

void SourceMover::OnSizes(const ShardClient::Answer& answer) {
  pace_.OnCall(call_sent_usec_, MonotonicUsec());
  // Without the right to ask, all keys count as small ones.
  const bool forbidden = answer.ok() && answer.FirstError().starts_with("NOPERM");
  if (!forbidden && !Answered(answer)) return;
  for (size_t i = 0; i < answer.size(); ++i) {
    MovingKey& key = unsized_[i];
    if (protocol::IsNull(answer[i])) {
      --targets_[key.to].waiting;  // it has gone
      continue;
    }
    key.bytes = static_cast<uint64_t>(std::max<int64_t>(protocol::IntegerOf(answer[i]).value_or(0), 0));
    Enqueue(std::move(key));
  }
  unsized_.erase(unsized_.begin(), unsized_.begin() + static_cast<ptrdiff_t>(answer.size()));
  Continue();
}

void SourceMover::Enqueue(MovingKey key) {
  Target& target = targets_[key.to];
  if (key.bytes > kBigKeyBytes) {
    if (big_.size() < kMaxBigKeys) {
      big_.push_back(std::move(key));
    } else {
      --target.waiting;
    }
    return;
  }
  target.units += SourcePace::Units(key.bytes);
  target.keys.push_back(std::move(key));
  ++pending_;
}

// What a pair has still to move: those found and not yet moved, and of the keys that are still to be scanned
// as large a part as moves of those that have been.
void SourceMover::Estimate() {
  double unscanned = 0;
  for (size_t i = next_database_; pass_begun_ && i < databases_.size(); ++i) {
    unscanned += static_cast<double>(databases_[i].keys);
  }
  if (pass_begun_ && !scan_done_) {
    const auto cursor = static_cast<uint64_t>(std::strtoull(cursor_.c_str(), nullptr, 10));
    unscanned += static_cast<double>(databases_[next_database_ - 1].keys) * (1 - ScannedShare(cursor));
  }
  const double own_share = plan().diff().from().Share(source_);
  for (const MovePlan::Pair& pair : plan().pairs()) {
    if (pair.from != source_) continue;
    const Target& target = targets_[pair.to];
    double part = first_pass_ && own_share > 0 ? pair.share / own_share : 0;
    if (scanned_ >= kScannedEnough) part = static_cast<double>(target.found) / static_cast<double>(scanned_);
    const auto remaining = static_cast<int64_t>(unscanned * part) + static_cast<int64_t>(target.waiting);
    plan().figures().pairs[plan().PairOf(source_, pair.to)].remaining.store(remaining);
  }
}

}  // namespace ringway::proxy
