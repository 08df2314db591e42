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

bool AskKeysCollector::OnAllParts(Request& request) {
  std::string error;
  if (protocol::IsError(reply_.view())) {
    error = protocol::ErrorText(reply_.view());
  } else {
    std::vector<std::string_view> keys;
    protocol::ReplyCursor cursor(reply_.view());
    std::string_view element;
    while (cursor.Next(&element)) keys.push_back(protocol::BulkOf(element).value_or(""));
    // The command's own reply, or another collector, takes this one's place.
    CollectorPtr self = std::move(request.collector);
    error = router_.SendByKeys(request, command_, keys);
    if (error.empty()) return false;
    request.collector = std::move(self);
    reply_ = requests_.Copy("-" + error + "\r\n");
  }
  request.failed = true;
  requests_.stats().NoteError(error);
  return true;
}

void AskKeysCollector::Finish(Request&, OutputQueue& out) { out.Append(reply_); }

}  // namespace ringway::proxy
