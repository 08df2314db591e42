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
#include "proxy/hotkey/bucket_name.h"
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
  const bool moving_only = WantsMovingKeysOnly(position_, ScanFactsOf(*topology_));
  if (!moving_only && keys.find(kBucketMark) == std::string_view::npos) {
    out.Append(keys, &reply_.block);
    return;
  }
  Stretches wanted;
  protocol::ReplyCursor elements(keys);
  std::string_view element;
  while (elements.Next(&element)) {
    const std::string_view key = protocol::BulkOf(element).value_or("");
    if (IsBucketName(key)) continue;
    if (moving_only && !MovesTo(*topology_->move, topology_->ring.Hash(key), position_.shard_id)) continue;
    wanted.Add(element, reply_);
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
    const bool is_copy = IsBucketName(protocol::BulkOf(reply.view()).value_or(""));
    if (is_copy && --tries_left_ > 0 && request.client != nullptr) {
      AskOne(request);
    } else if (is_copy || protocol::IsNull(reply.view())) {
      keys_[*asked_] = 0;
      PickOne(request);
    } else {
      request.failed = protocol::IsError(reply.view());
      if (request.failed) sender_.requests().stats().NoteError(reply.view());
      reply_ = reply;
    }
    return;
  }
  if (protocol::IsError(reply.view())) error_ = reply;
  keys_[part] = static_cast<uint64_t>(protocol::IntegerOf(reply.view()).value_or(0));
  if (--awaited_ == 0) PickOne(request);
}

void RandomKeyCollector::PickOne(Request& request) {
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
  tries_left_ = kMaxTries;
  AskOne(request);
}

void RandomKeyCollector::AskOne(Request& request) {
  sender_.SendPart(request, *asked_, shard_ids_[*asked_], db_, kRandomKey);
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
  if (topology().moving() && !second_round_ && !request.failed && wanted) {
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
  std::vector<const Answer*> in_order;
  for (const Answer& answer : answers()) in_order.push_back(&answer);
  std::sort(in_order.begin(), in_order.end(), [](const Answer* a, const Answer* b) {
    return std::pair(a->second_round, a->shard_id) < std::pair(b->second_round, b->shard_id);
  });
  for (const Answer* answer : in_order) {
    protocol::ReplyCursor cursor(answer->reply.view());
    std::string_view element;
    while (cursor.Next(&element)) {
      const std::string_view key = protocol::BulkOf(element).value_or("");
      if (IsBucketName(key)) continue;
      if (topology().moving()) {
        const uint64_t hash = topology().ring.Hash(key);
        if (answer->second_round && !MovesTo(*topology().move, hash, answer->shard_id)) continue;
        if (topology().move->Moves(hash) && !moving.insert(key).second) continue;
      }
      wanted.Add(element, answer->reply);
    }
  }
  wanted.AppendTo(out);
}

// --- DBSIZE ---

void CountCollector::Start(GateQueue& queue, Request& request) {
  steps_.Begin(request);
  queue_ = &queue;
  if (steps_.topology().moving()) {
    Wait(request);
  } else {
    Ask(request);
  }
}

void CountCollector::Wait(Request& request) {
  keys_ = 0;
  ++request.parts_pending;
  queue_->Add(steps_.topology().move, request, *this, kPatienceUsec);
}

void CountCollector::OnGate(Request& request, std::optional<uint64_t> period) {
  period_ = period;
  Ask(request);
}

// What has expired is still counted until it is looked at, hence first EXISTS.
void CountCollector::Ask(Request& request) {
  const auto shards = static_cast<uint32_t>(shard_ids_.size());
  for (uint32_t i = 0; i < shards; ++i) {
    std::vector<std::string> names;
    if (copies_ != nullptr) names = copies_->Names(db_, shard_ids_[i], sender_.requests().now_usec());
    if (!names.empty()) {
      std::string frame;
      protocol::AppendHeader(frame, 1 + names.size());
      protocol::AppendArg(frame, "EXISTS");
      for (const std::string& name : names) protocol::AppendArg(frame, name);
      sender_.SendPart(request, shards + i, shard_ids_[i], db_, frame);
    }
    sender_.SendPart(request, i, shard_ids_[i], db_, kDbSize);
  }
}

void CountCollector::OnPart(Request& request, uint32_t part, const Slice& reply) {
  if (protocol::IsError(reply.view())) {
    if (!request.failed) {
      sender_.requests().stats().NoteError(reply.view());
      error_ = sender_.requests().Held(reply);
    }
    request.failed = true;
  }
  const int64_t number = protocol::IntegerOf(reply.view()).value_or(0);
  keys_ += part < shard_ids_.size() ? number : -number;
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
    AppendLine(out, ':', static_cast<uint64_t>(std::max(keys_, int64_t{0})));
  }
}

}  // namespace ringway::proxy
