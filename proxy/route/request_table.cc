#include "proxy/route/request_table.h"

#include <cstring>
#include <string>
#include <utility>

#include "proxy/check.h"
#include "proxy/client/client_session.h"

namespace ringway::proxy {

Request* RequestTable::New(ClientSession* client, uint16_t command_id) {
  Request* request;
  if (free_.empty()) {
    request = &all_.emplace_back();
  } else {
    request = free_.back();
    free_.pop_back();
  }
  request->client = client;
  request->command_id = command_id;
  request->start_usec = now_usec_;
  return request;
}

Request* RequestTable::NewInternal(CollectorPtr collector) {
  Request* request = New(nullptr, WorkerStats::kOtherId);
  request->internal = true;
  request->collector = std::move(collector);
  return request;
}

void RequestTable::Free(Request* request) {
  RINGWAY_CHECK(request->parts_pending == 0 && request->hook == nullptr);
  request->next = nullptr;
  request->client = nullptr;
  request->collector.reset();
  request->held = Slice{};
  if (!request->held_more.empty()) std::vector<Slice>().swap(request->held_more);
  request->collected_bytes = 0;
  request->resp = 2;
  request->state = Request::State::kWaiting;
  request->silent = false;
  request->failed = false;
  request->internal = false;
  free_.push_back(request);
}

void RequestTable::Abandon(Request* request) {
  request->client = nullptr;
  request->next = nullptr;
  request->held = Slice{};
  request->held_more.clear();
  if (request->collector != nullptr) request->collector->OnAbandoned();
  if (request->parts_pending == 0) Free(request);
}

void RequestTable::OnReply(Request* request, uint32_t part, const Slice& piece, bool final) {
  if (request->collector != nullptr) {
    if (request->client != nullptr) request->client->OnPartCollected(request, piece.size);
    request->collector->OnPart(*request, part, piece);
    EndPart(request);
    return;
  }
  if (final) {
    if (request->state == Request::State::kWaiting && piece.data[0] == '-') {
      request->failed = true;
      stats_.NoteError(piece.view());
    }
    if (--request->parts_pending == 0) [[likely]] {
      Complete(request, piece);
      return;
    }
  }
  if (request->client != nullptr) request->client->OnReplyPiece(request, piece);
}

void RequestTable::EndPart(Request* request) {
  while (--request->parts_pending == 0) {
    if (request->collector == nullptr) {
      Complete(request, Slice{});
      return;
    }
    // Held meanwhile: what it sends may be answered on the spot.
    ++request->parts_pending;
    if (!request->collector->OnAllParts(*request)) continue;
    request->parts_pending = 0;
    Complete(request, Slice{});
    return;
  }
}

void RequestTable::Complete(Request* request, const Slice& last_piece) {
  if (request->hook != nullptr) [[unlikely]]
    TellHook(request);
  if (request->internal) [[unlikely]] {
    Free(request);
    return;
  }
  const auto usec = static_cast<uint64_t>(now_usec_ - request->start_usec);
  CommandStats& command = stats_.by_command.At(request->command_id);
  command.calls.Add();
  command.usec.Add(usec);
  command.latency.Record(usec);
  if (request->failed) command.failed.Add();
  if (request->client != nullptr) {
    request->client->OnReplyComplete(request, last_piece);
  } else {
    Free(request);
  }
}

void RequestTable::OnCutOff(Request* request) {
  if (request->hook != nullptr) {
    request->in_doubt = true;
    TellHook(request);
  }
  --request->parts_pending;
  if (request->client == nullptr) Free(request);
}

void RequestTable::TellHook(Request* request) {
  const bool in_doubt = std::exchange(request->in_doubt, false);
  std::exchange(request->hook, nullptr)->OnComplete(in_doubt);
}

void RequestTable::OnError(Request* request, uint32_t part, std::string_view error) {
  if (request->hook != nullptr) request->in_doubt = true;
  Refuse(request, part, error);
}

void RequestTable::Refuse(Request* request, uint32_t part, std::string_view error) {
  std::string text;
  text.reserve(error.size() + 3);
  text.append("-").append(error).append("\r\n");
  OnReply(request, part, Copy(text), true);
}

Slice RequestTable::Copy(std::string_view text) {
  BlockRef block = blocks_.Take(text.size());
  std::memcpy(block->data(), text.data(), text.size());
  const char* data = block->data();
  return Slice{std::move(block), data, text.size()};
}

Slice RequestTable::Held(const Slice& slice) {
  if (blocks_.bytes_in_use() < kMaxPinnedBytes || slice.size * 2 > slice.block->capacity) return slice;
  return Copy(slice.view());
}

}  // namespace ringway::proxy
