// CLIENT's subcommands that concern the caller alone.
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "protocol/error_replies.h"
#include "protocol/number_text.h"
#include "proxy/local/client_attributes.h"
#include "proxy/local/client_list.h"
#include "proxy/local/entries.h"
#include "proxy/local/gather.h"
#include "proxy/words.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

using Outcome = RequestHandler::Outcome;

Outcome ClientId(LocalCall& call) {
  call.reply.Integer(static_cast<int64_t>(call.session.state().id));
  return Outcome::kTaken;
}

Outcome ClientGetName(LocalCall& call) {
  const std::string& name = call.session.state().name;
  if (name.empty()) {
    call.reply.Null();
  } else {
    call.reply.Bulk(name);
  }
  return Outcome::kTaken;
}

Outcome ClientSetName(LocalCall& call) {
  if (!IsPrintable(call.request[2])) {
    call.reply.Error(kBadClientName);
  } else {
    call.session.state().name = call.request[2];
    call.reply.Ok();
  }
  return Outcome::kTaken;
}

Outcome ClientSetInfo(LocalCall& call) {
  const std::string_view attribute = call.request[2];
  SessionState& state = call.session.state();
  std::string* target = IsWord(attribute, "lib-name")  ? &state.lib_name
                        : IsWord(attribute, "lib-ver") ? &state.lib_version
                                                       : nullptr;
  if (target == nullptr) {
    call.reply.Error("ERR Unrecognized option '" + std::string(UpToNul(attribute)) + "'");
  } else if (!IsPrintable(call.request[3])) {
    call.reply.Error("ERR " + std::string(attribute) +
                     " cannot contain spaces, newlines or special characters.");
  } else {
    *target = call.request[3];
    call.reply.Ok();
  }
  return Outcome::kTaken;
}

Outcome ClientInfo(LocalCall& call) {
  ClientFacts facts = FactsOf(call.session);
  facts.command = call.row.name;
  std::string line;
  AppendClientLine(call.session.state(), facts, call.worker.loop().now_usec(), line);
  line.push_back('\n');
  call.reply.Verbatim(line);
  return Outcome::kTaken;
}

// ON or OFF; null when it is neither, and the error is written.
const bool* OnOrOff(LocalCall& call) {
  static constexpr bool kOn = true;
  static constexpr bool kOff = false;
  if (IsWord(call.request[2], "on")) return &kOn;
  if (IsWord(call.request[2], "off")) return &kOff;
  call.reply.Error(protocol::kSyntaxError);
  return nullptr;
}

// Kept for CLIENT LIST; the proxy evicts nobody.
Outcome ClientNoEvict(LocalCall& call) {
  if (const bool* on = OnOrOff(call)) {
    call.session.state().no_evict = *on;
    call.reply.Ok();
  }
  return Outcome::kTaken;
}

Outcome ClientNoTouch(LocalCall& call) {
  if (const bool* on = OnOrOff(call)) {
    call.session.state().no_touch = *on;
    call.reply.Ok();
  }
  return Outcome::kTaken;
}

void CountUnanswered(LocalCall& call) {
  call.worker.requests().stats().by_command.At(call.row.id).calls.Add();
}

// Only ON has an answer. SKIP leaves the next command without one; within OFF it changes nothing.
Outcome ClientReply(LocalCall& call) {
  using Mode = SessionState::ReplyMode;
  Mode& mode = call.session.state().reply_mode;
  if (IsWord(call.request[2], "on")) {
    mode = Mode::kOn;
    call.reply.Ok();
  } else if (IsWord(call.request[2], "off")) {
    mode = Mode::kOff;
    CountUnanswered(call);
  } else if (IsWord(call.request[2], "skip")) {
    if (mode != Mode::kOff) mode = Mode::kSkipNext;
    CountUnanswered(call);
  } else {
    call.reply.Error(protocol::kSyntaxError);
  }
  return Outcome::kTaken;
}

Outcome ClientGetRedir(LocalCall& call) {
  call.reply.Integer(-1);
  return Outcome::kTaken;
}

Outcome ClientTrackingInfo(LocalCall& call) {
  call.reply.Map(3);
  call.reply.Bulk("flags");
  call.reply.Set(1);
  call.reply.Bulk("off");
  call.reply.Bulk("redirect");
  call.reply.Integer(-1);
  call.reply.Bulk("prefixes");
  call.reply.Array(0);
  return Outcome::kTaken;
}

Outcome ClientUnblock(LocalCall& call) {
  const protocol::RequestView& request = call.request;
  if (request.size() > 4) {
    call.reply.Error(protocol::SubcommandSyntaxError("CLIENT", request[1]));
    return Outcome::kTaken;
  }
  if (request.size() == 4 && !IsWord(request[3], "timeout") && !IsWord(request[3], "error")) {
    call.reply.Error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
    return Outcome::kTaken;
  }
  const std::optional<int64_t> id = protocol::ParseInt64(request[2]);
  if (!id.has_value()) {
    call.reply.Error(protocol::kNotInteger);
    return Outcome::kTaken;
  }
  const bool error = request.size() == 4 && IsWord(request[3], "error");
  return Gather<int>(
      call,
      [id = static_cast<uint64_t>(*id), error](Worker& worker) {
        ClientConnection* client = worker.FindClient(id);
        return client != nullptr && worker.router().Unblock(client->session(), error) ? 1 : 0;
      },
      [](std::vector<int>& woken, protocol::ReplyWriter& reply) {
        reply.Integer(std::accumulate(woken.begin(), woken.end(), 0));
      });
}

constexpr LocalEntry kEntries[] = {
    {"client|id", &ClientId},
    {"client|getname", &ClientGetName},
    {"client|setname", &ClientSetName},
    {"client|info", &ClientInfo},
    {"client|no-evict", &ClientNoEvict},
    {"client|reply", &ClientReply},
    {"client|getredir", &ClientGetRedir},
    {"client|trackinginfo", &ClientTrackingInfo},
    {"client|unblock", &ClientUnblock},
    {"client|help", &AskAnyShard},
};

}  // namespace

std::span<const LocalEntry> ClientCommands() { return kEntries; }

std::span<const OwnCommand> OwnClientCommands() {
  using namespace protocol;
  constexpr uint32_t kFlags = kNoScript | kLoading | kStale;
  static const OwnCommand kOwn[] = {
      {MakeOwnRow("client|setinfo", 4, kFlags, WorkerStats::kOtherId), &ClientSetInfo},
      {MakeOwnRow("client|no-touch", 3, kFlags, WorkerStats::kOtherId), &ClientNoTouch},
  };
  return kOwn;
}

}  // namespace ringway::proxy
