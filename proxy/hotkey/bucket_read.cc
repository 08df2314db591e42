#include "proxy/hotkey/bucket_read.h"

#include <algorithm>
#include <utility>

#include "protocol/command_writer.h"
#include "protocol/hollow_reply.h"
#include "protocol/reply_cursor.h"
#include "proxy/buffer/output_queue.h"
#include "proxy/client/client_session.h"

namespace ringway::proxy {
namespace {

constexpr std::string_view kExists = "*2\r\n$6\r\nEXISTS\r\n";

}  // namespace

BucketRead::Pool::~Pool() = default;

BucketRead* BucketRead::Pool::Take() {
  if (free_.empty()) free_.push_back(all_.emplace_back(new BucketRead(*this)).get());
  BucketRead* read = free_.back();
  free_.pop_back();
  return read;
}

void BucketRead::Pool::Start(Request& request, const BucketChoice& choice, const KeyedFrame& frame) {
  BucketRead* read = Take();
  request.collector.reset(read);
  read->Send(request, choice, frame);
}

void BucketRead::Pool::StartPart(Request& parent, uint32_t part, const BucketChoice& choice,
                                 const KeyedFrame& frame) {
  BucketRead* read = Take();
  read->parent_ = &parent;
  read->parent_part_ = part;
  Request* request = sender_.requests().NewInternal(CollectorPtr(read));
  request->resp = parent.resp;
  read->Send(*request, choice, frame);
}

void BucketRead::Send(Request& request, const BucketChoice& choice, const KeyedFrame& frame) {
  entry_ = choice.entry;
  bucket_ = entry_->placement->buckets[choice.bucket].get();
  copy_ = choice.copy;
  frame_.assign(frame.before).append(frame.key_argument).append(frame.after);
  name_argument_ = entry_->buckets[choice.bucket].name_argument;
  ++entry_->in_flight;
  if (ClientSession* client = Client(request)) {
    client->BeginBucketRead();
    number_ = client->next_request() - 1;
  }
  request.parts_pending += choice.escorted ? 2 : 1;
  OutputQueue& out = choice.connection->BeginFrame(&request, kRead);
  out.Append(frame.before);
  out.Append(name_argument_);
  if (!frame.after.empty()) out.Append(frame.after);
  if (!choice.escorted) return;
  OutputQueue& question = choice.connection->BeginFrame(&request, kPresence);
  question.Append(kExists);
  question.Append(name_argument_);
}

ClientSession* BucketRead::Client(const Request& request) const {
  return parent_ != nullptr ? parent_->client : request.client;
}

void BucketRead::OnPart(Request&, uint32_t part, const Slice& reply) {
  if (part == kPresence) {
    presence_known_ = true;
    present_ = protocol::IntegerOf(reply.view()) == 1;
  } else {
    reply_ = pool_.sender_.requests().Held(reply);
  }
}

bool BucketRead::OnAllParts(Request& request) {
  if (!key_asked_ && !Judge(request)) return false;
  End(request);
  return true;
}

bool BucketRead::Judge(Request& request) {
  const std::string_view reply = reply_.view();
  HotTrail::Step* step = StepOf(request);
  const bool follows_one_that_fell_back = step != nullptr && step->fell_back < number_;
  // Of errors the key's own is the one to see. Most say that the shard has no use as a bucket just now: it is
  // down, loads, or does not allow the command.
  if (protocol::IsError(reply) || follows_one_that_fell_back) {
    const std::string_view code = protocol::ErrorCode(reply);
    if (protocol::IsError(reply) && code != "ERR" && code != "WRONGTYPE") bucket_->copy.Forget(copy_);
    AskKeyItself(request);
    return false;
  }
  if (protocol::IsHollowReply(reply)) {
    if (!presence_known_) {
      AskPresence(request);
      return false;
    }
    if (!present_) {
      bucket_->copy.Forget(copy_);
      entry_->placement->refill_usec.store(0, std::memory_order_relaxed);
    }
    const bool proven = step != nullptr && step->copy == copy_ && step->proven > number_;
    if (!present_ && !proven) {
      AskKeyItself(request);
      return false;
    }
    entry_->escorts = HotEntry::kEscorts;
  }
  if (step != nullptr && step->copy == copy_) step->proven = std::max(step->proven, number_);
  ++entry_->bucket_reads;
  pool_.sender_.requests().stats().bucket_reads.Add();
  NameKeyInReply();
  return true;
}

HotTrail::Step* BucketRead::StepOf(const Request& request) const {
  ClientSession* client = Client(request);
  return client == nullptr ? nullptr : client->FindHotStep(entry_->key());
}

// XREAD's reply begins with the name that was asked for.
void BucketRead::NameKeyInReply() {
  const std::string_view reply = reply_.view();
  for (const std::string_view head : {std::string_view("*1\r\n*2\r\n"), std::string_view("%1\r\n")}) {
    if (!reply.starts_with(head) || !reply.substr(head.size()).starts_with(name_argument_)) continue;
    std::string named(head);
    protocol::AppendArg(named, entry_->key().key());
    named += reply.substr(head.size() + name_argument_.size());
    reply_ = pool_.sender_.requests().Copy(named);
    return;
  }
}

void BucketRead::AskPresence(Request& request) {
  std::string question(kExists);
  question += name_argument_;
  pool_.sender_.SendPart(request, kPresence, bucket_->shard_id, entry_->key().db(), question);
}

void BucketRead::AskKeyItself(Request& request) {
  key_asked_ = true;
  if (HotTrail::Step* step = StepOf(request)) step->fell_back = std::min(step->fell_back, number_);
  ++request.parts_pending;
  AwaitKey(request);
}

void BucketRead::AwaitKey(Request& request) {
  asked_generation_ = pool_.home_.Generation();
  pool_.home_.AwaitKey(request, *this, entry_->key().db(), entry_->key().key(), entry_->placement->hash);
}

void BucketRead::OnKeyPulled(Request& request, const PullOutcome& outcome) {
  if (outcome.kind == PullOutcome::Kind::kPulled) {
    // The next move may have begun while the key was on its way.
    const uint64_t hash = entry_->placement->hash;
    if (pool_.home_.Generation() != asked_generation_ || pool_.home_.IsHeld(hash)) {
      AwaitKey(request);
      return;
    }
    // On one connection, or a later read of the client might be carried out before this one.
    pool_.sender_.SendInOrder(request, kKeyItself, pool_.home_.OwnerOf(hash), entry_->key().db(), frame_,
                              nullptr);
  } else {
    reply_ = pool_.sender_.requests().Copy("-" + outcome.error + "\r\n");
  }
  pool_.sender_.requests().EndPart(&request);
}

void BucketRead::End(Request& request) {
  --entry_->in_flight;
  if (ClientSession* client = Client(request)) client->EndBucketRead();
  if (parent_ != nullptr) {
    pool_.sender_.requests().OnReply(parent_, parent_part_, reply_, true);
    return;
  }
  request.failed = protocol::IsError(reply_.view());
  if (request.failed) pool_.sender_.requests().stats().NoteError(reply_.view());
}

void BucketRead::Finish(Request&, OutputQueue& out) { out.Append(reply_); }

void BucketRead::Release() {
  reply_ = Slice{};
  parent_ = nullptr;
  presence_known_ = present_ = key_asked_ = false;
  pool_.free_.push_back(this);
}

}  // namespace ringway::proxy
