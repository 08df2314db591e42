#pragma once

#include <utility>

#include "proxy/buffer/output_queue.h"
#include "proxy/route/request.h"
#include "proxy/shard/own_connections.h"

namespace ringway::proxy {

// Passes on the one reply that came over a connection of the client's own, and gives that back. Thread: one
// worker. Owns: the connection until then.
class OwnReply final : public ReplyCollector {
 public:
  explicit OwnReply(OwnConnection connection) : connection_(std::move(connection)) {}

  OwnConnection& connection() { return connection_; }

  void OnPart(Request&, uint32_t, const Slice& reply) override { reply_ = reply; }
  bool OnAllParts(Request& request) override {
    request.failed = reply_.size > 0 && reply_.data[0] == '-';
    connection_.GiveBack();
    return true;
  }
  void Finish(Request&, OutputQueue& out) override { out.Append(reply_); }

 private:
  OwnConnection connection_;
  Slice reply_;
};

}  // namespace ringway::proxy
