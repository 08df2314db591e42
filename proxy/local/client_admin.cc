// CLIENT's subcommands that concern the clients of all workers: LIST, KILL, PAUSE, UNPAUSE.
#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "protocol/error_replies.h"
#include "protocol/number_text.h"
#include "proxy/local/client_filters.h"
#include "proxy/local/client_list.h"
#include "proxy/local/entries.h"
#include "proxy/local/gather.h"
#include "proxy/words.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

using Outcome = RequestHandler::Outcome;
using Lines = std::map<uint64_t, std::string>;  // by the client's id, which is the order of arrival

void AddLine(const ClientSession& session, const ClientFacts& facts, int64_t now_usec, Lines* lines) {
  std::string& line = (*lines)[session.state().id];
  AppendClientLine(session.state(), facts, now_usec, line);
  line.push_back('\n');
}

Lines LinesOf(Worker& worker, const ClientFilter& filter, uint64_t caller) {
  Lines lines;
  for (const auto& [id, client] : worker.clients()) {
    const ClientSession& session = client->session();
    if (id == caller || !filter.Matches(session.state())) continue;
    if (filter.by_ids &&
        std::find(filter.ids.begin(), filter.ids.end(), static_cast<int64_t>(id)) == filter.ids.end()) {
      continue;
    }
    AddLine(session, FactsOf(session), worker.loop().now_usec(), &lines);
  }
  return lines;
}

std::string JoinLines(const Lines& lines, const ClientFilter& filter) {
  std::string text;
  if (!filter.by_ids) {
    for (const auto& [id, line] : lines) text += line;
    return text;
  }
  for (const int64_t id : filter.ids) {
    const auto found = lines.find(static_cast<uint64_t>(id));
    if (found != lines.end()) text += found->second;
  }
  return text;
}

Outcome ClientList(LocalCall& call) {
  ClientFilter filter;
  if (const auto error = ParseClientList(call.request, &filter)) {
    call.reply.Error(*error);
    return Outcome::kTaken;
  }
  // The caller's own line as it is now: when the others have answered, its next commands may have run.
  Lines own;
  if (filter.Matches(call.session.state())) {
    ClientFacts facts = FactsOf(call.session);
    facts.command = call.row.name;
    AddLine(call.session, facts, call.worker.loop().now_usec(), &own);
  }
  const uint64_t caller = call.session.state().id;
  return Gather<Lines>(
      call, [filter, caller](Worker& worker) { return LinesOf(worker, filter, caller); },
      [filter, own = std::move(own)](std::vector<Lines>& answers, protocol::ReplyWriter& reply) {
        Lines all = own;
        for (Lines& lines : answers) all.merge(lines);
        reply.Verbatim(JoinLines(all, filter));
      });
}

int64_t KillOthers(Worker& worker, const ClientFilter& filter, uint64_t caller) {
  int64_t killed = 0;
  for (const auto& [id, client] : worker.clients()) {
    if (id == caller || !filter.Matches(client->session().state())) continue;
    client->session().CloseBroken();
    ++killed;
  }
  return killed;
}

Outcome ClientKill(LocalCall& call) {
  ClientFilter filter;
  if (const auto error = ParseClientKill(call.request, &filter)) {
    call.reply.Error(*error);
    return Outcome::kTaken;
  }
  const bool old_form = call.request.size() == 3;
  const uint64_t caller = call.session.state().id;
  const bool kills_itself = !filter.skip_me && filter.Matches(call.session.state());
  const Outcome outcome = Gather<int64_t>(
      call, [filter, caller](Worker& worker) { return KillOthers(worker, filter, caller); },
      [old_form, kills_itself](std::vector<int64_t>& answers, protocol::ReplyWriter& reply) {
        int64_t killed = kills_itself ? 1 : 0;
        for (const int64_t count : answers) killed += count;
        if (!old_form) {
          reply.Integer(killed);
        } else if (killed == 0) {
          reply.Error(protocol::kNoSuchClient);
        } else {
          reply.Ok();
        }
      });
  // It still gets its answer, and nothing behind it is run.
  if (kills_itself) call.session.CloseAfterReplies();
  return outcome;
}

Outcome SetPause(LocalCall& call, const Pause& pause) {
  for (Worker* worker : call.worker.state().workers) worker->PostPause(pause);
  return AnswerWhenAllHaveIt(call, [](protocol::ReplyWriter& reply) { reply.Ok(); });
}

// The error of CLIENT PAUSE's arguments, or the pause they ask for.
std::optional<std::string> ParsePause(const protocol::RequestView& request, int64_t now_usec, Pause* pause) {
  if (request.size() > 4) return protocol::SubcommandSyntaxError("CLIENT", request[1]);
  pause->mode = Pause::Mode::kAll;
  if (request.size() == 4 && IsWord(request[3], "write")) {
    pause->mode = Pause::Mode::kWrites;
  } else if (request.size() == 4 && !IsWord(request[3], "all")) {
    return "ERR CLIENT PAUSE mode must be WRITE or ALL";
  }
  const std::optional<int64_t> timeout_ms = protocol::ParseInt64(request[2]);
  if (!timeout_ms.has_value()) return std::string(protocol::kTimeoutNotInteger);
  if (*timeout_ms < 0) return std::string(protocol::kTimeoutNegative);
  constexpr int64_t kForever = std::numeric_limits<int64_t>::max();
  pause->until_usec = *timeout_ms < (kForever - now_usec) / 1000 ? now_usec + *timeout_ms * 1000 : kForever;
  return std::nullopt;
}

Outcome ClientPause(LocalCall& call) {
  const int64_t now_usec = call.worker.loop().now_usec();
  Pause pause;
  if (const auto error = ParsePause(call.request, now_usec, &pause)) {
    call.reply.Error(*error);
    return Outcome::kTaken;
  }
  // A pause within a pause may make it longer and stricter, never shorter.
  const Pause& current = call.worker.router().pause();
  if (current.mode != Pause::Mode::kNone && current.until_usec > now_usec) {
    pause.mode = std::max(pause.mode, current.mode);
    pause.until_usec = std::max(pause.until_usec, current.until_usec);
  }
  return SetPause(call, pause);
}

Outcome ClientUnpause(LocalCall& call) { return SetPause(call, Pause{}); }

constexpr LocalEntry kEntries[] = {
    {"client|list", &ClientList},
    {"client|kill", &ClientKill},
    {"client|pause", &ClientPause},
    {"client|unpause", &ClientUnpause},
};

}  // namespace

std::span<const LocalEntry> ClientAdminCommands() { return kEntries; }

}  // namespace ringway::proxy
