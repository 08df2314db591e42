// What concerns one connection: PING, ECHO, QUIT, SELECT, ...
#include <algorithm>

#include "protocol/error_replies.h"
#include "protocol/number_text.h"
#include "proxy/local/entries.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

using Outcome = RequestHandler::Outcome;

Outcome Ping(LocalCall& call) {
  if (call.request.size() > 2) {
    call.reply.Error(protocol::WrongArity("ping"));
  } else if (call.request.size() == 2) {
    call.reply.Bulk(call.request[1]);
  } else {
    call.reply.Simple("PONG");
  }
  return Outcome::kTaken;
}

Outcome Echo(LocalCall& call) {
  call.reply.Bulk(call.request[1]);
  return Outcome::kTaken;
}

Outcome Quit(LocalCall& call) {
  call.reply.Ok();
  call.session.CloseAfterReplies();
  return Outcome::kTaken;
}

Outcome Select(LocalCall& call) {
  const std::optional<int64_t> db = protocol::ParseInt64(call.request[1]);
  if (!db.has_value()) {
    call.reply.Error(protocol::kNotInteger);
  } else if (*db < 0 || *db >= call.worker.config().databases) {
    call.reply.Error(protocol::kDbOutOfRange);
  } else {
    call.session.state().db = static_cast<uint32_t>(*db);
    call.reply.Ok();
  }
  return Outcome::kTaken;
}

constexpr LocalEntry kEntries[] = {
    {"ping", &Ping},
    {"echo", &Echo},
    {"quit", &Quit},
    {"select", &Select},
};

}  // namespace

std::span<const LocalEntry> ConnectionCommands() { return kEntries; }

}  // namespace ringway::proxy
