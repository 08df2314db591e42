#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/control/shard_monitor_connection.h"
#include "proxy/move/lost_connections.h"
#include "proxy/shard/handshake.h"
#include "proxy/topology.h"

namespace ringway::proxy {

// What the control side's connections to servers share. Thread: the loop's.
struct ControlLinks {
  EventLoop& loop;
  Resolver& resolver;
  std::string name_stem;    // ProxyState::connection_name_stem()
  std::string name_prefix;  // ProxyState::connection_name_prefix(); empty: connections bear no names
  LostConnections lost;     // of the control thread; a fence looks for them beside the workers'
};

// Sends commands to one server and gives their replies back. Connects (AUTH, CLIENT SETNAME, SELECT, and a
// look whether it is ready) with the first command, and anew with the next one after a loss; nothing is ever
// sent twice. Thread: the loop's. Owns: its connection. Limits: each call ends within its timeout.
class ShardClient final : private ShardLinkUser {
 public:
  // Replies as RESP2, as many as were expected; or else a problem.
  class Answer {
   public:
    // Empty: there are replies. Else what is wrong, to follow the server's name and address; what was sent
    // may or may not have been carried out, or may be yet.
    std::string problem;

    bool ok() const { return problem.empty(); }
    size_t size() const { return ends_.size(); }
    std::string_view operator[](size_t index) const;
    std::string_view back() const { return (*this)[size() - 1]; }
    // The text of the first reply that is an error; empty if none is.
    std::string_view FirstError() const;

   private:
    friend class ShardClient;
    std::string bytes_;
    std::vector<size_t> ends_;
  };
  // May destroy the client.
  using Done = std::function<void(const Answer&)>;

  ShardClient(ControlLinks& links, Shard shard, uint32_t db, int64_t timeout_usec);
  // Calls nobody back.
  ~ShardClient() override;
  ShardClient(const ShardClient&) = delete;
  ShardClient& operator=(const ShardClient&) = delete;

  void Do(std::initializer_list<std::string_view> command, Done done);
  // `frame` has whole commands which are answered by `replies` replies. `timeout_usec` 0: that of the client.
  void DoFrame(std::string_view frame, size_t replies, Done done, int64_t timeout_usec = 0);

  // Another database; only while nothing is under way.
  void UseDatabase(uint32_t db);
  // The connection is given up; what is under way is never answered.
  void Close();

  bool idle() const { return calls_.empty(); }
  const Shard& shard() const { return shard_; }
  // "cache1 10.0.0.1:6379"
  std::string Label() const { return shard_.config.name + " " + shard_.config.address; }

 private:
  enum class State : uint8_t { kClosed, kConnecting, kGreeting, kReady };
  struct Call {
    std::string frame;  // until it is sent
    size_t replies;
    int64_t timeout_usec;
    Done done;
    Answer answer;
  };

  static void OnTimer(evutil_socket_t fd, short what, void* self);
  void OnConnected() override;
  void OnReply(std::string_view reply) override;
  void OnLost(std::string_view problem) override;

  void Connect();
  void SendWaiting();
  void ArmTimer();
  // Ends the connection and all calls with `problem`.
  void Fail(std::string_view problem);
  void NoteLoss();

  ControlLinks& links_;
  const Shard shard_;
  uint32_t db_;
  const int64_t timeout_usec_;
  ShardMonitorConnection link_;
  State state_ = State::kClosed;
  uint64_t number_ = 0;
  std::optional<Handshake> handshake_;
  std::deque<Call> calls_;
  size_t sent_ = 0;  // of calls_, on the present connection
  Event timer_;
  // Lets a callback find out whether it has destroyed this object.
  const std::shared_ptr<ShardClient*> self_ = std::make_shared<ShardClient*>(this);
};

}  // namespace ringway::proxy
