#include "proxy/shard/shard_connection.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "protocol/command_writer.h"
#include "proxy/check.h"
#include "proxy/log.h"
#include "proxy/shard/shard_problems.h"

namespace ringway::proxy {
namespace {

// The first retry comes soon, for a server that restarts; the longest wait is what a returned shard costs.
constexpr int64_t kFirstBackOffUsec = 50'000;
constexpr int64_t kMaxBackOffUsec = 1'000'000;
// A connection that served for this long has shown that the server is well.
constexpr int64_t kSettledUsec = 1'000'000;
// An idle connection is tried this often, so that a host that vanished is noticed before its next request.
constexpr int64_t kIdlePingUsec = 5'000'000;

constexpr std::string_view kPing = "*1\r\n$4\r\nPING\r\n";

}  // namespace

ShardConnection::ShardConnection(ShardEnvironment& environment, Address address, ShardStats& stats)
    : environment_(environment),
      address_(std::move(address)),
      stats_(stats),
      session_(environment.requests, stats),
      last_request_usec_(environment.loop.now_usec()),
      self_(std::make_shared<ShardConnection*>(this)) {
  timer_.Assign(environment_.loop.base(), -1, 0, &ShardConnection::OnTimer, this);
  if (address_.own) session_.set_push_sink(this);
}

ShardConnection::~ShardConnection() {
  *self_ = nullptr;
  NoteLoss();
  CloseSocket();
  environment_.dirty_shards.Remove(this);
  session_.FailAll("SHARDDOWN " + Label() + " has left the ring");
  WakeWaiters();
}

ShardConnection::Admission ShardConnection::AdmissionWhileConnecting() const {
  if (failing_) return Admission::kDown;
  const bool room = session_.in_flight() < environment_.settings.in_flight && output_has_room();
  return room ? Admission::kOpen : Admission::kFull;
}

std::string ShardConnection::DownError() const { return "SHARDDOWN " + Label() + " " + problem_; }

void ShardConnection::Send(Request* request, uint32_t part, std::string_view frame, const BlockRef* block) {
  BeginFrame(request, part).Append(frame, block);
}

void ShardConnection::SendBatch(Request* request, std::string_view frames, size_t replies, uint32_t part) {
  for (size_t i = 1; i < replies; ++i) BeginFrame(nullptr, 0);
  Send(request, part, frames, nullptr);
}

OutputQueue& ShardConnection::BeginFrame(Request* request, uint32_t part) {
  // Before the position is taken: a connect may fail on the spot, which fails all positions. Were this one
  // among them, its frame would still be appended, and the next connection's first reply would go to the
  // wrong request.
  if (state_ == State::kClosed) [[unlikely]]
    Connect();
  session_.TakePosition(request, part);
  if (request != nullptr) last_request_usec_ = environment_.loop.now_usec();
  if (state_ == State::kReady) [[likely]]
    environment_.dirty_shards.Add(this);
  return session_.output();
}

// --- connecting ---

void ShardConnection::Connect() {
  if (state_ != State::kClosed && state_ != State::kBackOff) return;
  state_ = State::kResolving;
  next_candidate_ = 0;
  timer_.AddTimeout(environment_.settings.connect_timeout_usec);
  const config::ShardConfig& shard = address_.shard;
  if (shard.is_unix()) {
    candidates_ = {UnixAddress(shard.path)};
  } else {
    candidates_ = NumericAddress(shard.host, shard.port);
  }
  if (!candidates_.empty()) {
    TryNextAddress();
    return;
  }
  AskForAddresses();
}

// One question at a time: a resolver that is slower than our patience must not collect them.
void ShardConnection::AskForAddresses() {
  const config::ShardConfig& shard = address_.shard;
  if (!asked_host_.empty()) return;
  asked_host_ = shard.host;
  asked_port_ = shard.port;
  EventLoop* loop = &environment_.loop;
  environment_.resolver.Resolve(shard.host, shard.port,
                                [loop, weak = std::weak_ptr(self_)](Resolver::Answer answer) {
                                  loop->Post([weak, answer = std::move(answer)] {
                                    const auto self = weak.lock();
                                    if (self != nullptr && *self != nullptr) (*self)->OnResolved(answer);
                                  });
                                });
}

void ShardConnection::OnResolved(const Resolver::Answer& answer) {
  const std::string host = std::exchange(asked_host_, "");
  if (state_ != State::kResolving) return;
  if (host != address_.shard.host || asked_port_ != address_.shard.port) {
    // The shard has moved house since.
    AskForAddresses();
    return;
  }
  if (answer.addresses.empty()) {
    Lose(kNameUnknown);
    return;
  }
  candidates_ = answer.addresses;
  TryNextAddress();
}

void ShardConnection::TryNextAddress() {
  CloseSocket();
  while (next_candidate_ < candidates_.size()) {
    fd_ = StartConnect(candidates_[next_candidate_++]);
    if (!fd_.valid()) continue;
    state_ = State::kConnecting;
    event_base* base = environment_.loop.base();
    read_event_.Assign(base, fd_.get(), EV_READ | EV_PERSIST, &ShardConnection::OnSocketEvent, this);
    write_event_.Assign(base, fd_.get(), EV_WRITE, &ShardConnection::OnSocketEvent, this);
    write_event_.Add();
    return;
  }
  Lose("is unreachable");
}

void ShardConnection::OnConnected() {
  if (ConnectError(fd_.get()) != 0) {
    TryNextAddress();
    return;
  }
  state_ = State::kHandshaking;
  number_ = NextConnectionNumber();
  std::string name = environment_.connection_name_prefix;
  if (!name.empty()) name += std::to_string(number_);
  handshake_.emplace(address_.shard, address_.db, address_.resp, name, address_.own);
  // A few hundred bytes into an empty socket buffer: they fit, or the connection is broken.
  const std::string& request = handshake_->request();
  const ssize_t sent = ::send(fd_.get(), request.data(), request.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(request.size())) {
    Lose("is unreachable");
    return;
  }
  read_event_.Add();
}

void ShardConnection::OnHandshakeBytes(std::string_view bytes) {
  switch (handshake_->OnBytes(bytes)) {
    case Handshake::Verdict::kNeedMore:
      return;
    case Handshake::Verdict::kRefused:
      Lose(std::string(handshake_->problem()));
      return;
    case Handshake::Verdict::kReady:
      BecomeReady();
      return;
  }
}

void ShardConnection::BecomeReady() {
  state_ = State::kReady;
  client_id_ = handshake_->client_id();
  handshake_.reset();
  timer_.Remove();
  last_received_usec_ = ready_since_usec_ = environment_.loop.now_usec();
  failing_ = false;
  environment_.dirty_shards.Add(this);
  if (owner_ != nullptr) owner_->OnReady(*this);
}

void ShardConnection::Lose(std::string_view problem) {
  const bool was_ready = state_ == State::kReady;
  const bool had_settled = was_ready && environment_.loop.now_usec() - ready_since_usec_ >= kSettledUsec;
  NoteLoss();
  CloseSocket();
  handshake_.reset();
  timer_.Remove();
  state_ = State::kClosed;
  problem_ = problem;
  const bool had_requests = session_.in_flight() > 0;
  if (!was_ready) {
    failing_ = true;
    StartBackOff();
  } else if (had_settled) {
    back_off_usec_ = 0;
  }
  session_.FailAll(DownError());
  WakeWaiters();
  stats_.reconnects.Add();
  if (address_.own) {
    client_id_ = 0;
    if (owner_ != nullptr) owner_->OnLost(*this);
    return;
  }
  // A new attempt for a server that merely closed the connection; requests may wait for it. At once, unless
  // the server lets connections in and closes them: then it would be the next one of a thousand in a second.
  if (!was_ready || !(address_.keep_open || had_requests)) return;
  if (had_settled) {
    Connect();
  } else if (state_ == State::kClosed) {
    StartBackOff();
  }
}

void ShardConnection::Drop(std::string_view problem) {
  if (state_ == State::kClosed) {
    session_.FailAll("SHARDDOWN " + Label() + " " + std::string(problem));
  } else {
    Lose(problem);
  }
}

void ShardConnection::Switch(uint32_t db, uint8_t resp) {
  std::string frames;
  if (resp != address_.resp) protocol::AppendCommand(frames, {"HELLO", std::to_string(resp)});
  if (db != address_.db) protocol::AppendCommand(frames, {"SELECT", std::to_string(db)});
  if (frames.empty()) return;
  SendBatch(nullptr, frames, (resp != address_.resp ? 1U : 0U) + (db != address_.db ? 1U : 0U));
  address_.db = db;
  address_.resp = resp;
}

void ShardConnection::OnPush(std::string_view push) {
  if (owner_ != nullptr) owner_->OnPush(*this, push);
}

// The server may yet carry out what it has not answered.
void ShardConnection::NoteLoss() {
  if (state_ == State::kReady && session_.in_flight() > 0) environment_.lost.Add(address_.shard_id, number_);
}

void ShardConnection::CloseSocket() {
  std::erase(environment_.paused_streams, this);
  read_event_.Remove();
  write_event_.Remove();
  fd_.Reset();
}

void ShardConnection::StartBackOff() {
  state_ = State::kBackOff;
  back_off_usec_ = std::clamp(back_off_usec_ * 2, kFirstBackOffUsec, kMaxBackOffUsec);
  // Half to the whole of it, at random, so that many connections do not come back in one moment.
  std::uniform_int_distribution<int64_t> jitter(back_off_usec_ / 2, back_off_usec_);
  timer_.AddTimeout(jitter(environment_.random));
}

void ShardConnection::OnTimer(evutil_socket_t, short, void* argument) {
  auto* self = static_cast<ShardConnection*>(argument);
  self->environment_.loop.NoteWake();
  self->timer_.NoteFired();
  if (self->state_ == State::kBackOff) {
    self->Connect();
  } else if (self->state_ != State::kReady) {
    self->Lose(self->state_ == State::kHandshaking ? kDoesNotAnswer : "is unreachable: connect timed out");
  }
}

void ShardConnection::MoveTo(const config::ShardConfig& shard) {
  const bool same_place = shard.address == address_.shard.address && shard.user == address_.shard.user &&
                          shard.password == address_.shard.password;
  address_.shard = shard;
  if (same_place || state_ == State::kClosed) return;
  failing_ = false;
  if (state_ == State::kReady) {
    Lose("has moved");
    return;
  }
  CloseSocket();
  timer_.Remove();
  state_ = State::kClosed;
  Connect();
}

// --- traffic ---

void ShardConnection::OnSocketEvent(evutil_socket_t, short what, void* argument) {
  auto* self = static_cast<ShardConnection*>(argument);
  self->environment_.loop.NoteWake();
  if ((what & EV_WRITE) != 0) {
    self->write_event_.NoteFired();
    if (self->state_ == State::kConnecting) {
      self->OnConnected();
    } else {
      self->Flush();
    }
    return;
  }
  self->OnReadable();
}

void ShardConnection::OnReadable() {
  Transport transport(fd_.get());
  if (state_ == State::kHandshaking) {
    std::array<char, 4096> buffer;
    const IoResult got = transport.Read(buffer.data(), buffer.size());
    if (got.status == IoStatus::kClosed) {
      Lose("is unreachable");
    } else if (got.status == IoStatus::kOk) {
      OnHandshakeBytes({buffer.data(), got.bytes});
    }
    return;
  }
  const ShardSession::ReadBuffer buffer = session_.PrepareRead();
  const IoResult got = transport.Read(buffer.data, buffer.size);
  if (got.status == IoStatus::kWouldBlock) return;
  if (got.status == IoStatus::kClosed) {
    Lose("closed the connection");
    return;
  }
  last_received_usec_ = environment_.loop.now_usec();
  if (!session_.OnBytesRead(got.bytes)) {
    LogError("shard " + Label() + " sent what is no reply; the connection is closed");
    Lose("sent a malformed reply");
    return;
  }
  if (session_.occupied()) UpdateReading();
  if (!waiters_.empty()) WakeWaiters();
}

void ShardConnection::Flush() {
  if (state_ != State::kReady || session_.output().empty() || write_event_.added()) return;
  const IoResult sent = Transport(fd_.get()).Write(session_.output());
  if (sent.status == IoStatus::kClosed) {
    Lose("closed the connection");
    return;
  }
  stats_.bytes_out.Add(sent.bytes);
  environment_.requests.stats().shard_writes.Add();
  if (!session_.output().empty()) write_event_.Add();
  if (!waiters_.empty()) WakeWaiters();
}

// A streamed reply that its client does not take is left in the shard's socket, unless others wait behind it.
void ShardConnection::UpdateReading() {
  if (state_ != State::kReady) return;
  if (session_.StreamIsBackedUp() && !session_.HasOthersBehindStream()) {
    if (!read_event_.added()) return;
    read_event_.Remove();
    environment_.paused_streams.push_back(this);
  } else if (!read_event_.added()) {
    read_event_.Add();
    reading_since_usec_ = environment_.loop.now_usec();
    std::erase(environment_.paused_streams, this);
  }
}

void ShardConnection::WakeWaiters() {
  const bool has_room = session_.in_flight() <= environment_.settings.in_flight / 2 &&
                        session_.output().size() <= kMaxOutputBytes / 2;
  if (!has_room && !failing_) return;
  std::vector<uint64_t> waiters;
  waiters.swap(waiters_);
  for (const uint64_t client_id : waiters) environment_.resume_client(client_id);
}

void ShardConnection::Tick() {
  if (state_ != State::kReady) return;
  const int64_t now = environment_.loop.now_usec();
  const int64_t timeout = environment_.settings.request_timeout_usec;
  if (session_.in_flight() == 0) {
    if (now - last_received_usec_ > kIdlePingUsec) Send(nullptr, 0, kPing, nullptr);
    return;
  }
  // While a client holds up a large reply, the shard cannot answer what was asked behind it.
  const bool held_up = !read_event_.added() || now - reading_since_usec_ <= timeout;
  if (timeout == 0 || patient_ || held_up || now - session_.oldest_usec() <= timeout) return;
  session_.FailSentBefore(now - timeout, "SHARDTIMEOUT " + Label() + " did not answer in time");
  // Silent for twice the time: late replies are not worth waiting for, and a new connection is.
  const int64_t silent_since = std::max(last_received_usec_, session_.oldest_usec());
  if (now - silent_since > 2 * timeout) Lose(kDoesNotAnswer);
}

}  // namespace ringway::proxy
