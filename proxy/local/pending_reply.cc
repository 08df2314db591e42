#include "proxy/local/pending_reply.h"

#include <utility>

namespace ringway::proxy {

PendingReply::PendingReply(LocalCall& call) : state_(std::make_shared<State>()) {
  auto write = std::make_shared<Gathering::Finish>(
      [](protocol::ReplyWriter& reply) { reply.Error("ERR the proxy is stopping"); });
  state_->write = write;
  state_->part = std::make_unique<Gathering::Part>(
      std::make_shared<Gathering>(call.worker, *call.session.NewRequest(call.row.id), 1,
                                  [write](protocol::ReplyWriter& reply) { (*write)(reply); }));
}

void PendingReply::Answer(Gathering::Finish write) {
  if (state_ == nullptr || state_->part == nullptr) return;
  *state_->write = std::move(write);
  state_->part.reset();
}

void PendingReply::Ok(std::string text) {
  Answer([text = std::move(text)](protocol::ReplyWriter& reply) { reply.Simple(text); });
}

void PendingReply::Error(std::string text) {
  Answer([text = std::move(text)](protocol::ReplyWriter& reply) { reply.Error(text); });
}

void PendingReply::Integer(int64_t value) {
  Answer([value](protocol::ReplyWriter& reply) { reply.Integer(value); });
}

}  // namespace ringway::proxy
