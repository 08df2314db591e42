#include "proxy/local/config_collectors.h"

#include <algorithm>

#include "protocol/reply_cursor.h"
#include "protocol/reply_writer.h"
#include "proxy/buffer/output_queue.h"
#include "proxy/local/gather.h"
#include "proxy/log.h"
#include "proxy/worker.h"

namespace ringway::proxy {

void SetOwnParameters(Worker& worker, const Parameters& own) {
  const auto changed =
      worker.state().ChangeConfig([&own](config::Config* config) { SetParameters(own, config); });
  for (const auto& [name, value] : own) {
    const config::Field& field = *config::FindField(name);
    LogInfo("CONFIG SET: " + std::string(field.path) + " is now '" + config::Get(*changed, field) + "'");
  }
}

void ConfigGetCollector::OnPart(Request& request, uint32_t, const Slice& reply) {
  if (!protocol::IsError(reply.view())) {
    Merge(reply.view());
  } else if (found_.empty()) {
    error_ = reply;
    request.failed = true;
    worker_.requests().stats().NoteError(reply.view());
  }
}

void ConfigGetCollector::Merge(std::string_view reply) {
  protocol::ReplyCursor cursor(reply);
  std::string_view name_reply;
  std::string_view value_reply;
  while (cursor.Next(&name_reply) && cursor.Next(&value_reply)) {
    const auto name = protocol::BulkOf(name_reply);
    const auto value = protocol::BulkOf(value_reply);
    if (!name.has_value() || !value.has_value() || config::FindField(*name) != nullptr) continue;
    const bool hide = IsSecretOfShard(*name) && !value->empty();
    found_.emplace_back(*name, hide ? config::kHiddenSecret : *value);
  }
}

void ConfigGetCollector::Finish(Request& request, OutputQueue& out) {
  if (error_.size > 0) {
    out.Append(error_);
    return;
  }
  std::string text;
  protocol::ReplyWriter writer(text, request.resp);
  writer.Map(found_.size());
  for (const auto& [name, value] : found_) {
    writer.Bulk(name);
    writer.Bulk(value);
  }
  out.Append(text);
}

void ConfigSetCollector::OnPart(Request& request, uint32_t, const Slice& reply) {
  if (applied_) return;
  if (protocol::IsError(reply.view())) {
    if (++failures_ == 1) error_ = protocol::ErrorText(reply.view());
  } else {
    ++successes_;
  }
  if (request.parts_pending > 1) return;
  if (failures_ > 0) {
    request.failed = true;
    worker_.requests().stats().NoteError(error_);
  } else if (!own_.empty()) {
    applied_ = true;
    SetOwnParameters(worker_, own_);
    AnswerWhenAllHaveIt(worker_, request, [](protocol::ReplyWriter& out) { out.Ok(); });
  }
}

void ConfigSetCollector::Finish(Request& request, OutputQueue& out) {
  std::string text;
  protocol::ReplyWriter writer(text, request.resp);
  if (failures_ == 0) {
    writer.Ok();
  } else if (successes_ == 0) {
    writer.Error(error_);
  } else {
    writer.Error("ERR CONFIG SET was carried out by " + std::to_string(successes_) + " of " +
                 std::to_string(successes_ + failures_) + " shards: " + error_);
  }
  out.Append(text);
}

}  // namespace ringway::proxy
