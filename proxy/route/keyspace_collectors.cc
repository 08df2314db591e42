#include "proxy/route/keyspace_collectors.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_set>

#include "protocol/command_writer.h"
#include "protocol/error_replies.h"
#include "protocol/reply_cursor.h"
#include "proxy/buffer/output_queue.h"
#include "proxy/client/client_session.h"
#include "proxy/route/scan_walk.h"

namespace ringway::proxy {
namespace {

// The time of a turn is a little older than the reply that came in it.
constexpr int64_t kGateSlackUsec = 5'000;

constexpr std::string_view kRandomKey = "*1\r\n$9\r\nRANDOMKEY\r\n";
constexpr std::string_view kDbSize = "*1\r\n$6\r\nDBSIZE\r\n";

void AppendLine(OutputQueue& out, char type, uint64_t number) {
  out.Append(std::string(1, type) + std::to_string(number) + "\r\n");
}

// Whether the plan brings a key with this hash to the server.
bool MovesTo(const MovePlan& plan, uint64_t hash, uint32_t shard_id) {
  return plan.Moves(hash) && plan.to()[plan.ToIndex(hash)].id == shard_id;
}

// The elements of replies that are to be passed on, as the stretches of bytes between those that are not.
class Stretches {
 public:
  void Add(std::string_view element, const Slice& reply) {
    ++elements_;
    if (!stretches_.empty()) {
      std::string_view& last = stretches_.back().bytes;
      if (stretches_.back().reply == &reply && last.data() + last.size() == element.data()) {
        last = std::string_view(last.data(), last.size() + element.size());
        return;
      }
    }
    stretches_.push_back({element, &reply});
  }
  void AppendTo(OutputQueue& out) const {
    AppendLine(out, '*', elements_);
    for (const Stretch& stretch : stretches_) out.Append(stretch.bytes, &stretch.reply->block);
  }

 private:
  struct Stretch {
    std::string_view bytes;
    const Slice* reply;
  };
  uint64_t elements_ = 0;
  std::vector<Stretch> stretches_;
};

}  // namespace

// --- SCAN ---

void ScanCollector::OnPart(Request& request, uint32_t, const Slice& reply) {
  request.failed = protocol::IsError(reply.view());
  if (request.failed) stats_.NoteError(reply.view());
  reply_ = reply;
}

void ScanCollector::Finish(Request&, OutputQueue& out) {
  protocol::ReplyCursor cursor(reply_.view());
  std::string_view element;
  std::optional<std::string_view> inner_text;
  if (cursor.length() == 2 && cursor.Next(&element)) inner_text = protocol::BulkOf(element);
  if (!inner_text.has_value()) {
    out.Append(reply_);
    return;
  }
  const std::optional<uint64_t> inner = ParseCursor(*inner_text);
  if (!inner.has_value() || *inner > ScanCursor::kMaxInner) {
    out.Append(std::string_view("-ERR the shard's SCAN cursor is larger than that of any Redis\r\n"));
    return;
  }
  std::optional<ScanCursor> next = position_;
  next->inner = *inner;
  if (*inner == 0) next = NextPosition(position_, ScanFactsOf(*topology_));
  FinishPage(std::to_string(next.has_value() ? next->Encode() : 0), cursor.rest(), out);
}

void ScanCollector::FinishPage(std::string_view cursor, std::string_view keys, OutputQueue& out) const {
  std::string head = "*2\r\n";
  protocol::AppendArg(head, cursor);
  out.Append(head);
  if (!WantsMovingKeysOnly(position_, ScanFactsOf(*topology_))) {
    out.Append(keys, &reply_.block);
    return;
  }
  Stretches wanted;
  protocol::ReplyCursor elements(keys);
  std::string_view element;
  while (elements.Next(&element)) {
    const uint64_t hash = topology_->ring.Hash(protocol::BulkOf(element).value_or(""));
    if (MovesTo(*topology_->move, hash, position_.shard_id)) wanted.Add(element, reply_);
  }
  wanted.AppendTo(out);
}

// --- steps ---

void Steps::Begin(Request& request) {
  if (request.client != nullptr && topology_->moving()) request.client->BeginPull(true);
}

void Steps::End(Request& request) {
  if (epoch_token_ == nullptr) return;
  epoch_token_.reset();
  if (request.client != nullptr && topology_->moving()) request.client->EndPull(true);
}

// --- RANDOMKEY ---

void RandomKeyCollector::Start(Request& request) {
  steps_.Begin(request);
  Count(request);
}

void RandomKeyCollector::Count(Request& request) {
  asked_.reset();
  keys_.assign(shard_ids_.size(), 0);
  awaited_ = shard_ids_.size();
  for (uint32_t i = 0; i < shard_ids_.size(); ++i) sender_.SendPart(request, i, shard_ids_[i], db_, kDbSize);
}

void RandomKeyCollector::OnPart(Request& request, uint32_t part, const Slice& reply) {
  if (asked_.has_value()) {
    if (protocol::IsNull(reply.view())) {
      keys_[*asked_] = 0;
      AskOne(request);
    } else {
      request.failed = protocol::IsError(reply.view());
      if (request.failed) sender_.requests().stats().NoteError(reply.view());
      reply_ = reply;
    }
    return;
  }
  if (protocol::IsError(reply.view())) error_ = reply;
  keys_[part] = static_cast<uint64_t>(protocol::IntegerOf(reply.view()).value_or(0));
  if (--awaited_ == 0) AskOne(request);
}

void RandomKeyCollector::AskOne(Request& request) {
  const uint64_t total = std::accumulate(keys_.begin(), keys_.end(), uint64_t{0});
  if (total == 0) {
    if (recounts_left_-- > 0) {
      Count(request);
      return;
    }
    request.failed = error_.size > 0;
    if (request.failed) sender_.requests().stats().NoteError(error_.view());
    return;
  }
  uint64_t pick = random_ % total;
  uint32_t shard = 0;
  while (pick >= keys_[shard]) pick -= keys_[shard++];
  asked_ = shard;
  sender_.SendPart(request, shard, shard_ids_[shard], db_, kRandomKey);
}

bool RandomKeyCollector::OnAllParts(Request& request) {
  steps_.End(request);
  return true;
}

void RandomKeyCollector::Finish(Request& request, OutputQueue& out) {
  if (reply_.size > 0) {
    out.Append(reply_);
  } else if (error_.size > 0) {
    out.Append(error_);
  } else {
    out.Append(std::string_view(request.resp == 3 ? "_\r\n" : "$-1\r\n"));
  }
}

// --- two rounds ---

TwoRoundCollector::TwoRoundCollector(ShardSender& sender, Steps steps, std::vector<uint32_t> shard_ids,
                                     uint32_t db, std::string_view frame)
    : sender_(sender), steps_(std::move(steps)), shard_ids_(std::move(shard_ids)), db_(db), frame_(frame) {}

void TwoRoundCollector::Start(Request& request) {
  steps_.Begin(request);
  Ask(request, shard_ids_);
}

void TwoRoundCollector::StartGated(GateQueue& queue, Request& request) {
  steps_.Begin(request);
  queue_ = &queue;
  ++request.parts_pending;
  queue.Add(topology().move, request, *this, kGatePatienceUsec);
}

bool TwoRoundCollector::TryAgain(Request& request) {
  CountingGate& gate = topology().move->figures().gate;
  gate.Leave(*period_, sender_.requests().now_usec());
  period_.reset();
  if (++gate_tries_ == kMaxGateTries) {
    FailAtGate(request);
    return false;
  }
  answers_.clear();
  ++request.parts_pending;
  queue_->Add(topology().move, request, *this, kGatePatienceUsec);
  return true;
}

void TwoRoundCollector::FailAtGate(Request& request) {
  const std::string error = protocol::MoveFail("keys are on their way between shards; try again");
  request.failed = true;
  sender_.requests().stats().NoteError(error);
  error_ = sender_.requests().Copy("-" + error + "\r\n");
}

void TwoRoundCollector::OnGate(Request& request, std::optional<uint64_t> period) {
  period_ = period;
  if (period.has_value()) {
    Ask(request, shard_ids_);
  } else {
    FailAtGate(request);
  }
}

void TwoRoundCollector::Ask(Request& request, std::vector<uint32_t> shard_ids) {
  shard_ids_ = std::move(shard_ids);
  for (uint32_t part = 0; part < shard_ids_.size(); ++part) {
    sender_.SendPart(request, part, shard_ids_[part], db_, frame_);
  }
}

void TwoRoundCollector::OnPart(Request& request, uint32_t part, const Slice& reply) {
  if (protocol::IsError(reply.view())) {
    if (!request.failed) {
      sender_.requests().stats().NoteError(reply.view());
      error_ = sender_.requests().Held(reply);
    }
    request.failed = true;
  } else if (request.client != nullptr) {
    answers_.push_back({shard_ids_[part], second_round_, sender_.requests().Held(reply)});
  }
}

bool TwoRoundCollector::OnAllParts(Request& request) {
  const bool wanted = request.client != nullptr || MustBeCarriedOut();
  if (period_.has_value() && !second_round_ && !request.failed &&
      !topology().move->figures().gate.IsClosed(*period_, sender_.requests().now_usec() + kGateSlackUsec) &&
      TryAgain(request)) {
    return false;
  }
  if (!second_round_ && !request.failed && wanted) {
    second_round_ = true;
    Ask(request, topology().move->TargetIds());
    return false;
  }
  if (period_.has_value()) topology().move->figures().gate.Leave(*period_, sender_.requests().now_usec());
  steps_.End(request);
  return true;
}

void TwoRoundCollector::Finish(Request& request, OutputQueue& out) {
  if (request.failed) {
    out.Append(error_);
  } else {
    FinishWell(out);
  }
}

void TwoRoundCollector::FinishWell(OutputQueue& out) { out.Append(answers_.front().reply); }

void KeysCollector::FinishWell(OutputQueue& out) {
  Stretches wanted;
  std::unordered_set<std::string_view> moving;
  for (const Answer& answer : answers()) {
    protocol::ReplyCursor cursor(answer.reply.view());
    std::string_view element;
    while (cursor.Next(&element)) {
      const std::string_view key = protocol::BulkOf(element).value_or("");
      const uint64_t hash = topology().ring.Hash(key);
      const bool moves = topology().move->Moves(hash);
      if (answer.second_round && !MovesTo(*topology().move, hash, answer.shard_id)) continue;
      if (moves && !moving.insert(key).second) continue;
      wanted.Add(element, answer.reply);
    }
  }
  wanted.AppendTo(out);
}

// --- DBSIZE ---

void CountCollector::Start(GateQueue& queue, Request& request) {
  steps_.Begin(request);
  queue_ = &queue;
  Wait(request);
}

void CountCollector::Wait(Request& request) {
  keys_ = 0;
  ++request.parts_pending;
  queue_->Add(steps_.topology().move, request, *this, kPatienceUsec);
}

void CountCollector::OnGate(Request& request, std::optional<uint64_t> period) {
  period_ = period;
  for (uint32_t i = 0; i < shard_ids_.size(); ++i) sender_.SendPart(request, i, shard_ids_[i], db_, kDbSize);
}

void CountCollector::OnPart(Request& request, uint32_t, const Slice& reply) {
  if (protocol::IsError(reply.view())) {
    if (!request.failed) {
      sender_.requests().stats().NoteError(reply.view());
      error_ = sender_.requests().Held(reply);
    }
    request.failed = true;
  }
  keys_ += static_cast<uint64_t>(protocol::IntegerOf(reply.view()).value_or(0));
}

bool CountCollector::OnAllParts(Request& request) {
  if (period_.has_value()) {
    CountingGate& gate = steps_.topology().move->figures().gate;
    const int64_t now_usec = sender_.requests().now_usec();
    const bool was_closed = gate.IsClosed(*period_, now_usec + kGateSlackUsec);
    gate.Leave(*period_, now_usec);
    period_.reset();
    // It opened before all had answered. After some tries the count may be out by a batch.
    if (!was_closed && !request.failed && request.client != nullptr && ++tries_ < kMaxTries) {
      Wait(request);
      return false;
    }
  }
  steps_.End(request);
  return true;
}

void CountCollector::Finish(Request& request, OutputQueue& out) {
  if (request.failed) {
    out.Append(error_);
  } else {
    AppendLine(out, ':', keys_);
  }
}

}  // namespace ringway::proxy
