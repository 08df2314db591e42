#include "proxy/local/parts_collector.h"

#include <string>

#include "protocol/reply_cursor.h"
#include "proxy/buffer/output_queue.h"

namespace ringway::proxy {

void PartsCollector::OnPart(Request& request, uint32_t part, const Slice& reply) {
  parts_[part] = requests_.Held(reply);
  if (!protocol::IsError(reply.view()) || request.failed) return;
  if (on_error_ == OnError::kMerge) return;
  error_ = parts_[part];
  request.failed = true;
  requests_.stats().NoteError(reply.view());
}

void PartsCollector::Finish(Request& request, OutputQueue& out) {
  if (request.failed) {
    out.Append(error_);
    return;
  }
  std::string bytes;
  protocol::ReplyWriter reply(bytes, request.resp);
  merge_(parts_, reply);
  out.Append(std::string_view(bytes));
}

}  // namespace ringway::proxy
