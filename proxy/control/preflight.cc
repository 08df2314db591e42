#include "proxy/control/preflight.h"

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "protocol/command_writer.h"
#include "protocol/reply_cursor.h"
#include "proxy/control/preflight_purge.h"
#include "proxy/control/preflight_server.h"
#include "proxy/control/preflight_trial.h"
#include "proxy/move/migrate_frame.h"

namespace ringway::proxy {
namespace {

std::string RandomHex() {
  std::random_device device;
  std::string text;
  for (int i = 0; i < 32; ++i) text.push_back("0123456789abcdef"[device() % 16]);
  return text;
}

std::string Count(uint64_t number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

}  // namespace

// Inspect all, purge, copy functions, try: each step with all servers at once, and none after one that found
// a problem.
class Preflight::Run {
 public:
  Run(ControlLinks& links, std::shared_ptr<const MovePlan> plan, const Options& options, Done done)
      : loop_(links.loop),
        plan_(std::move(plan)),
        options_(options),
        done_(std::make_shared<const Done>(std::move(done))) {
    for (uint32_t i = 0; i < plan_->from().size(); ++i) {
      if (!plan_->IsGivenUp(i)) ServerOf(links, plan_->from()[i]);
    }
    for (const Shard& shard : plan_->to()) ServerOf(links, shard);
    for (const Shard& shard : plan_->Joining()) Find(shard.id).is_target = Find(shard.id).is_joining = true;
    for (const MovePlan::Pair& pair : plan_->pairs()) {
      Find(plan_->from()[pair.from].id).is_source = true;
      Find(plan_->to()[pair.to].id).is_target = true;
    }
  }

  void Inspect() {
    pending_ = servers_.size();
    for (auto& server : servers_) {
      server->Inspect(server->is_source, [this] {
        if (--pending_ == 0) OnInspected();
      });
    }
  }

 private:
  void ServerOf(ControlLinks& links, const Shard& shard) {
    const bool known = std::any_of(servers_.begin(), servers_.end(),
                                   [&shard](const auto& server) { return server->shard.id == shard.id; });
    if (!known) servers_.push_back(std::make_unique<PreflightServer>(links, shard, options_.timeout_usec));
  }
  PreflightServer& Find(uint32_t id) {
    return **std::find_if(servers_.begin(), servers_.end(),
                          [id](const auto& server) { return server->shard.id == id; });
  }
  void Problem(const PreflightServer& server, const std::string& text) {
    result_.problems.push_back(server.Label() + " " + text);
  }

  void OnInspected() {
    for (auto& server : servers_) {
      if (!server->is_source && !server->is_target) continue;
      if (!server->problem.empty()) {
        Problem(*server, server->problem);
      } else if (server->is_target) {
        JudgeTarget(*server);
      }
    }
    if (result_.problems.empty()) {
      Purge();
    } else {
      Finish();
    }
  }

  void JudgeTarget(const PreflightServer& target) {
    if (target.is_replica) Problem(target, "is a replica; a shard must be writable");
    if (const PreflightServer* twin = TwinOf(target); twin != nullptr) {
      Problem(target, "is the same server as " + twin->Label());
    } else if (target.is_joining && options_.purge_target && target.run_id.empty()) {
      Problem(target, "cannot be purged: it does not show by INFO which server it is");
    } else if (target.is_joining && !options_.purge_target && target.Keys() > 0) {
      Problem(target, "holds " + Count(target.Keys(), "key") + "; empty it or set migration.purge_target");
    }
    if (target.is_joining && target.run_id.empty()) {
      result_.warnings.push_back(target.Label() +
                                 " does not show INFO: whether it is empty was not looked at");
    }
    if (plan_->mover() == config::Mover::kMigrate) {
      const std::string_view why = WhyUnmigratable(target.shard.config);
      if (!why.empty()) Problem(target, std::string(why));
    }
    const int64_t needed = DatabasesOfSources();
    if (target.databases > 0 && target.databases < needed) {
      Problem(target, "has " + Count(static_cast<uint64_t>(target.databases), "database") +
                          ", and the shards whose keys it is to have use " + std::to_string(needed));
    }
  }

  // Another shard with the very same process behind it: purging one would empty the other, and moving between
  // them lose every key.
  const PreflightServer* TwinOf(const PreflightServer& target) const {
    for (const auto& server : servers_) {
      if (server.get() != &target && !target.run_id.empty() && server->run_id == target.run_id) {
        return server.get();
      }
    }
    return nullptr;
  }

  // As many as clients can use of them.
  int64_t DatabasesOfSources() const {
    int64_t databases = 0;
    for (const auto& server : servers_) {
      if (!server->is_source) continue;
      databases = std::max(databases, std::min<int64_t>(server->databases, options_.databases));
      for (const KeyspaceLine& line : server->keyspace) {
        databases = std::max(databases, int64_t{line.database} + 1);
      }
    }
    return databases;
  }

  void Purge() {
    for (auto& server : servers_) {
      if (!options_.purge_target || !server->is_target || server->Keys() == 0) continue;
      purges_.push_back(std::make_unique<PreflightPurge>(
          *server, *plan_, [this](uint64_t removed, const std::string& problem) {
            result_.keys_purged += removed;
            if (!problem.empty()) result_.problems.push_back(problem);
            Ended(&Run::CopyFunctions);
          }));
    }
    pending_ = purges_.size();
    for (auto& purge : purges_) purge->Start();
    if (purges_.empty()) CopyFunctions();
  }

  // The end of one part of a step; that of the last one begins the next step.
  void Ended(void (Run::*next)()) {
    if (--pending_ > 0) return;
    if (!result_.problems.empty()) {
      Finish();
    } else {
      (this->*next)();
    }
  }

  void CopyFunctions() {
    std::set<std::string> dumps;
    for (const auto& server : servers_) {
      if (!server->functions.empty()) dumps.insert(server->functions);
    }
    pending_ = 0;
    for (auto& server : servers_) {
      if (!server->is_joining) continue;
      for (const std::string& dump : dumps) {
        ++pending_;
        server->client.UseDatabase(0);
        server->client.Do({"FUNCTION", "RESTORE", dump, "REPLACE"},
                          [this, target = server.get()](const ShardClient::Answer& answer) {
                            OnFunctions(*target, answer);
                          });
      }
    }
    if (!options_.scripts.empty()) LoadScripts();
    if (pending_ == 0) Try();
  }

  // A script that is not there would be loaded when it is first asked for, but commands that come behind it
  // would overtake it.
  void LoadScripts() {
    std::string frame;
    for (const std::string& script : options_.scripts) {
      protocol::AppendCommand(frame, {"SCRIPT", "LOAD", script});
    }
    for (auto& server : servers_) {
      if (!server->is_joining) continue;
      ++pending_;
      server->client.DoFrame(frame, options_.scripts.size(),
                             [this, target = server.get()](const ShardClient::Answer& answer) {
                               if (!answer.ok()) Problem(*target, answer.problem);
                               Ended(&Run::Try);
                             });
    }
  }

  void OnFunctions(const PreflightServer& target, const ShardClient::Answer& answer) {
    const std::string_view error = answer.FirstError();
    if (!answer.ok()) {
      Problem(target, answer.problem);
    } else if (!error.empty()) {
      Problem(target, "does not take the other shards' functions: " + ErrorWithoutArguments(error));
    }
    Ended(&Run::Try);
  }

  void Try() {
    for (auto& server : servers_) {
      server->client.UseDatabase(0);
      std::vector<PreflightTrial::Target> targets;
      for (uint32_t i = 0; i < plan_->pairs().size(); ++i) {
        const MovePlan::Pair& pair = plan_->pairs()[i];
        if (plan_->from()[pair.from].id == server->shard.id) {
          targets.push_back({&Find(plan_->to()[pair.to].id), plan_->Relays(i)});
        }
      }
      if (targets.empty()) continue;
      trials_.push_back(std::make_unique<PreflightTrial>(
          *server, std::move(targets), "ringway:probe:" + RandomHex(), options_.timeout_usec,
          [this](const PreflightTrial::Result& result) { OnTried(result); }));
    }
    pending_ = trials_.size();
    for (auto& trial : trials_) trial->Start();
    if (trials_.empty()) Finish();
  }

  void OnTried(const PreflightTrial::Result& result) {
    result_.problems.insert(result_.problems.end(), result.problems.begin(), result.problems.end());
    result_.warnings.insert(result_.warnings.end(), result.warnings.begin(), result.warnings.end());
    if (--pending_ == 0) Finish();
  }

  // In the loop's next turn, when nothing of this is being called: the answer may end it.
  void Finish() {
    loop_.Post([weak = std::weak_ptr(done_), result = std::move(result_)] {
      if (const auto done = weak.lock()) (*done)(result);
    });
  }

  EventLoop& loop_;
  const std::shared_ptr<const MovePlan> plan_;
  const Options options_;
  const std::shared_ptr<const Done> done_;
  std::vector<std::unique_ptr<PreflightServer>> servers_;
  std::vector<std::unique_ptr<PreflightPurge>> purges_;
  std::vector<std::unique_ptr<PreflightTrial>> trials_;
  size_t pending_ = 0;
  Result result_;
};

Preflight::Preflight(ControlLinks& links) : links_(links) {}

Preflight::~Preflight() = default;

void Preflight::Start(std::shared_ptr<const MovePlan> plan, const Options& options, Done done) {
  run_ = std::make_unique<Run>(links_, std::move(plan), options, std::move(done));
  run_->Inspect();
}

}  // namespace ringway::proxy
