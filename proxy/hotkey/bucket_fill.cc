#include "proxy/hotkey/bucket_fill.h"

#include <algorithm>
#include <utility>

#include "protocol/command_writer.h"
#include "protocol/reply_cursor.h"
#include "proxy/hotkey/bucket_name.h"
#include "proxy/hotkey/copy_registry.h"

namespace ringway::proxy {

namespace {

constexpr int64_t kUsecPerMs = 1000;
// PTTL of a key that does not expire.
constexpr int64_t kNoExpiry = -1;

}  // namespace

void BucketFill::Start(Context& context, std::shared_ptr<HotPlacement> placement) {
  auto* fill = new BucketFill(context, std::move(placement));
  Request* request = context.sender.requests().NewInternal(CollectorPtr(fill));
  // Held while parts are sent, which may be answered on the spot.
  request->parts_pending = 1;
  fill->AskSize(*request);
  context.sender.requests().EndPart(request);
}

void BucketFill::AskSize(Request& request) {
  std::string frame;
  protocol::AppendCommand(frame, {"MEMORY", "USAGE", key().key()});
  context_.sender.SendPart(request, 0, context_.home.OwnerOf(placement_->hash), key().db(), frame);
}

void BucketFill::OnPart(Request&, uint32_t part, const Slice& reply) {
  switch (step_) {
    case Step::kSize:
      size_ = protocol::IntegerOf(reply.view()).value_or(-1);
      break;
    case Step::kValue:
      if (part == kDump) value_ = reply;
      if (part == kLifetime) lifetime_ms_ = protocol::IntegerOf(reply.view()).value_or(-2);
      break;
    case Step::kStore:
      // Further parts are of copies that were removed.
      if (part < ids_.size()) OnStored(part, !protocol::IsError(reply.view()));
      break;
  }
}

bool BucketFill::OnAllParts(Request& request) {
  switch (step_) {
    case Step::kSize:
      if (AskValue(request)) return false;
      break;
    case Step::kValue:
      if (Store(request)) return false;
      break;
    case Step::kStore:
      if (!any_stored_) {
        placement_->soonest_fill_usec.store(context_.sender.requests().now_usec() + kRestUsec,
                                            std::memory_order_relaxed);
      }
      break;
  }
  return true;
}

void BucketFill::OnStored(uint32_t bucket, bool stored) {
  HotPlacement::Bucket& to = *placement_->buckets[bucket];
  if (stored) {
    // The limit may have been lowered meanwhile.
    const int64_t life_ms = std::min(life_ms_, context_.settings.max_staleness_ms);
    to.copy.Set({ids_[bucket], generation_, asked_usec_ + life_ms * kUsecPerMs, expires_});
    context_.sender.requests().stats().bucket_fills.Add();
    any_stored_ = true;
  }
  to.storing.store(false, std::memory_order_release);
}

bool BucketFill::AskValue(Request& request) {
  const HotKey::State state = key().state();
  if (size_ < 0 || size_ > context_.settings.max_bytes) {
    Refuse();
    return false;
  }
  if (state.written() || !context_.home.IsKeyThere(key().db(), key().key(), placement_->hash)) {
    End(kLeastPauseUsec);
    return false;
  }
  step_ = Step::kValue;
  generation_ = state.generation();
  asked_usec_ = context_.clock();
  const uint32_t owner = context_.home.OwnerOf(placement_->hash);
  std::string frame;
  protocol::AppendCommand(frame, {"DUMP", key().key()});
  context_.sender.SendPart(request, kDump, owner, key().db(), frame);
  frame.clear();
  protocol::AppendCommand(frame, {"PTTL", key().key()});
  context_.sender.SendPart(request, kLifetime, owner, key().db(), frame);
  return true;
}

bool BucketFill::Store(Request& request) {
  life_ms_ = std::min(context_.settings.max_staleness_ms, kMostLifeMs);
  expires_ = lifetime_ms_ != kNoExpiry && lifetime_ms_ <= life_ms_;
  if (expires_) life_ms_ = lifetime_ms_;
  const auto value = protocol::BulkOf(value_.view());
  // MEMORY USAGE looks at a few elements only.
  const bool too_large =
      value.has_value() && static_cast<int64_t>(value->size()) > context_.settings.max_bytes;
  if (!value.has_value() || protocol::IsError(value_.view()) || too_large ||
      life_ms_ < std::min(kLeastLifeMs, context_.settings.max_staleness_ms)) {
    Refuse();
    return false;
  }
  const HotKey::State state = key().state();
  if (state.written() || state.generation() != generation_) {
    End(kLeastPauseUsec);
    return false;
  }
  step_ = Step::kStore;
  ids_.assign(placement_->buckets.size(), 0);
  for (uint32_t i = 0; i < ids_.size(); ++i) StoreIn(request, i, *value);
  const int64_t bytes = std::max(size_, static_cast<int64_t>(value->size()));
  placement_->bytes.store(bytes, std::memory_order_relaxed);
  placement_->filled_generation.store(generation_, std::memory_order_relaxed);
  // Before the copies' time is over, so that reads find one at all times.
  placement_->refill_usec.store(asked_usec_ + life_ms_ * kUsecPerMs / 2, std::memory_order_relaxed);
  const auto copies = static_cast<int64_t>(ids_.size() + 1);
  End(std::max(kLeastPauseUsec, bytes * copies / kMostBytesPerUsec));
  return true;
}

void BucketFill::StoreIn(Request& request, uint32_t bucket, std::string_view value) {
  HotPlacement::Bucket& to = *placement_->buckets[bucket];
  const ShardConnection* connection = context_.sender.pool().PickById(to.shard_id, key().db(), request.resp);
  if (connection == nullptr || connection->admission() != ShardConnection::Admission::kOpen) return;
  if (to.storing.exchange(true, std::memory_order_acquire)) return;
  ids_[bucket] = NextCopyId();
  const std::string name = key().key() + BucketSuffix(context_.settings.run, ids_[bucket]);
  if (context_.copies != nullptr) {
    context_.copies->Add(key().db(), to.shard_id, name, asked_usec_ + life_ms_ * kUsecPerMs,
                         context_.sender.requests().now_usec());
  }
  std::string frame;
  protocol::AppendCommand(frame, {"RESTORE", name, std::to_string(LifeLeftMs()), value});
  context_.sender.SendPart(request, bucket, to.shard_id, key().db(), frame);
  // Reads that were sent to the last copy may still be under way, those to the one before hardly.
  const uint64_t old = std::exchange(to.older_id, std::exchange(to.last_id, ids_[bucket]));
  if (old == 0) return;
  const std::string old_name = key().key() + BucketSuffix(context_.settings.run, old);
  if (context_.copies != nullptr) context_.copies->Remove(key().db(), to.shard_id, old_name);
  frame.clear();
  protocol::AppendCommand(frame, {"UNLINK", old_name});
  context_.sender.SendPart(request, static_cast<uint32_t>(ids_.size()) + bucket, to.shard_id, key().db(),
                           frame);
}

// A copy does not outlive its key, but for the time that RESTORE takes.
int64_t BucketFill::LifeLeftMs() const {
  const int64_t passed_ms = (context_.clock() - asked_usec_ + kUsecPerMs - 1) / kUsecPerMs;
  return std::max<int64_t>(life_ms_ - passed_ms, 1);
}

// The key is not one to copy: what there is of older copies is given up.
void BucketFill::Refuse() {
  placement_->ForgetCopies();
  End(kRestUsec);
}

void BucketFill::End(int64_t rest_usec) {
  placement_->soonest_fill_usec.store(context_.sender.requests().now_usec() + rest_usec,
                                      std::memory_order_relaxed);
  placement_->filling.store(false, std::memory_order_release);
}

}  // namespace ringway::proxy
