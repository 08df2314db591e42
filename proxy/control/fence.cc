#include "proxy/control/fence.h"

#include <algorithm>
#include <utility>

#include "protocol/command_writer.h"
#include "protocol/number_text.h"
#include "protocol/reply_cursor.h"

namespace ringway::proxy {
namespace {

// A connection that is told to end is gone at the next look, but for one that the server is just writing to.
constexpr int kMaxLooks = 10;

// The value of `field` ("name=") in a line of CLIENT LIST.
std::string_view Field(std::string_view line, std::string_view field) {
  while (!line.empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    if (word.starts_with(field)) return word.substr(field.size());
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return {};
}

}  // namespace

class Fence::Server {
 public:
  Server(Fence& fence, const Shard& shard, std::vector<uint64_t> lost, int64_t timeout_usec)
      : fence_(fence), client_(fence.links_, shard, 0, timeout_usec), lost_(std::move(lost)) {
    verdict_.shard_id = shard.id;
  }

  void Look() {
    client_.Do({"CLIENT", "LIST"}, [this](const ShardClient::Answer& answer) { OnList(answer); });
  }
  const Verdict& verdict() const { return verdict_; }

 private:
  void OnList(const ShardClient::Answer& answer) {
    if (!answer.ok()) {
      const bool nobody_there = answer.problem.find("Connection refused") != std::string::npos;
      End(nobody_there ? Outcome::kGone : Outcome::kUnanswered, answer.problem);
      return;
    }
    const auto list = protocol::BulkOf(answer[0]);
    if (!list) {
      const std::string_view code = protocol::ErrorCode(answer[0]);
      const bool forbidden = code == "NOPERM" || code == "ERR";
      End(forbidden ? Outcome::kNotAllowed : Outcome::kUnanswered,
          "does not let the proxy list connections: " + std::string(protocol::ErrorText(answer[0])));
      return;
    }
    const std::vector<std::string> ids = LeftIn(*list);
    if (ids.empty()) {
      End(Outcome::kClean, "");
    } else if (++looks_ > kMaxLooks) {
      End(Outcome::kUnanswered, "does not end a connection that the proxy has lost");
    } else {
      Kill(ids);
    }
  }

  // The ids of connections that are to end.
  std::vector<std::string> LeftIn(std::string_view list) const {
    std::vector<std::string> ids;
    while (!list.empty()) {
      const size_t end = std::min(list.find('\n'), list.size());
      const std::string_view line = list.substr(0, end);
      list.remove_prefix(std::min(end + 1, list.size()));
      if (IsLost(Field(line, "name="))) ids.emplace_back(Field(line, "id="));
    }
    return ids;
  }

  bool IsLost(std::string_view name) const {
    const ControlLinks& links = fence_.links_;
    if (links.name_stem.empty() || !name.starts_with(links.name_stem)) return false;
    if (!name.starts_with(links.name_prefix)) return true;
    const auto number = protocol::ParseInt64(name.substr(links.name_prefix.size()));
    return number && std::find(lost_.begin(), lost_.end(), static_cast<uint64_t>(*number)) != lost_.end();
  }

  void Kill(const std::vector<std::string>& ids) {
    std::string frame;
    for (const std::string& id : ids) protocol::AppendCommand(frame, {"CLIENT", "KILL", "ID", id});
    client_.DoFrame(frame, ids.size(), [this](const ShardClient::Answer& answer) {
      for (size_t i = 0; i < answer.size(); ++i) {
        if (protocol::IntegerOf(answer[i]).value_or(0) > 0) ++verdict_.killed;
      }
      const std::string_view error = answer.FirstError();
      if (error.starts_with("NOPERM")) {
        End(Outcome::kNotAllowed, "does not let the proxy end connections: " + std::string(error));
      } else if (!answer.ok()) {
        End(Outcome::kUnanswered, answer.problem);
      } else {
        Look();
      }
    });
  }

  void End(Outcome outcome, const std::string& problem) {
    verdict_.outcome = outcome;
    if (outcome == Outcome::kClean || outcome == Outcome::kGone) {
      // Those lost since are another fence's.
      std::vector<LostConnection> fenced;
      for (const uint64_t number : lost_) fenced.push_back({verdict_.shard_id, number});
      fence_.links_.lost.Forget(fenced);
    }
    if (!problem.empty()) verdict_.problem = client_.Label() + " " + problem;
    fence_.OnServerDone();
  }

  Fence& fence_;
  ShardClient client_;
  const std::vector<uint64_t> lost_;
  int looks_ = 0;
  Verdict verdict_{};
};

Fence::Fence(ControlLinks& links) : links_(links) {}

Fence::~Fence() = default;

void Fence::Start(const std::vector<Shard>& servers, const std::vector<LostConnection>& lost,
                  int64_t timeout_usec, Done done) {
  done_ = std::move(done);
  std::vector<LostConnection> all = lost;
  all.insert(all.end(), links_.lost.all().begin(), links_.lost.all().end());
  for (const Shard& shard : servers) {
    std::vector<uint64_t> numbers;
    for (const LostConnection& connection : all) {
      if (connection.shard_id == shard.id) numbers.push_back(connection.number);
    }
    servers_.push_back(std::make_unique<Server>(*this, shard, std::move(numbers), timeout_usec));
  }
  pending_ = servers_.size();
  // Nothing can call back before the loop's next turn, but there may be nobody to wait for.
  for (auto& server : servers_) server->Look();
  if (servers_.empty()) done_({});
}

void Fence::OnServerDone() {
  if (--pending_ > 0) return;
  std::vector<Verdict> verdicts;
  for (const auto& server : servers_) verdicts.push_back(server->verdict());
  const Done done = std::move(done_);
  done(verdicts);
}

}  // namespace ringway::proxy
