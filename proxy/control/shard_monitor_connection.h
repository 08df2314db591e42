#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/control/shard_monitor.h"
#include "proxy/net/event_loop.h"
#include "proxy/net/resolver.h"

struct redisAsyncContext;

namespace ringway::proxy {

// hiredis's asynchronous context on an event loop, as the control side's way to a shard. A name's addresses
// are tried one after the other. Its user may destroy it when it is told something. Thread: the loop's. Owns:
// the context while it is connected or connecting.
class ShardMonitorConnection final : public ShardLink {
 public:
  ShardMonitorConnection(EventLoop& loop, Resolver& resolver);
  ~ShardMonitorConnection() override;
  ShardMonitorConnection(const ShardMonitorConnection&) = delete;
  ShardMonitorConnection& operator=(const ShardMonitorConnection&) = delete;

  // Before Connect; it must outlive this object.
  void set_user(ShardLinkUser* user) { user_ = user; }

  void Connect(const config::ShardConfig& shard) override;
  void Send(std::initializer_list<std::string_view> command) override;
  void Close() override;
  // The same as Send, of whole commands that are answered by `replies` replies.
  void SendFrame(std::string_view frame, size_t replies);

 private:
  struct Callbacks;

  void OnResolved(uint64_t attempt, const Resolver::Answer& answer);
  void TryNextAddress();
  // The next address, or the end of the attempt.
  void OnConnectFailed(const std::string& reason);
  // Makes `context` this object's; false with what went wrong in `reason`, and the context freed.
  bool Attach(redisAsyncContext* context, std::string* reason);
  static bool ExpectOneMore(redisAsyncContext* context);
  void Detach();

  EventLoop& loop_;
  Resolver& resolver_;
  ShardLinkUser* user_ = nullptr;
  redisAsyncContext* context_ = nullptr;
  uint64_t attempt_ = 0;  // tells answers of the resolver that come too late
  std::vector<SocketAddress> candidates_;
  size_t next_candidate_ = 0;
  // Lets an answer of the resolver find out whether this object still is there.
  std::shared_ptr<ShardMonitorConnection*> self_;
};

}  // namespace ringway::proxy
