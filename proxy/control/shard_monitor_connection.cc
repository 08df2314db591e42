#include "proxy/control/shard_monitor_connection.h"

#include <array>
#include <cstdlib>
#include <utility>

#include <hiredis/adapters/libevent.h>
#include <hiredis/async.h>
#include <netdb.h>

#include "protocol/command_writer.h"
#include "proxy/control/reply_bytes.h"
#include "proxy/shard/shard_problems.h"

namespace ringway::proxy {
namespace {

// hiredis takes a host and a port, and asks the resolver only for what is not numeric.
redisAsyncContext* ConnectTo(const SocketAddress& address) {
  std::array<char, NI_MAXHOST> host;
  std::array<char, NI_MAXSERV> port;
  const int failed = getnameinfo(address.get(), address.length, host.data(), host.size(), port.data(),
                                 port.size(), NI_NUMERICHOST | NI_NUMERICSERV);
  return failed != 0 ? nullptr : redisAsyncConnect(host.data(), std::stoi(port.data()));
}

std::string ProblemOf(const redisAsyncContext& context) {
  switch (context.err) {
    case REDIS_ERR_PROTOCOL:
      return std::string(kSpeaksNoRedis);
    case REDIS_ERR_EOF:
      return "closed the connection";
    default:
      return "is unreachable: " + std::string(context.errstr == nullptr ? "no reason given" : context.errstr);
  }
}

}  // namespace

// What hiredis calls. A context whose data is null belongs to nobody any more and is on its way out.
struct ShardMonitorConnection::Callbacks {
  static void Connected(const redisAsyncContext* context, int status) {
    auto* self = static_cast<ShardMonitorConnection*>(context->data);
    if (self == nullptr) return;
    self->loop_.NoteWake();
    if (status == REDIS_OK) {
      self->user_->OnConnected();
      return;
    }
    const std::string reason = context->errstr == nullptr ? "" : context->errstr;
    self->Detach();  // hiredis frees it
    self->OnConnectFailed(reason);
  }

  static void Disconnected(const redisAsyncContext* context, int) {
    auto* self = static_cast<ShardMonitorConnection*>(context->data);
    if (self == nullptr) return;
    self->loop_.NoteWake();
    const std::string problem = ProblemOf(*context);
    self->Detach();  // hiredis frees it
    self->user_->OnLost(problem);
  }

  static void Replied(redisAsyncContext* context, void* reply, void*) {
    auto* self = static_cast<ShardMonitorConnection*>(context->data);
    // No reply: the connection ends, which Disconnected tells.
    if (self == nullptr || reply == nullptr) return;
    self->loop_.NoteWake();
    std::string bytes;
    AppendReply(*static_cast<const redisReply*>(reply), bytes);
    self->user_->OnReply(bytes);
  }
};

ShardMonitorConnection::ShardMonitorConnection(EventLoop& loop, Resolver& resolver)
    : loop_(loop), resolver_(resolver), self_(std::make_shared<ShardMonitorConnection*>(this)) {}

ShardMonitorConnection::~ShardMonitorConnection() {
  *self_ = nullptr;
  Close();
}

void ShardMonitorConnection::Connect(const config::ShardConfig& shard) {
  Close();
  next_candidate_ = 0;
  if (shard.is_unix()) {
    candidates_.clear();
    std::string reason;
    if (!Attach(redisAsyncConnectUnix(shard.path.c_str()), &reason)) OnConnectFailed(reason);
    return;
  }
  candidates_ = NumericAddress(shard.host, shard.port);
  if (!candidates_.empty()) {
    TryNextAddress();
    return;
  }
  EventLoop* loop = &loop_;
  resolver_.Resolve(shard.host, shard.port,
                    [loop, attempt = attempt_, weak = std::weak_ptr(self_)](Resolver::Answer answer) {
                      loop->Post([weak, attempt, answer = std::move(answer)] {
                        const auto self = weak.lock();
                        if (self != nullptr && *self != nullptr) (*self)->OnResolved(attempt, answer);
                      });
                    });
}

void ShardMonitorConnection::OnResolved(uint64_t attempt, const Resolver::Answer& answer) {
  if (attempt != attempt_) return;
  if (answer.addresses.empty()) {
    user_->OnLost(kNameUnknown);
    return;
  }
  candidates_ = answer.addresses;
  TryNextAddress();
}

void ShardMonitorConnection::TryNextAddress() {
  std::string reason;
  while (next_candidate_ < candidates_.size()) {
    if (Attach(ConnectTo(candidates_[next_candidate_++]), &reason)) return;
  }
  OnConnectFailed(reason);
}

void ShardMonitorConnection::OnConnectFailed(const std::string& reason) {
  if (next_candidate_ < candidates_.size()) {
    TryNextAddress();
  } else {
    user_->OnLost(reason.empty() ? "is unreachable" : "is unreachable: " + reason);
  }
}

// hiredis aborts the process on a reply that nobody asked for, so there is always somebody: one callback more
// than there are commands. All are alike, and the user counts for itself what it has asked.
bool ShardMonitorConnection::ExpectOneMore(redisAsyncContext* context) {
  auto* spare = static_cast<redisCallback*>(std::calloc(1, sizeof(redisCallback)));  // hiredis frees it
  if (spare == nullptr) return false;
  spare->fn = &Callbacks::Replied;
  redisCallbackList& replies = context->replies;
  (replies.tail == nullptr ? replies.head : replies.tail->next) = spare;
  replies.tail = spare;
  return true;
}

bool ShardMonitorConnection::Attach(redisAsyncContext* context, std::string* reason) {
  if (context == nullptr) return false;
  if (context->err != 0 || redisLibeventAttach(context, loop_.base()) != REDIS_OK ||
      !ExpectOneMore(context)) {
    *reason = context->errstr == nullptr ? "" : context->errstr;
    redisAsyncFree(context);
    return false;
  }
  context->data = this;
  context_ = context;
  redisAsyncSetConnectCallback(context, &Callbacks::Connected);
  redisAsyncSetDisconnectCallback(context, &Callbacks::Disconnected);
  return true;
}

void ShardMonitorConnection::Detach() {
  context_->data = nullptr;
  context_ = nullptr;
}

void ShardMonitorConnection::Send(std::initializer_list<std::string_view> command) {
  if (context_ == nullptr) return;
  std::string frame;
  protocol::AppendCommand(frame, command);
  SendFrame(frame, 1);
}

void ShardMonitorConnection::SendFrame(std::string_view frame, size_t replies) {
  if (context_ == nullptr || replies == 0) return;
  redisAsyncFormattedCommand(context_, &Callbacks::Replied, nullptr, frame.data(), frame.size());
  for (size_t i = 1; i < replies; ++i) {
    if (!ExpectOneMore(context_)) return;
  }
}

void ShardMonitorConnection::Close() {
  ++attempt_;
  if (context_ == nullptr) return;
  redisAsyncContext* context = context_;
  Detach();
  redisAsyncFree(context);
}

}  // namespace ringway::proxy
