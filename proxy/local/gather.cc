#include "proxy/local/gather.h"

#include <string>

namespace ringway::proxy {

Gathering::Gathering(Worker& home, Request& request, size_t parts, Finish finish)
    : home_(home), request_(request), finish_(std::move(finish)), left_(parts) {
  ++request_.parts_pending;
}

void Gathering::EndPart() {
  if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  home_.Post([self = shared_from_this()] { self->Answer(); });
}

void Gathering::Answer() {
  std::string text;
  protocol::ReplyWriter reply(text, request_.resp);
  finish_(reply);
  home_.requests().OnReply(&request_, 0, home_.requests().Copy(text), true);
}

void AnswerWhenAllHaveIt(Worker& home, Request& request, Gathering::Finish finish) {
  Gather<char>(
      home, request, [](Worker&) { return '\0'; },
      [finish = std::move(finish)](std::vector<char>&, protocol::ReplyWriter& reply) { finish(reply); });
}

RequestHandler::Outcome AnswerWhenAllHaveIt(LocalCall& call, Gathering::Finish finish) {
  AnswerWhenAllHaveIt(call.worker, *call.session.NewRequest(call.row.id), std::move(finish));
  return RequestHandler::Outcome::kTaken;
}

}  // namespace ringway::proxy
