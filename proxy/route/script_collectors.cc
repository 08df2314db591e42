#include "proxy/route/script_collectors.h"

#include <optional>
#include <vector>

#include "protocol/command_writer.h"
#include "protocol/reply_cursor.h"
#include "proxy/buffer/output_queue.h"

namespace ringway::proxy {

void EvalShaCollector::OnPart(Request& request, uint32_t part, const Slice& reply) {
  if (part == kLoad) return;
  reply_ = reply;
  if (part == kFirstTry && reply.view().starts_with("-NOSCRIPT")) {
    const std::optional<std::string> body = scripts_.Find(sha_);
    if (body.has_value()) {
      std::string load;
      protocol::AppendCommand(load, {"SCRIPT", "LOAD", *body});
      sender_.SendPart(request, kLoad, shard_id_, db_, load);
      sender_.SendPart(request, kSecondTry, shard_id_, db_, frame_);
      return;
    }
  }
  request.failed = protocol::IsError(reply.view());
  if (request.failed) sender_.requests().stats().NoteError(reply.view());
}

void EvalShaCollector::Finish(Request&, OutputQueue& out) { out.Append(reply_); }

void AskKeysCollector::OnPart(Request& request, uint32_t part, const Slice& reply) {
  reply_ = reply;
  request.failed = protocol::IsError(reply.view());
  if (request.failed) sender_.requests().stats().NoteError(reply.view());
  if (part == kCommand || request.failed) return;
  std::vector<std::string_view> keys;
  protocol::ReplyCursor cursor(reply.view());
  std::string_view element;
  while (cursor.Next(&element)) keys.push_back(protocol::BulkOf(element).value_or(""));
  uint32_t shard_id = 0;
  const std::string error = router_.RouteKeys(keys, &shard_id);
  if (error.empty()) {
    sender_.SendPart(request, kCommand, shard_id, db_, frame_);
  } else {
    request.failed = true;
    sender_.requests().stats().NoteError(error);
    reply_ = sender_.requests().Copy("-" + error + "\r\n");
  }
}

void AskKeysCollector::Finish(Request&, OutputQueue& out) { out.Append(reply_); }

}  // namespace ringway::proxy
