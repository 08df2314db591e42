#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "proxy/flush_queue.h"
#include "proxy/move/lost_connections.h"
#include "proxy/net/event_loop.h"
#include "proxy/net/resolver.h"
#include "proxy/net/socket.h"
#include "proxy/shard/connection_owner.h"
#include "proxy/shard/handshake.h"
#include "proxy/shard/shard_detour.h"
#include "proxy/shard/shard_session.h"

namespace ringway::proxy {

// Timeouts and limits that CONFIG SET may change while connections live.
struct ShardSettings {
  int64_t connect_timeout_usec = 1'000'000;
  int64_t request_timeout_usec = 2'000'000;  // 0: none
  size_t in_flight = 65'536;                 // positions on one connection
};

class ShardConnection;

// What all shard connections of a worker share.
struct ShardEnvironment {
  EventLoop& loop;
  RequestTable& requests;
  FlushQueue& dirty_shards;
  Resolver& resolver;
  ShardSettings settings;
  // Wakes a client that waited for room, by its id.
  std::function<void(uint64_t)> resume_client;
  std::minstd_rand random;
  // Connections that are not read from because their client does not take a large reply.
  std::vector<ShardConnection*> paused_streams;
  // ProxyState::connection_name_prefix(); empty: connections bear no names.
  std::string connection_name_prefix;
  LostConnections lost;
};

// The socket of one connection to a shard: connects, shakes hands and reconnects with back-off; the log is
// told of a shard that goes or comes back by the control thread. Requests sent while the first connect is
// under way wait for it; after a failure they are refused until a handshake has succeeded, so that traffic
// never is the probe. Thread: one worker. Owns: the socket, the session. Limits: ShardSettings,
// kMaxOutputBytes.
class ShardConnection final : public Flushable, private PushSink {
 public:
  // Requests that a shard does not take are kept up to this size; then clients wait.
  static constexpr size_t kMaxOutputBytes = 64 * 1024 * 1024;

  struct Address {
    uint32_t shard_id;
    config::ShardConfig shard;
    uint32_t db;
    uint8_t resp;
    bool keep_open;  // reconnect without waiting for a request
    ShardDetour place;
    bool own = false;  // of OwnConnections: asks for client_id()
  };

  ShardConnection(ShardEnvironment& environment, Address address, ShardStats& stats);
  ~ShardConnection() override;
  ShardConnection(const ShardConnection&) = delete;
  ShardConnection& operator=(const ShardConnection&) = delete;

  enum class Admission : uint8_t { kOpen, kFull, kDown };
  Admission admission() const {
    if (state_ == State::kReady) [[likely]] {
      return session_.in_flight() < environment_.settings.in_flight && output_has_room() ? Admission::kOpen
                                                                                         : Admission::kFull;
    }
    return AdmissionWhileConnecting();
  }
  // Only if admission() is kOpen (or for a part that must follow others already sent).
  void Send(Request* request, uint32_t part, std::string_view frame, const BlockRef* block);
  // Sends `replies` commands, of which the last one's reply is wanted and the others' are thrown away.
  void SendBatch(Request* request, std::string_view frames, size_t replies, uint32_t part = 0);
  // The same as Send, without its bytes: the caller appends one whole frame to what this answers.
  OutputQueue& BeginFrame(Request* request, uint32_t part);
  // Resumes the client when there is room again.
  void WaitForRoom(uint64_t client_id) { waiters_.push_back(client_id); }
  // "SHARDDOWN cache2 10.0.0.2:6379 is unreachable".
  std::string DownError() const;

  void Connect();
  void Flush() override;
  // Reads on, or stops reading, as the client of a streamed reply takes it or not.
  void UpdateReading();
  // About ten times a second: timeouts, pings of an idle connection.
  void Tick();
  // The shard has moved house: further connects go there. The present connection ends.
  void MoveTo(const config::ShardConfig& shard);

  // --- of OwnConnections ---
  // Null: nobody.
  void set_owner(ConnectionOwner* owner) { owner_ = owner; }
  // What is under way may take for ever: no request times out. It says so where the server goes.
  void set_patient(bool patient) { patient_ = patient; }
  bool patient() const { return patient_; }
  // The connection's number on the server (CLIENT ID), for CLIENT UNBLOCK; 0: not known (yet).
  uint64_t client_id() const { return client_id_; }
  uint32_t shard_id() const { return address_.shard_id; }
  uint32_t db() const { return address_.db; }
  uint8_t resp() const { return address_.resp; }
  bool IsFor(uint32_t shard_id, uint32_t db, uint8_t resp) const {
    return address_.shard_id == shard_id && address_.db == db && address_.resp == resp;
  }
  // From the next request on it is for another database and version.
  void Switch(uint32_t db, uint8_t resp);
  // What is under way is answered with SHARDDOWN, its name and `problem`.
  void Drop(std::string_view problem);

  ShardSession& session() { return session_; }
  const ShardDetour& place() const { return address_.place; }
  // The lane's other connections have gone, and with them those for which this one stood in.
  void BecomeFirst() { address_.place.number = 0; }
  bool ready() const { return state_ == State::kReady; }
  bool failing() const { return failing_; }
  bool closed() const { return state_ == State::kClosed || state_ == State::kBackOff; }
  bool idle() const { return session_.in_flight() == 0; }
  // When the last request of a client was sent here.
  int64_t last_request_usec() const { return last_request_usec_; }

 private:
  enum class State : uint8_t { kClosed, kResolving, kConnecting, kHandshaking, kReady, kBackOff };

  static void OnSocketEvent(evutil_socket_t fd, short what, void* self);
  static void OnTimer(evutil_socket_t fd, short what, void* self);

  Admission AdmissionWhileConnecting() const;
  bool output_has_room() const { return session_.output().size() < kMaxOutputBytes; }
  void AskForAddresses();
  void OnResolved(const Resolver::Answer& answer);
  void TryNextAddress();
  void OnConnected();
  void OnReadable();
  void OnHandshakeBytes(std::string_view bytes);
  void BecomeReady();
  // The connection is lost or was never made; `problem` follows "SHARDDOWN name address".
  void Lose(std::string_view problem);
  void OnPush(std::string_view push) override;
  void NoteLoss();
  void CloseSocket();
  void StartBackOff();
  void WakeWaiters();
  std::string Label() const { return address_.shard.name + " " + address_.shard.address; }

  ShardEnvironment& environment_;
  Address address_;
  ShardStats& stats_;
  ShardSession session_;

  State state_ = State::kClosed;
  UniqueFd fd_;
  uint64_t number_ = 0;  // of the present socket, in its name
  Event read_event_;
  Event write_event_;
  Event timer_;
  std::vector<SocketAddress> candidates_;
  size_t next_candidate_ = 0;
  std::string asked_host_;  // what the resolver has been asked and has not answered; empty: nothing
  uint16_t asked_port_ = 0;
  std::optional<Handshake> handshake_;
  int64_t back_off_usec_ = 0;
  int64_t ready_since_usec_ = 0;
  bool failing_ = false;  // the last attempt failed: requests are refused
  std::string problem_ = "is unreachable";
  int64_t last_received_usec_ = 0;
  int64_t reading_since_usec_ = 0;  // when a client that did not take a large reply last held it up
  int64_t last_request_usec_;
  std::vector<uint64_t> waiters_;
  ConnectionOwner* owner_ = nullptr;
  uint64_t client_id_ = 0;
  bool patient_ = false;
  // Lets an answer of the resolver find out whether its connection still is there.
  std::shared_ptr<ShardConnection*> self_;
};

}  // namespace ringway::proxy
