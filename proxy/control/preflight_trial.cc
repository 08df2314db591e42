#include "proxy/control/preflight_trial.h"

#include <array>
#include <utility>

#include "protocol/command_writer.h"
#include "protocol/reply_cursor.h"
#include "proxy/move/migrate_frame.h"

namespace ringway::proxy {
namespace {

constexpr std::string_view kProbeMs = "10000";
// MIGRATE's own patience is a part of the proxy's with the source, so that its error comes in time.
constexpr int64_t kMigrateSteps = 4;

constexpr std::string_view kRelayHint = ", or set mover: relay";

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

PreflightTrial::PreflightTrial(PreflightServer& source, std::vector<Target> targets, std::string probe,
                               int64_t timeout_usec, Done done)
    : source_(source),
      targets_(std::move(targets)),
      probe_(std::move(probe)),
      timeout_usec_(timeout_usec),
      done_(std::move(done)) {}

void PreflightTrial::SetProbe() {
  source_.client.Do({"SET", probe_, probe_, "PX", kProbeMs}, [this](const ShardClient::Answer& answer) {
    const std::string_view error = answer.FirstError();
    if (!answer.ok()) {
      Problem(source_.Label() + " " + answer.problem);
    } else if (error.starts_with("OOM")) {
      // That may be why there is to be another shard.
      result_.warnings.push_back(source_.Label() +
                                 " is out of memory: moving a probe key from it could not be tried");
      done_(result_);
    } else if (!error.empty()) {
      Problem(source_.Label() + " does not take a probe key: " + ErrorWithoutArguments(error));
    } else if (targets_[at_].relayed) {
      Dump();
    } else {
      Migrate();
    }
  });
}

void PreflightTrial::Migrate() {
  std::string frame;
  const std::array<std::string_view, 1> keys = {probe_};
  AppendMigrateBatch(frame, target().shard.config, 0, timeout_usec_ / 1000, keys, true);
  source_.client.DoFrame(
      frame, MigrateBatchReplies(1, true), [this](const ShardClient::Answer& answer) { OnMigrated(answer); },
      timeout_usec_ * (kMigrateSteps + 1));
}

void PreflightTrial::OnMigrated(const ShardClient::Answer& answer) {
  using Verdict = MigrateBatchResult::Verdict;
  const std::string from = source_.Label();
  const std::string to = target().Label();
  if (!answer.ok()) {
    Problem(from + " " + answer.problem + " while it was to MIGRATE a probe key to " + to);
    return;
  }
  const MigrateBatchResult result = ReadMigrateBatch(answer.back(), 1, true);
  switch (result.verdict) {
    case Verdict::kMoved:
      if (result.moved == 1) {
        LookForProbe();
      } else {
        Problem(from + " has lost a probe key before it could be moved");
      }
      return;
    case Verdict::kTargetUnreachable:
      Problem(from + " cannot reach " + to + " (" + result.error + "): let them reach each other" +
              std::string(kRelayHint));
      return;
    case Verdict::kTargetRefused:
      Problem(OfRefusal(result.error));
      return;
    case Verdict::kSourceFailed: {
      const std::string why =
          answer.FirstError().empty() ? result.error : ErrorWithoutArguments(answer.FirstError());
      Problem(from + " does not MIGRATE (" + why + "): allow it" + std::string(kRelayHint));
    }
  }
}

// A source may know another server by that name or address than the proxy.
void PreflightTrial::LookForProbe() {
  target().client.Do({"DEL", probe_}, [this](const ShardClient::Answer& answer) {
    if (!answer.ok()) {
      Problem(target().Label() + " " + answer.problem);
    } else if (protocol::IntegerOf(answer[0]) == 1) {
      NextTarget();
    } else if (!answer.FirstError().empty()) {
      Problem(target().Label() +
              " does not let a probe key be deleted: " + ErrorWithoutArguments(answer.FirstError()));
    } else {
      Problem(source_.Label() + " reaches another server at " + target().shard.config.address +
              " than the proxy does: give " + target().shard.config.name +
              " an address that means the same to both" + std::string(kRelayHint));
    }
  });
}

void PreflightTrial::Dump() {
  std::string frame;
  protocol::AppendCommand(frame, {"DUMP", probe_});
  protocol::AppendCommand(frame, {"PTTL", probe_});
  protocol::AppendCommand(frame, {"DEL", probe_});
  source_.client.DoFrame(frame, 3, [this](const ShardClient::Answer& answer) {
    const std::string_view error = answer.FirstError();
    if (!answer.ok()) {
      Problem(source_.Label() + " " + answer.problem);
    } else if (!error.empty()) {
      Problem(source_.Label() + " does not let keys be relayed: " + ErrorWithoutArguments(error));
    } else {
      Restore(protocol::BulkOf(answer[0]).value_or(std::string_view()));
    }
  });
}

void PreflightTrial::Restore(std::string_view payload) {
  target().client.Do({"RESTORE", probe_, kProbeMs, payload, "REPLACE"},
                     [this](const ShardClient::Answer& answer) {
                       if (!answer.ok()) {
                         Problem(target().Label() + " " + answer.problem);
                       } else if (!answer.FirstError().empty()) {
                         Problem(OfRefusal(ErrorWithoutArguments(answer.FirstError())));
                       } else {
                         LookForProbe();
                       }
                     });
}

std::string PreflightTrial::OfRefusal(std::string_view error) const {
  const std::string to = target().Label();
  const std::string quoted = " (" + std::string(error) + ")";
  if (Contains(error, "READONLY")) return to + " is read-only" + quoted;
  if (Contains(error, "OOM")) return to + " has no memory left" + quoted;
  if (Contains(error, "DUMP payload") || Contains(error, "Bad data format")) {
    return to + " does not take the DUMP format of " + source_.Label() + quoted +
           ": its Redis must be at least as new";
  }
  if (Contains(error, "WRONGPASS") || Contains(error, "NOAUTH") || Contains(error, "invalid password") ||
      Contains(error, "AUTH ")) {
    return to + " refuses the proxy's user or password when " + source_.Label() + " uses them" + quoted;
  }
  if (Contains(error, "NOPERM")) {
    return to + " does not let the proxy's user RESTORE" + quoted;
  }
  return to + " does not take a probe key of " + source_.Label() + quoted;
}

void PreflightTrial::Problem(std::string problem) {
  result_.problems.push_back(std::move(problem));
  NextTarget();
}

void PreflightTrial::NextTarget() {
  if (++at_ < targets_.size()) {
    SetProbe();
    return;
  }
  source_.client.Do({"DEL", probe_}, [this](const ShardClient::Answer&) { done_(result_); });
}

}  // namespace ringway::proxy
