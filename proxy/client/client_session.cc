#include "proxy/client/client_session.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "proxy/check.h"
#include "proxy/route/request_table.h"
#include "proxy/transaction/transaction.h"

namespace ringway::proxy {
namespace {

// The smallest block for the rest of a cut-off request.
constexpr size_t kMinInputBytes = 4 * 1024;

std::string ErrorReply(std::string_view error) {
  std::string reply;
  reply.reserve(error.size() + 3);
  reply.append("-").append(error).append("\r\n");
  return reply;
}

}  // namespace

ClientSession::ClientSession(SessionEnvironment& environment, ClientHost& host)
    : environment_(environment), host_(host), output_(environment.blocks) {}

ClientSession::~ClientSession() {
  while (head_ != nullptr) {
    Request* request = std::exchange(head_, head_->next);
    environment_.requests.Abandon(request);
  }
  if (resumable_) std::erase(environment_.resumable, this);
}

// --- input ---

ClientSession::ReadBuffer ClientSession::PrepareRead() {
  if (!input_) {
    BlockRef& scratch = environment_.scratch;
    if (!scratch || !scratch.IsSole()) scratch = environment_.blocks.Take();
    return {scratch->data(), scratch->capacity};
  }
  // Requests under way may refer to the block, but only to what lies before input_end_.
  if (input_end_ == input_->capacity) {
    GrowInput(std::max(parser_.missing_bytes(), size_t{1}));
  }
  return {input_->data() + input_end_, input_->capacity - input_end_};
}

void ClientSession::OnBytesRead(size_t count) {
  if (!input_) {
    // A copy of the reference: the scratch block may be replaced while requests refer to it.
    const BlockRef block = environment_.scratch;
    const std::string_view data(block->data(), count);
    const size_t used = ParseAll(data, block);
    if (used < count) KeepInput(block, data.data() + used, count - used);
    return;
  }
  input_end_ += count;
  if (!stopped_) ParseInput();
}

void ClientSession::Resume() {
  stopped_ = stalled_ = resumable_ = awaits_replies_ = false;
  if (input_) ParseInput();
}

void ClientSession::ParseInput() {
  const std::string_view data(input_->data() + input_begin_, input_end_ - input_begin_);
  const BlockRef block = input_;
  input_begin_ += ParseAll(data, block);
  if (input_begin_ == input_end_) {
    input_.Reset();
    input_begin_ = input_end_ = 0;
  }
}

size_t ClientSession::ParseAll(std::string_view data, const BlockRef& block) {
  size_t position = 0;
  while (position < data.size()) {
    if (closing_) return data.size();
    if (!MayParse()) {
      stopped_ = true;
      break;
    }
    protocol::RequestLimits limits = environment_.limits.request;
    limits.unauthenticated = !state_.authenticated;
    const auto status = parser_.Parse(data.substr(position), limits);
    if (status == protocol::ParseStatus::kNeedMore) break;
    if (status == protocol::ParseStatus::kError) {
      Reject(WorkerStats::kOtherId, parser_.error());
      CloseAfterReplies();
      return data.size();
    }
    const protocol::RequestView request = parser_.request();
    if (request.size() > 0) {
      const BlockRef* source = parser_.is_inline() ? nullptr : &block;
      if (environment_.handler.Handle(*this, request, source) == RequestHandler::Outcome::kStall) {
        stopped_ = stalled_ = true;
        break;
      }
    }
    position += parser_.consumed();
  }
  // Between requests: what a very large one has left does not stay with an idle client.
  if (position == data.size()) parser_.ReleaseMemory();
  return position;
}

bool ClientSession::MayParse() const {
  return pending_ < environment_.limits.pipeline && unsent_bytes() < kSoftOutputBytes;
}

void ClientSession::KeepInput(const BlockRef& block, const char* data, size_t size) {
  // A nearly full scratch block is kept as it is; a small rest moves to a small block.
  if (size > block->capacity / 2) {
    input_ = block;
    input_begin_ = static_cast<size_t>(data - block->data());
    input_end_ = input_begin_ + size;
    environment_.scratch.Reset();
    return;
  }
  input_ = environment_.blocks.Take(std::max(kMinInputBytes, size * 2));
  std::memcpy(input_->data(), data, size);
  input_begin_ = 0;
  input_end_ = size;
}

// By half at least, or a request of many small arguments would be copied for each of them; doubles at the
// most, since memory follows the bytes received, never the length announced.
void ClientSession::GrowInput(size_t wanted_room) {
  const size_t size = input_end_ - input_begin_;
  wanted_room = std::clamp(wanted_room, size / 2, size);
  if (input_.IsSole() && input_begin_ >= size && input_begin_ > 0 && input_begin_ >= wanted_room) {
    std::memcpy(input_->data(), input_->data() + input_begin_, size);
  } else {
    BlockRef larger = environment_.blocks.Take(std::max(kMinInputBytes, size + wanted_room + 1));
    std::memcpy(larger->data(), input_->data() + input_begin_, size);
    input_ = std::move(larger);
  }
  input_begin_ = 0;
  input_end_ = size;
}

// --- replies ---

bool ClientSession::ConsumeSilence() {
  switch (state_.reply_mode) {
    case SessionState::ReplyMode::kOn:
      return false;
    case SessionState::ReplyMode::kOff:
      return true;
    case SessionState::ReplyMode::kSkipNext:
      state_.reply_mode = SessionState::ReplyMode::kOn;
      return true;
  }
  return false;
}

Request* ClientSession::NewRequest(uint16_t command_id) {
  Request* request = environment_.requests.New(this, command_id);
  request->resp = state_.resp;
  request->silent = ConsumeSilence();
  (tail_ == nullptr ? head_ : tail_->next) = request;
  tail_ = request;
  ++pending_;
  ++taken_;
  return request;
}

void ClientSession::Reply(uint16_t command_id, std::string_view reply) {
  CommandStats& stats = environment_.requests.stats().by_command.At(command_id);
  stats.calls.Add();
  stats.latency.Record(0);
  if (!reply.empty() && reply.front() == '-') {
    stats.failed.Add();
    environment_.requests.stats().NoteError(reply);
  }
  EmitWhole(command_id, reply);
}

void ClientSession::ReplyError(uint16_t command_id, std::string_view error) {
  Reply(command_id, ErrorReply(error));
}

void ClientSession::Reject(uint16_t command_id, std::string_view error) {
  if (transaction_ != nullptr) transaction_->Taint();
  environment_.requests.stats().by_command.At(command_id).rejected.Add();
  environment_.requests.stats().NoteError(error);
  EmitWhole(command_id, ErrorReply(error));
}

void ClientSession::EmitWhole(uint16_t command_id, std::string_view reply) {
  if (head_ == nullptr) {
    if (ConsumeSilence()) return;
    output_.Append(reply);
    environment_.dirty_clients.Add(&host_);
    CheckOutputLimit();
    return;
  }
  Request* request = NewRequest(command_id);
  request->state = Request::State::kDone;
  if (!request->silent) Hold(request, environment_.requests.Copy(reply));
}

void ClientSession::OnReplyPiece(Request* request, const Slice& piece) {
  request->state = Request::State::kStreaming;
  AppendPiece(request, piece);
}

void ClientSession::OnReplyComplete(Request* request, const Slice& last_piece) {
  if (last_piece.size > 0) AppendPiece(request, last_piece);
  request->state = Request::State::kDone;
  if (request == head_) DrainDone();
}

void ClientSession::OnPartCollected(Request* request, size_t bytes) {
  request->collected_bytes += bytes;
  held_bytes_ += bytes;
  CheckOutputLimit();
}

void ClientSession::AppendPiece(Request* request, const Slice& piece) {
  if (request->silent) return;
  if (request == head_) {
    output_.Append(piece);
    environment_.dirty_clients.Add(&host_);
    CheckOutputLimit();
  } else {
    Hold(request, environment_.requests.Held(piece));
  }
}

void ClientSession::Hold(Request* request, const Slice& piece) {
  held_bytes_ += piece.size;
  if (request->held.size == 0) {
    request->held = piece;
  } else {
    request->held_more.push_back(piece);
  }
  CheckOutputLimit();
}

void ClientSession::Push(const Slice& message) {
  if (head_ != nullptr && head_->state == Request::State::kStreaming) {
    held_pushes_.push_back(environment_.requests.Held(message));
    held_bytes_ += message.size;
  } else {
    output_.Append(message);
    environment_.dirty_clients.Add(&host_);
  }
  CheckOutputLimit();
}

void ClientSession::AppendHeldPushes() {
  for (const Slice& message : held_pushes_) {
    output_.Append(message);
    held_bytes_ -= message.size;
  }
  held_pushes_.clear();
}

void ClientSession::PopHead() {
  Request* request = head_;
  head_ = request->next;
  if (head_ == nullptr) tail_ = nullptr;
  --pending_;
  held_bytes_ -= request->collected_bytes;
  environment_.requests.Free(request);
}

// The oldest request is done: passes on what stands behind it, as far as that is done too.
void ClientSession::DrainDone() {
  while (true) {
    if (head_->collector != nullptr && !head_->silent) head_->collector->Finish(*head_, output_);
    PopHead();
    if (!held_pushes_.empty()) [[unlikely]]
      AppendHeldPushes();
    if (head_ == nullptr) break;
    if (head_->held.size > 0) {
      output_.Append(head_->held);
      held_bytes_ -= head_->held.size;
      head_->held = Slice{};
      for (const Slice& piece : head_->held_more) {
        output_.Append(piece);
        held_bytes_ -= piece.size;
      }
      head_->held_more.clear();
    }
    if (head_->state != Request::State::kDone) break;
  }
  if (head_ == nullptr) detour_ = ShardDetour{};
  environment_.dirty_clients.Add(&host_);
  CheckOutputLimit();
  if (stopped_) MaybeResume();
}

void ClientSession::CheckOutputLimit() {
  if (unsent_bytes() <= environment_.limits.client_output) [[likely]]
    return;
  if (std::exchange(overflowed_, true)) return;
  environment_.requests.stats().output_overflows.Add();
  CloseBroken();
}

// Half of each limit must be free again, so that a client does not stop and go with every request.
void ClientSession::MaybeResume() {
  if (stalled_) {
    if (awaits_replies_ && pending_ == 0) MarkResumable();
    return;
  }
  if (pending_ > environment_.limits.pipeline / 2) return;
  if (unsent_bytes() > kSoftOutputBytes / 2) return;
  MarkResumable();
}

Transaction& ClientSession::transaction() {
  if (transaction_ == nullptr) transaction_ = std::make_unique<Transaction>();
  return *transaction_;
}

void ClientSession::MarkResumable() {
  if (inner_ != nullptr) inner_->MarkResumable();
  if (resumable_) return;
  resumable_ = true;
  environment_.resumable.push_back(this);
}

}  // namespace ringway::proxy
