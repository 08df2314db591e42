#include "proxy/info/info_collector.h"

#include "protocol/reply_cursor.h"
#include "protocol/reply_writer.h"
#include "proxy/buffer/output_queue.h"

namespace ringway::proxy {

void InfoCollector::OnPart(Request&, uint32_t part, const Slice& reply) {
  ShardReport& report = facts_.shards[part];
  if (const auto text = protocol::BulkOf(reply.view())) {
    report.up = true;
    report.info = ShardInfo::Parse(*text);
    return;
  }
  // Any other error comes from the shard itself (its user may not run INFO): it serves, but does not tell.
  report.up = !protocol::ErrorCode(reply.view()).starts_with("SHARD");
}

void InfoCollector::Finish(Request& request, OutputQueue& out) {
  std::string bytes;
  protocol::ReplyWriter(bytes, request.resp).Verbatim(WriteSections(sections_, facts_));
  out.Append(std::string_view(bytes));
}

}  // namespace ringway::proxy
