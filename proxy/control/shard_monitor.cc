#include "proxy/control/shard_monitor.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "protocol/reply_cursor.h"
#include "proxy/control/info_values.h"
#include "proxy/info/shard_info.h"
#include "proxy/net/clock.h"
#include "proxy/shard/shard_problems.h"

namespace ringway::proxy {
namespace {

// Errors of a server that is not itself just now; they say nothing about what was asked.
bool IsPassing(std::string_view code, std::string_view text) {
  return code == "LOADING" || code == "BUSY" || code == "MASTERDOWN" ||
         text.starts_with("ERR max number of clients");
}

}  // namespace

ShardMonitor::ShardMonitor(Shard shard, ShardLink& link, Host& host, const int64_t& now_usec, uint32_t seed)
    : shard_(std::move(shard)), link_(link), host_(host), now_usec_(now_usec), random_(seed) {}

void ShardMonitor::Tick(int64_t timeout_usec) {
  if (state_ == State::kWaiting) {
    if (now_usec_ >= next_attempt_usec_) StartAttempt();
    return;
  }
  if (state_ != State::kUp) {
    if (now_usec_ - attempt_usec_ <= timeout_usec) return;
    if (state_ == State::kGreeting) {
      Fail(Trouble::kSilent, kDoesNotAnswer);
    } else {
      Fail(Trouble::kUnreachable, "is unreachable: connect timed out");
    }
    return;
  }
  if (!asked_.empty()) {
    if (now_usec_ - asked_.front().sent_usec > timeout_usec) Fail(Trouble::kSilent, kDoesNotAnswer);
  } else if (now_usec_ >= next_ping_usec_) {
    next_ping_usec_ = now_usec_ + kPingUsec;
    Ask(Question::kPing, {"PING"});
    if (++pings_ < kPingsPerKeyspace) return;
    pings_ = 0;
    Ask(Question::kKeyspace, {"INFO", "keyspace"});
  }
}

void ShardMonitor::Follow(const config::ShardConfig& config) {
  const bool same_place = config.address == shard_.config.address && config.user == shard_.config.user &&
                          config.password == shard_.config.password;
  shard_.config = config;
  if (same_place) return;
  told_ = 0;
  back_off_usec_ = 0;
  link_.Close();
  StartAttempt();
}

void ShardMonitor::StartAttempt() {
  state_ = State::kConnecting;
  attempt_usec_ = now_usec_;
  asked_.clear();
  link_.Connect(shard_.config);
}

void ShardMonitor::Ask(Question question, std::initializer_list<std::string_view> command) {
  asked_.push_back({question, now_usec_});
  link_.Send(command);
}

void ShardMonitor::OnConnected() {
  state_ = State::kGreeting;
  const config::ShardConfig& config = shard_.config;
  if (!config.password.empty()) {
    if (config.user.empty()) {
      Ask(Question::kAuth, {"AUTH", config.password});
    } else {
      Ask(Question::kAuth, {"AUTH", config.user, config.password});
    }
  }
  Ask(Question::kPing, {"PING"});
  Ask(Question::kInfo, {"INFO"});
}

void ShardMonitor::OnReply(std::string_view reply) {
  if (asked_.empty()) {
    Fail(Trouble::kRefused, kSpeaksNoRedis);
    return;
  }
  const Asked asked = asked_.front();
  asked_.pop_front();
  if (state_ == State::kGreeting) {
    JudgeGreeting(asked.question, reply);
  } else if (asked.question == Question::kCommand) {
    // A server that keeps COMMAND from this user teaches nothing.
    if (!protocol::IsError(reply)) host_.OnCommands(*this, reply);
  } else if (asked.question == Question::kKeyspace) {
    TakeKeyspace(reply);
  } else {
    OnPingWhileUp(asked, reply);
  }
}

void ShardMonitor::JudgeGreeting(Question question, std::string_view reply) {
  const std::string_view code = protocol::ErrorCode(reply);
  const std::string_view text = protocol::ErrorText(reply);
  const bool is_error = protocol::IsError(reply);
  if (is_error && IsPassing(code, text)) {
    Fail(Trouble::kNotReady, "is not ready: " + std::string(text));
    return;
  }
  switch (question) {
    case Question::kAuth:
      if (is_error) Fail(Trouble::kRefused, kRefusesCredentials);
      return;
    case Question::kPing:
      // NOPERM: alive, and this user may simply not PING.
      if (!is_error || code == "NOPERM") return;
      if (code == "NOAUTH") {
        Fail(Trouble::kRefused, kWantsPassword);
      } else {
        Fail(Trouble::kNotReady, "is not ready: " + std::string(text));
      }
      return;
    default:
      JudgeInfo(reply);
  }
}

void ShardMonitor::JudgeInfo(std::string_view reply) {
  // A server that does not let INFO be read passes: it may be a managed one.
  const std::string_view info = protocol::BulkOf(reply).value_or(std::string_view());
  if (InfoValue(info, "cluster_enabled") == "1") {
    Fail(Trouble::kClusterNode, kIsClusterNode);
    return;
  }
  if (InfoValue(info, "loading") == "1") {
    Fail(Trouble::kNotReady, "is not ready: it is loading its data");
    return;
  }
  sight_.redis_version = InfoValue(info, "redis_version");
  sight_.keys = ShardInfo::Parse(info).keys();
  BecomeUp();
}

void ShardMonitor::BecomeUp() {
  state_ = State::kUp;
  told_ = 0;
  next_ping_usec_ = now_usec_ + kPingUsec;
  const bool was_down = sight_.seen && !sight_.up;
  if (!sight_.up) sight_.last_change_usec = WallClockUsec();
  sight_.seen = true;
  sight_.up = true;
  sight_.problem.clear();
  host_.OnSight(*this);
  if (was_down) host_.OnBack(*this);
  Ask(Question::kCommand, {"COMMAND"});
}

void ShardMonitor::TakeKeyspace(std::string_view reply) {
  const std::optional<std::string_view> info = protocol::BulkOf(reply);
  if (!info.has_value()) return;
  sight_.keys = ShardInfo::Parse(*info).keys();
  host_.OnSight(*this);
}

void ShardMonitor::OnPingWhileUp(const Asked& asked, std::string_view reply) {
  // BUSY: a script runs; the shard serves again when it ends. NOPERM: alive, as above.
  const std::string_view code = protocol::ErrorCode(reply);
  if (protocol::IsError(reply) && code != "BUSY" && code != "NOPERM") {
    if (code == "NOAUTH") {
      Fail(Trouble::kRefused, kWantsPassword);
    } else {
      Fail(Trouble::kNotReady, "is not ready: " + std::string(protocol::ErrorText(reply)));
    }
    return;
  }
  tried_at_once_ = false;
  back_off_usec_ = 0;
  sight_.ping_usec = now_usec_ - asked.sent_usec;
  host_.OnSight(*this);
}

void ShardMonitor::OnLost(std::string_view problem) {
  if (state_ == State::kUp) {
    // A server that lets connections in and closes them must not be asked a thousand times in a second.
    if (std::exchange(tried_at_once_, true)) {
      BackOff();
    } else {
      StartAttempt();
    }
    return;
  }
  Fail(problem == kSpeaksNoRedis ? Trouble::kRefused : Trouble::kUnreachable, problem);
}

void ShardMonitor::BackOff() {
  asked_.clear();
  state_ = State::kWaiting;
  back_off_usec_ = std::clamp(back_off_usec_ * 2, kFirstBackOffUsec, kMaxBackOffUsec);
  // Half to the whole of it, at random, so that many proxies do not come back in one moment.
  std::uniform_int_distribution<int64_t> jitter(back_off_usec_ / 2, back_off_usec_);
  next_attempt_usec_ = now_usec_ + jitter(random_);
}

void ShardMonitor::Fail(Trouble trouble, std::string_view problem) {
  link_.Close();
  BackOff();
  if (sight_.up || !sight_.seen) sight_.last_change_usec = WallClockUsec();
  sight_.seen = true;
  sight_.up = false;
  sight_.problem = problem;
  sight_.ping_usec = 0;
  host_.OnSight(*this);
  const uint32_t bit = 1U << static_cast<unsigned>(trouble);
  if ((told_ & bit) != 0) return;
  told_ |= bit;
  host_.OnDown(*this, trouble);
}

}  // namespace ringway::proxy
