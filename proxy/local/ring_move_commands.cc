// RING's commands that change the shards and steer the move.
#include <string>
#include <vector>

#include "protocol/error_replies.h"
#include "protocol/number_text.h"
#include "proxy/control/migrator.h"
#include "proxy/info/migration_section.h"
#include "proxy/local/entries.h"
#include "proxy/local/pending_reply.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

using Outcome = RequestHandler::Outcome;

Outcome Reject(LocalCall& call, std::string_view error) {
  call.session.Reject(call.row.id, error);
  return Outcome::kTaken;
}

// RING STATUS and its like take nothing.
bool HasArguments(const LocalCall& call) { return call.request.size() > 2; }

Outcome RejectArity(LocalCall& call) { return Reject(call, protocol::WrongArity(call.row.name)); }

Outcome Submit(LocalCall& call, ParsedRingChanges parsed) {
  if (!parsed.error.empty()) return Reject(call, "ERR " + parsed.error);
  call.worker.state().migrator->PostApply(std::move(parsed.changes), PendingReply(call));
  return Outcome::kTaken;
}

// The words from number `first` on.
std::vector<std::string_view> WordsFrom(const LocalCall& call, size_t first) {
  std::vector<std::string_view> words;
  for (size_t i = first; i < call.request.size(); ++i) words.push_back(call.request[i]);
  return words;
}

Outcome Steer(LocalCall& call, void (Migrator::*post)(PendingReply)) {
  if (HasArguments(call)) return RejectArity(call);
  (call.worker.state().migrator->*post)(PendingReply(call));
  return Outcome::kTaken;
}

}  // namespace

Outcome RingApply(LocalCall& call) { return Submit(call, ParseRingChanges(WordsFrom(call, 2))); }

// RING ADD, REMOVE, WEIGHT, REPLACE: the subcommand is the change's first word.
Outcome RingChangeOne(LocalCall& call) { return Submit(call, ParseOneRingChange(WordsFrom(call, 1))); }

Outcome RingStatus(LocalCall& call) {
  if (HasArguments(call)) return RejectArity(call);
  const auto fields = MigrationFields(call.worker.state().migration);
  call.reply.Map(fields.size());
  for (const auto& [name, value] : fields) {
    call.reply.Bulk(name);
    call.reply.Bulk(value);
  }
  return Outcome::kTaken;
}

Outcome RingWait(LocalCall& call) {
  if (call.request.size() != 3) return RejectArity(call);
  const auto timeout_ms = protocol::ParseInt64(call.request[2]);
  if (!timeout_ms.has_value()) return Reject(call, protocol::kTimeoutNotInteger);
  if (*timeout_ms < 0) return Reject(call, protocol::kTimeoutNegative);
  call.worker.state().migrator->PostWait(*timeout_ms, PendingReply(call));
  return Outcome::kTaken;
}

Outcome RingPause(LocalCall& call) { return Steer(call, &Migrator::PostPause); }
Outcome RingResume(LocalCall& call) { return Steer(call, &Migrator::PostResume); }
Outcome RingAbort(LocalCall& call) { return Steer(call, &Migrator::PostAbort); }

Outcome RingThrottle(LocalCall& call) {
  if (call.request.size() != 3) return RejectArity(call);
  const auto keys_per_second = protocol::ParseInt64(call.request[2]);
  if (!keys_per_second.has_value() || *keys_per_second < 0) {
    return Reject(call, "ERR keys per second is to be an integer from 0 (no limit) on");
  }
  // The mover follows the configuration.
  call.worker.state().ChangeConfig(
      [&](config::Config* config) { config->migration.keys_per_second = *keys_per_second; });
  return AnswerWhenAllHaveIt(call, [](protocol::ReplyWriter& reply) { reply.Ok(); });
}

}  // namespace ringway::proxy
