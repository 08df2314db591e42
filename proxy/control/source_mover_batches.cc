// The half of SourceMover that moves what the other has found.
#include <algorithm>
#include <array>
#include <utility>

#include "protocol/reply_cursor.h"
#include "proxy/control/source_mover.h"
#include "proxy/net/clock.h"

namespace ringway::proxy {
namespace {

// How soon a batch asks again at a gate that is closed.
constexpr int64_t kGateUsec = 1'000;
// How long a source may wait for a target in one step of a batch: meanwhile it serves nobody.
constexpr int64_t kMigrateTimeoutMs = 500;
// The steps that can each take that long before it gives up, for the patience with the source itself.
constexpr int64_t kMigrateSteps = 5;
// A big key's timeout grows with its size: what the slowest of disks-and-networks in use carries in a
// millisecond.
constexpr uint64_t kSlowestBytesPerMs = 8 * 1024;

// Errors of a target that would meet every key.
bool ConcernsAllKeys(std::string_view error) {
  constexpr std::array<std::string_view, 10> kWords = {
      "OOM ",     "READONLY ", "NOAUTH ",  "WRONGPASS ",  "NOPERM ",
      "LOADING ", "BUSY ",     "MISCONF ", "NOREPLICAS ", "max number of clients"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [error](std::string_view word) { return error.find(word) != std::string_view::npos; });
}

}  // namespace

std::optional<uint32_t> SourceMover::DueTarget() const {
  const bool all_found = scan_done_ && unsized_.empty();
  std::optional<uint32_t> due;
  for (uint32_t to = 0; to < targets_.size(); ++to) {
    const Target& target = targets_[to];
    if (target.keys.empty()) continue;
    const bool full = target.units >= pace_.batch_units() || target.keys.size() >= SourcePace::kMaxBatchKeys;
    if (!full && !all_found && pending_ < kMaxPendingKeys) continue;
    if (!due || target.units > targets_[*due].units) due = to;
  }
  return due;
}

bool SourceMover::TakeAllowance(size_t wanted, size_t* granted) {
  const int64_t now = MonotonicUsec();
  const KeyAllowance::Grant grant = context_.allowance.Take(now, wanted);
  *granted = grant.keys;
  if (grant.keys == 0) WaitUntil(now + grant.wait_usec);
  return grant.keys > 0;
}

void SourceMover::SendBatch(uint32_t to) {
  Target& target = targets_[to];
  size_t granted = 0;
  if (!TakeAllowance(std::min(target.keys.size(), SourcePace::kMaxBatchKeys), &granted)) return;
  batch_ = Batch();
  while (batch_.keys.size() < granted && !target.keys.empty()) {
    MovingKey& key = target.keys.front();
    const double units = SourcePace::Units(key.bytes);
    const bool fits =
        batch_.units + units <= pace_.batch_units() && batch_.bytes + key.bytes <= SourcePace::kMaxBatchBytes;
    if (!batch_.keys.empty() && !fits) break;
    batch_.units += units;
    batch_.bytes += key.bytes;
    target.units -= units;
    --pending_;
    batch_.keys.push_back(std::move(key));
    target.keys.pop_front();
  }
  if (target.keys.empty()) target.units = 0;
  context_.allowance.GiveBack(granted - batch_.keys.size());
  // SCAN may give a key twice, and EXISTS would count it twice.
  std::sort(batch_.keys.begin(), batch_.keys.end(),
            [](const MovingKey& a, const MovingKey& b) { return a.name < b.name; });
  const auto twice = std::unique(batch_.keys.begin(), batch_.keys.end(),
                                 [](const MovingKey& a, const MovingKey& b) { return a.name == b.name; });
  target.waiting -= static_cast<uint64_t>(batch_.keys.end() - twice);
  batch_.keys.erase(twice, batch_.keys.end());
  Send();
}

void SourceMover::SendBig() {
  size_t granted = 0;
  if (!TakeAllowance(1, &granted)) return;
  batch_ = Batch();
  batch_.big = true;
  batch_.bytes = big_.front().bytes;
  batch_.keys.push_back(std::move(big_.front()));
  big_.pop_front();
  Send();
}

void SourceMover::SendSingle() {
  batch_ = Batch();
  batch_.bytes = singles_.front().bytes;
  batch_.units = SourcePace::Units(batch_.bytes);
  batch_.keys.push_back(std::move(singles_.front()));
  singles_.pop_front();
  Send();
}

void SourceMover::Send() {
  send_again_ = false;
  if (plan().Relays(plan().PairOf(source_, batch_.keys.front().to))) {
    Relay();
    return;
  }
  if (!gate_passed_ && !plan().figures().gate.BeginBatch(MonotonicUsec())) {
    send_again_ = true;
    WaitUntil(MonotonicUsec() + kGateUsec);
    return;
  }
  gate_passed_ = true;
  Migrate();
}

void SourceMover::CloseGate() {
  if (std::exchange(gate_passed_, false)) plan().figures().gate.EndBatch();
}

void SourceMover::Migrate() {
  std::vector<std::string_view> names;
  for (const MovingKey& key : batch_.keys) names.push_back(key.name);
  const config::ShardConfig& target = plan().to()[batch_.keys.front().to].config;
  const int64_t timeout_ms =
      kMigrateTimeoutMs + (batch_.big ? static_cast<int64_t>(batch_.bytes / kSlowestBytesPerMs) : 0);
  std::string frame;
  const uint32_t database = databases_[next_database_ - 1].number;
  AppendMigrateBatch(frame, target, database, timeout_ms, names, false);
  BeginCall();
  client_.DoFrame(
      frame, MigrateBatchReplies(names.size(), false),
      [this](const ShardClient::Answer& answer) { OnMigrated(answer); },
      context_.options.timeout_usec + kMigrateSteps * timeout_ms * 1'000);
}

void SourceMover::OnMigrated(const ShardClient::Answer& answer) {
  const int64_t now = MonotonicUsec();
  if (batch_.big) {
    pace_.OnCall(call_sent_usec_, now);
  } else {
    pace_.OnBatch(call_sent_usec_, now, batch_.units);
  }
  if (!answer.ok()) {
    ++BatchFigures().errors;
    Retry(client_.Label() + " " + answer.problem);
    Continue();
    return;
  }
  CloseGate();
  // An error before EXEC's reply says why that is one.
  std::string_view reply = answer.back();
  for (size_t i = 0; i < answer.size() && protocol::IsError(answer.back()); ++i) {
    reply = answer[i];
    if (protocol::IsError(reply)) break;
  }
  Judge(ReadMigrateBatch(reply, batch_.keys.size(), false));
  Continue();
}

void SourceMover::Judge(const MigrateBatchResult& result) {
  using Verdict = MigrateBatchResult::Verdict;
  Count(result.moved, batch_.bytes * result.moved / batch_.keys.size());
  if (result.verdict != Verdict::kMoved) ++BatchFigures().errors;
  switch (result.verdict) {
    case Verdict::kMoved:
      targets_[batch_.keys.front().to].waiting -= batch_.keys.size();
      Well(Cure::kBatch);
      return;
    case Verdict::kTargetUnreachable:
      probe_first_ = true;
      Retry(client_.Label() + " cannot reach " + TargetLabel() + ": " + result.error);
      return;
    case Verdict::kSourceFailed:
      Retry(client_.Label() + " cannot move keys: " + result.error);
      return;
    case Verdict::kTargetRefused:
      OnRefused(result.error);
  }
}

void SourceMover::OnRefused(const std::string& error) {
  if (ConcernsAllKeys(error)) {
    Retry(TargetLabel() + " takes no keys: " + error);
    return;
  }
  if (batch_.keys.size() > 1) {
    for (MovingKey& key : batch_.keys) singles_.push_back(std::move(key));
    return;
  }
  // Left to the next pass, so that it keeps no other waiting.
  --targets_[batch_.keys.front().to].waiting;
  ++failed_keys_;
  failure_ = error;
}

void SourceMover::Retry(std::string trouble) {
  send_again_ = true;
  Trouble(std::move(trouble), Cure::kBatch);
}

void SourceMover::Count(uint64_t moved, uint64_t bytes) {
  MoveFigures::Pair& figures = BatchFigures();
  figures.keys_background += moved;
  figures.bytes += bytes;
  if (batch_.big) plan().figures().big_keys += moved;
}

void SourceMover::Relay() {
  std::vector<std::string> names;
  for (const MovingKey& key : batch_.keys) names.push_back(key.name);
  const uint32_t pair = plan().PairOf(source_, batch_.keys.front().to);
  BeginCall();
  context_.relay->Relay(pair, databases_[next_database_ - 1].number, std::move(names),
                        [weak = std::weak_ptr(self_)](const RelayPort::Outcome& outcome) {
                          const auto self = weak.lock();
                          if (self != nullptr && *self != nullptr) (*self)->OnRelayed(outcome);
                        });
}

void SourceMover::OnRelayed(const RelayPort::Outcome& outcome) {
  pace_.OnBatch(call_sent_usec_, MonotonicUsec(), batch_.units);
  Count(outcome.moved, outcome.bytes);
  if (outcome.problem.empty()) {
    targets_[batch_.keys.front().to].waiting -= batch_.keys.size();
    Well(Cure::kBatch);
  } else {
    ++BatchFigures().errors;
    if (outcome.refused) {
      OnRefused(outcome.problem);
    } else {
      Retry(outcome.problem);
    }
  }
  Continue();
}

void SourceMover::ProbeTarget() {
  BeginCall();
  const Shard& target = plan().to()[batch_.keys.front().to];
  probe_ = std::make_unique<ShardClient>(context_.links, target, 0, context_.options.timeout_usec);
  probe_->Do({"PING"}, [this](const ShardClient::Answer& answer) {
    const std::string problem = answer.problem;
    probe_.reset();
    if (problem.empty()) {
      probe_first_ = false;
    } else {
      Trouble(TargetLabel() + " " + problem, Cure::kBatch);
    }
    Continue();
  });
}

std::string SourceMover::TargetLabel() const {
  const config::ShardConfig& target = plan().to()[batch_.keys.front().to].config;
  return target.name + " " + target.address;
}

MoveFigures::Pair& SourceMover::BatchFigures() {
  return plan().figures().pairs[plan().PairOf(source_, batch_.keys.front().to)];
}

}  // namespace ringway::proxy
