// What concerns one connection: PING, ECHO, QUIT, SELECT, AUTH, HELLO, RESET.
#include <optional>
#include <string>

#include "protocol/error_replies.h"
#include "protocol/number_text.h"
#include "proxy/local/auth.h"
#include "proxy/local/client_attributes.h"
#include "proxy/local/entries.h"
#include "proxy/redis_version.h"
#include "proxy/transaction/transaction.h"
#include "proxy/words.h"
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

// Another database or protocol version means other connections to the shards, which have no order with those
// that carry what the client has asked before.
bool MustWaitToChange(LocalCall& call, uint32_t db, int64_t resp) {
  const SessionState& state = call.session.state();
  if (call.session.pending() == 0 || (state.db == db && state.resp == resp)) return false;
  call.session.StallUntilAnswered();
  return true;
}

Outcome Select(LocalCall& call) {
  const std::optional<int64_t> db = protocol::ParseInt64(call.request[1]);
  if (!db.has_value()) {
    call.reply.Error(protocol::kNotInteger);
  } else if (*db < 0 || *db >= call.worker.config().databases) {
    call.reply.Error(protocol::kDbOutOfRange);
  } else if (MustWaitToChange(call, static_cast<uint32_t>(*db), call.session.state().resp)) {
    return Outcome::kStall;
  } else {
    call.session.state().db = static_cast<uint32_t>(*db);
    call.reply.Ok();
  }
  return Outcome::kTaken;
}

Outcome Auth(LocalCall& call) {
  const protocol::RequestView& request = call.request;
  const config::Config& config = call.worker.config();
  if (request.size() > 3) {
    call.reply.Error(protocol::kSyntaxError);
  } else if (request.size() == 2 && config.requirepass.empty()) {
    call.reply.Error(protocol::kAuthWithoutPassword);
  } else if (!MayEnter(config, request.size() == 2 ? "default" : request[1], request[request.size() - 1])) {
    call.reply.Error(protocol::kWrongPass);
  } else {
    call.session.state().authenticated = true;
    call.reply.Ok();
  }
  return Outcome::kTaken;
}

// The options behind HELLO's version. Each takes effect where it stands, even if a later one is refused. The
// error, if there is one.
std::optional<std::string> TakeHelloOptions(LocalCall& call) {
  const protocol::RequestView& request = call.request;
  SessionState& state = call.session.state();
  for (size_t i = 2; i < request.size(); ++i) {
    const size_t more = request.size() - 1 - i;
    if (IsWord(request[i], "auth") && more >= 2) {
      if (!MayEnter(call.worker.config(), request[i + 1], request[i + 2])) {
        return std::string(protocol::kWrongPass);
      }
      state.authenticated = true;
      i += 2;
    } else if (IsWord(request[i], "setname") && more >= 1) {
      if (!IsPrintable(request[i + 1])) return std::string(kBadClientName);
      state.name = request[i + 1];
      i += 1;
    } else {
      return protocol::HelloSyntaxError(UpToNul(request[i]));
    }
  }
  return std::nullopt;
}

void WriteHello(const SessionState& state, protocol::ReplyWriter& out) {
  out.Map(7);
  out.Bulk("server");
  out.Bulk("redis");
  out.Bulk("version");
  out.Bulk(kRedisVersion);
  out.Bulk("proto");
  out.Integer(state.resp);
  out.Bulk("id");
  out.Integer(static_cast<int64_t>(state.id));
  out.Bulk("mode");
  out.Bulk("standalone");
  out.Bulk("role");
  out.Bulk("master");
  out.Bulk("modules");
  out.Array(0);
}

Outcome Hello(LocalCall& call) {
  SessionState& state = call.session.state();
  int64_t version = state.resp;
  if (call.request.size() > 1) {
    const std::optional<int64_t> asked = protocol::ParseInt64(call.request[1]);
    if (!asked.has_value() || *asked < 2 || *asked > 3) {
      call.reply.Error(asked.has_value() ? protocol::kNoProto : protocol::kProtocolVersionNotInteger);
      return Outcome::kTaken;
    }
    version = *asked;
    if (MustWaitToChange(call, state.db, version)) return Outcome::kStall;
  }
  if (const auto error = TakeHelloOptions(call)) {
    call.reply.Error(*error);
  } else if (!state.authenticated) {
    call.reply.Error(protocol::kHelloNoAuth);
  } else {
    state.resp = static_cast<uint8_t>(version);
    // In the version just agreed on.
    std::string text;
    protocol::ReplyWriter out(text, state.resp);
    WriteHello(state, out);
    call.reply.Raw(text);
  }
  return Outcome::kTaken;
}

Outcome Reset(LocalCall& call) {
  if (MustWaitToChange(call, 0, 2)) return Outcome::kStall;
  SessionState& state = call.session.state();
  if (call.session.find_transaction() != nullptr) {
    call.session.transaction().Close();
    call.session.transaction().Unwatch();
  }
  state.modes = 0;
  state.db = 0;
  state.resp = 2;
  state.authenticated = call.worker.config().requirepass.empty();
  state.user = "default";
  state.name.clear();
  // RESET after CLIENT REPLY SKIP stays without an answer.
  if (state.reply_mode == SessionState::ReplyMode::kOff) state.reply_mode = SessionState::ReplyMode::kOn;
  call.reply.Simple("RESET");
  return Outcome::kTaken;
}

constexpr LocalEntry kEntries[] = {
    {"ping", &Ping}, {"echo", &Echo},   {"quit", &Quit},   {"select", &Select},
    {"auth", &Auth}, {"hello", &Hello}, {"reset", &Reset},
};

}  // namespace

std::span<const LocalEntry> ConnectionCommands() { return kEntries; }

}  // namespace ringway::proxy
