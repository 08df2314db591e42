#include "proxy/shard/shard_session.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "proxy/check.h"
#include "proxy/client/client_session.h"

namespace ringway::proxy {

ShardSession::ShardSession(RequestTable& requests, ShardStats& stats)
    : requests_(requests), stats_(stats), output_(requests.blocks()) {}

void ShardSession::TakePosition(Request* request, uint32_t part) {
  positions_.push_back(Position{request, part, requests_.now_usec()});
  stats_.requests.Add();
  stats_.in_flight.Set(stats_.in_flight.Get() + 1);
}

ShardSession::ReadBuffer ShardSession::PrepareRead() {
  if (!block_) {
    block_ = requests_.blocks().Take();
    reply_begin_ = end_ = 0;
  }
  if (block_->capacity - end_ < kMinReadBytes) {
    // The reply that is cut off moves on to a new block, so that it stays in one piece. It grows by half at
    // least, or a reply of many small elements would be copied for each read; it doubles at the most, since
    // memory follows the bytes received, never an announced length.
    const size_t size = end_ - reply_begin_;
    const size_t room = std::clamp(scanner_.missing_bytes(), std::max(size / 2, kMinReadBytes),
                                   std::max(size, kMinReadBytes));
    BlockRef next = requests_.blocks().Take(std::max(BlockPool::kBlockBytes, size + room));
    std::memcpy(next->data(), block_->data() + reply_begin_, size);
    block_ = std::move(next);
    reply_begin_ = 0;
    end_ = size;
  }
  return {block_->data() + end_, block_->capacity - end_};
}

bool ShardSession::OnBytesRead(size_t count) {
  stats_.bytes_in.Add(count);
  size_t scanned = end_;
  end_ += count;
  while (scanned < end_) {
    const auto [status, consumed] = scanner_.Scan(std::string_view(block_->data() + scanned, end_ - scanned));
    scanned += consumed;
    if (status == protocol::ParseStatus::kError) return false;
    if (status == protocol::ParseStatus::kNeedMore) break;
    if (scanner_.is_push()) {
      const std::string_view push(block_->data() + reply_begin_, scanned - reply_begin_);
      reply_begin_ = scanned;
      if (push_sink_ != nullptr) push_sink_->OnPush(push);
      continue;
    }
    if (positions_.empty()) return false;
    FinishReply(scanned);
  }
  // Nobody waits for what has begun: it is not kept until it ends.
  if (positions_.empty() && scanner_.in_progress() && !scanner_.is_push()) return false;
  HandleRest();
  return true;
}

void ShardSession::FinishReply(size_t end) {
  Position position = positions_.front();
  positions_.pop_front();
  ++answered_;
  streaming_ = false;
  if (positions_.empty()) occupied_ = false;
  const char* reply = block_->data() + reply_begin_;
  const size_t size = end - reply_begin_;
  reply_begin_ = end;
  Note(position);
  if (position.request != nullptr) Deliver(position, reply, size, true);
}

void ShardSession::Note(const Position& position) {
  if (scanner_.type() == '-') stats_.errors.Add();
  stats_.latency.Record(static_cast<uint64_t>(requests_.now_usec() - position.sent_usec));
  stats_.in_flight.Set(stats_.in_flight.Get() - 1);
}

// A reply is cut off at the end of what has been read.
void ShardSession::HandleRest() {
  const size_t size = end_ - reply_begin_;
  if (size == 0) {
    // Nothing left: an idle connection holds no memory.
    block_.Reset();
    reply_begin_ = end_ = 0;
    return;
  }
  if (size < kStreamBytes || positions_.empty() || scanner_.is_push()) return;
  Position& position = positions_.front();
  // What is merged must stay in one piece; what nobody waits for is thrown away as it comes.
  if (position.request != nullptr) {
    if (position.request->collector != nullptr) return;
    streaming_ = occupied_ = true;
    Deliver(position, block_->data() + reply_begin_, size, false);
  }
  block_.Reset();
  reply_begin_ = end_ = 0;
}

void ShardSession::Deliver(Position& position, const char* data, size_t size, bool final) {
  requests_.OnReply(position.request, position.part, Slice{block_, data, size}, final);
}

bool ShardSession::StreamIsBackedUp() {
  if (!streaming_) return false;
  const Request* request = positions_.front().request;
  if (request == nullptr || request->client == nullptr) return false;
  return request->client->IsBackedUp(request);
}

bool ShardSession::HasOthersBehindStream() {
  if (!drained(DrainFor::kMove) || !drained(DrainFor::kHotKeys)) return true;
  const ClientSession* client = positions_.front().request->client;
  for (size_t i = 1; i < positions_.size(); ++i) {
    const Request* request = positions_[i].request;
    if (request == nullptr) continue;
    // The proxy's own bring keys over, for which clients wait.
    if (request->internal || (request->client != nullptr && request->client != client)) return true;
  }
  return false;
}

void ShardSession::FailAll(std::string_view error) {
  // A queue of its own: answering may bring new requests to this very connection.
  RingQueue<Position> failed;
  std::swap(failed, positions_);
  answered_ += failed.size();
  output_.Clear();
  block_.Reset();
  reply_begin_ = end_ = 0;
  scanner_ = protocol::ReplyScanner();
  streaming_ = occupied_ = false;
  stats_.in_flight.Set(stats_.in_flight.Get() - failed.size());
  for (; !failed.empty(); failed.pop_front()) {
    Position& position = failed.front();
    if (position.request == nullptr) continue;
    stats_.errors.Add();
    if (position.request->state == Request::State::kStreaming) {
      if (position.request->client != nullptr) position.request->client->CloseBroken();
      requests_.OnCutOff(position.request);
    } else {
      requests_.OnError(position.request, position.part, error);
    }
  }
}

void ShardSession::FailSentBefore(int64_t usec, std::string_view error) {
  for (size_t i = 0; i < positions_.size(); ++i) {
    Position& position = positions_[i];
    if (position.sent_usec >= usec) break;
    if (position.request == nullptr || position.request->state == Request::State::kStreaming) continue;
    Request* request = std::exchange(position.request, nullptr);
    stats_.errors.Add();
    requests_.OnError(request, position.part, error);
  }
}

}  // namespace ringway::proxy
