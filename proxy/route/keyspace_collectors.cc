#include "proxy/route/keyspace_collectors.h"

#include <numeric>
#include <string>

#include "protocol/command_writer.h"
#include "protocol/reply_cursor.h"
#include "proxy/buffer/output_queue.h"
#include "proxy/route/scan_cursor.h"

namespace ringway::proxy {
namespace {

constexpr std::string_view kRandomKey = "*1\r\n$9\r\nRANDOMKEY\r\n";

}  // namespace

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
  const uint64_t inner = ParseCursor(*inner_text).value_or(0);
  uint64_t next = 0;
  if (inner != 0) {
    next = ScanCursor{shard_id_, inner}.Encode();
  } else if (next_shard_id_.has_value()) {
    next = ScanCursor{*next_shard_id_, 0}.Encode();
  }
  std::string head = "*2\r\n";
  protocol::AppendArg(head, std::to_string(next));
  out.Append(head);
  out.Append(cursor.rest(), &reply_.block);
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

void RandomKeyCollector::Finish(Request& request, OutputQueue& out) {
  if (reply_.size > 0) {
    out.Append(reply_);
  } else if (error_.size > 0) {
    out.Append(error_);
  } else {
    out.Append(std::string_view(request.resp == 3 ? "_\r\n" : "$-1\r\n"));
  }
}

}  // namespace ringway::proxy
