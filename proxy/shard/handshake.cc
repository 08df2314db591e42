#include "proxy/shard/handshake.h"

#include "protocol/command_writer.h"
#include "protocol/reply_cursor.h"
#include "proxy/shard/shard_problems.h"

namespace ringway::proxy {
namespace {

// Far beyond any reply to what is asked here; a peer that sends more is no Redis.
constexpr size_t kMaxReplyBytes = 64 * 1024;

}  // namespace

Handshake::Handshake(const config::ShardConfig& shard, uint32_t db, uint8_t resp, std::string_view name,
                     bool with_id) {
  if (!shard.password.empty()) {
    if (shard.user.empty()) {
      Add(Step::kAuth, {"AUTH", shard.password});
    } else {
      Add(Step::kAuth, {"AUTH", shard.user, shard.password});
    }
  }
  if (resp == 3) Add(Step::kHello, {"HELLO", "3"});
  if (!name.empty()) Add(Step::kName, {"CLIENT", "SETNAME", name});
  if (with_id) Add(Step::kId, {"CLIENT", "ID"});
  if (db != 0) Add(Step::kSelect, {"SELECT", std::to_string(db)});
  Add(Step::kPing, {"PING"});
  Add(Step::kClusterInfo, {"INFO", "cluster"});
}

void Handshake::Add(Step step, std::initializer_list<std::string_view> command) {
  steps_.push_back(static_cast<char>(step));
  protocol::AppendCommand(request_, command);
}

Handshake::Verdict Handshake::OnBytes(std::string_view bytes) {
  while (next_step_ < steps_.size() && !bytes.empty()) {
    const auto [status, consumed] = scanner_.Scan(bytes);
    received_.append(bytes.substr(0, consumed));
    bytes.remove_prefix(consumed);
    if (status == protocol::ParseStatus::kError || received_.size() > kMaxReplyBytes) {
      problem_ = kSpeaksNoRedis;
      return Verdict::kRefused;
    }
    if (status == protocol::ParseStatus::kNeedMore) break;
    Judge(static_cast<Step>(steps_[next_step_++]), received_);
    received_.clear();
    if (!problem_.empty()) return Verdict::kRefused;
  }
  if (next_step_ < steps_.size()) return Verdict::kNeedMore;
  if (bytes.empty()) return Verdict::kReady;
  // A reply that nobody has asked for would be taken for that of the first request.
  problem_ = kSpeaksNoRedis;
  return Verdict::kRefused;
}

void Handshake::Judge(Step step, std::string_view reply) {
  const bool is_error = reply.front() == '-';
  const std::string_view text = is_error ? reply.substr(1, reply.find('\r') - 1) : reply;
  if (step == Step::kClusterInfo) {
    // Its users would be sent MOVED. A server that does not let INFO be read passes: it may be a managed one.
    if (text.find("cluster_enabled:1") != std::string_view::npos) {
      problem_ = kIsClusterNode;
    }
    return;
  }
  if (step == Step::kId) {
    // A server that keeps CLIENT from this user serves all the same.
    client_id_ = static_cast<uint64_t>(protocol::IntegerOf(reply).value_or(0));
    return;
  }
  if (!is_error) return;
  switch (step) {
    case Step::kAuth:
      problem_ = kRefusesCredentials;
      break;
    case Step::kHello:
      problem_ = "does not speak RESP3";
      break;
    case Step::kName:
      return;  // a server that keeps CLIENT from this user serves all the same
    case Step::kSelect:
      problem_ =
          text.starts_with("BUSY ") ? "is not ready: " + std::string(text) : std::string(kNoSuchDatabase);
      break;
    default:
      if (text.starts_with("NOAUTH")) {
        problem_ = kWantsPassword;
      } else if (text.starts_with("NOPERM")) {
        return;  // alive, and this user may simply not PING
      } else if (text.starts_with("BUSY ")) {
        return;  // alive: a script runs, and only a connection that is let through can send SCRIPT KILL
      } else {
        problem_ = "is not ready: " + std::string(text);
      }
  }
}

}  // namespace ringway::proxy
