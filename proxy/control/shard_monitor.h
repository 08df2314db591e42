#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>

#include "config/config.h"
#include "proxy/control/shard_board.h"
#include "proxy/topology.h"

namespace ringway::proxy {

// Who is told what happens on a link.
class ShardLinkUser {
 public:
  virtual ~ShardLinkUser() = default;
  virtual void OnConnected() = 0;
  virtual void OnReply(std::string_view reply) = 0;
  // `problem` follows the shard's name and address.
  virtual void OnLost(std::string_view problem) = 0;
};

// A way to one shard. What happens on it is told to its user.
class ShardLink {
 public:
  virtual ~ShardLink() = default;
  // Looks the name up and connects; ends in OnConnected or OnLost, unless Close comes first.
  virtual void Connect(const config::ShardConfig& shard) = 0;
  // Only while connected. Replies come to OnReply in the order of the commands.
  virtual void Send(std::initializer_list<std::string_view> command) = 0;
  // Nothing is told of this connection any more.
  virtual void Close() = 0;
};

// Watches one shard: connects, asks what it is, sends a PING each second, reconnects with back-off and
// jitter. An up shard whose connection merely breaks gets one new attempt before it counts as down. Pure:
// told the time, what was connected and what was answered. Thread: one. Owns: its sight of the shard.
class ShardMonitor final : public ShardLinkUser {
 public:
  static constexpr int64_t kPingUsec = 1'000'000;
  // Every so many PINGs it is asked how many keys it has.
  static constexpr uint32_t kPingsPerKeyspace = 3;
  static constexpr int64_t kFirstBackOffUsec = 100'000;
  static constexpr int64_t kMaxBackOffUsec = 2'000'000;

  // Kinds of what can be wrong. While a shard is down, each is told once: its problem may go back and forth
  // between two, and must not fill the log.
  enum class Trouble : uint8_t { kUnreachable, kSilent, kRefused, kNotReady, kClusterNode };

  class Host {
   public:
    virtual ~Host() = default;
    virtual void OnDown(const ShardMonitor& monitor, Trouble trouble) = 0;
    virtual void OnBack(const ShardMonitor& monitor) = 0;   // not when it is up from the start
    virtual void OnSight(const ShardMonitor& monitor) = 0;  // sight() has changed
    // The whole answer to COMMAND, once for each connection.
    virtual void OnCommands(const ShardMonitor& monitor, std::string_view reply) = 0;
  };

  // `now_usec` is monotonic and is read whenever something happens.
  ShardMonitor(Shard shard, ShardLink& link, Host& host, const int64_t& now_usec, uint32_t seed);

  // About ten times a second; the first one connects. An attempt, and each command, may take `timeout_usec`.
  void Tick(int64_t timeout_usec);
  // The shard has another address or other credentials: connects anew.
  void Follow(const config::ShardConfig& config);

  // --- from the link ---
  void OnConnected() override;
  void OnReply(std::string_view reply) override;
  void OnLost(std::string_view problem) override;

  const Shard& shard() const { return shard_; }
  const ShardSight& sight() const { return sight_; }
  // "cache1 10.0.0.1:6379"
  std::string Label() const { return shard_.config.name + " " + shard_.config.address; }

 private:
  enum class State : uint8_t { kWaiting, kConnecting, kGreeting, kUp };
  enum class Question : uint8_t { kAuth, kPing, kInfo, kCommand, kKeyspace };
  struct Asked {
    Question question;
    int64_t sent_usec;
  };

  void StartAttempt();
  void Ask(Question question, std::initializer_list<std::string_view> command);
  void JudgeGreeting(Question question, std::string_view reply);
  void JudgeInfo(std::string_view reply);
  void TakeKeyspace(std::string_view reply);
  void OnPingWhileUp(const Asked& asked, std::string_view reply);
  void BecomeUp();
  // Waits before the next attempt, longer than before the last one.
  void BackOff();
  // Gives the attempt or the connection up, and waits before the next.
  void Fail(Trouble trouble, std::string_view problem);

  Shard shard_;
  ShardLink& link_;
  Host& host_;
  const int64_t& now_usec_;
  std::minstd_rand random_;

  State state_ = State::kWaiting;
  std::deque<Asked> asked_;
  int64_t next_attempt_usec_ = 0;  // kWaiting
  int64_t attempt_usec_ = 0;       // when the present attempt began
  int64_t next_ping_usec_ = 0;     // kUp
  uint32_t pings_ = 0;             // since the last look at its keys
  int64_t back_off_usec_ = 0;
  bool tried_at_once_ = false;  // after a loss, and no PING has been answered since
  uint32_t told_ = 0;           // a bit for each Trouble since the shard was up
  ShardSight sight_;
};

}  // namespace ringway::proxy
