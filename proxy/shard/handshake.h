#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/config.h"
#include "protocol/reply_scanner.h"

namespace ringway::proxy {

// What a new connection to a shard says before requests may use it: AUTH first, then HELLO, its name and
// SELECT, then a PING to see that the server serves. Pure: bytes in, verdict out.
class Handshake {
 public:
  // `name`: what the connection calls itself, for those who look for what is left of it; empty: nothing.
  // `with_id`: asks which client the server takes the connection for.
  Handshake(const config::ShardConfig& shard, uint32_t db, uint8_t resp, std::string_view name,
            bool with_id = false);

  // To be sent at once.
  const std::string& request() const { return request_; }
  // How many replies it will get.
  size_t replies() const { return steps_.size(); }

  enum class Verdict : uint8_t { kNeedMore, kReady, kRefused };
  Verdict OnBytes(std::string_view bytes);
  // After kRefused: why, without secrets, to follow the shard's name and address in a sentence.
  const std::string& problem() const { return problem_; }
  // What CLIENT ID has answered; 0: it was not asked, or refused.
  uint64_t client_id() const { return client_id_; }

 private:
  enum class Step : uint8_t { kAuth, kHello, kName, kId, kSelect, kPing, kClusterInfo };
  void Add(Step step, std::initializer_list<std::string_view> command);
  void Judge(Step step, std::string_view reply);

  std::string request_;
  std::string steps_;  // a Step for each reply awaited
  size_t next_step_ = 0;
  std::string received_;
  protocol::ReplyScanner scanner_;
  std::string problem_;
  uint64_t client_id_ = 0;
};

}  // namespace ringway::proxy
