#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/reply_cursor.h"
#include "proxy/buffer/output_queue.h"
#include "proxy/client/client_session.h"
#include "proxy/route/request.h"
#include "proxy/route/request_table.h"
#include "proxy/shard/own_connections.h"

namespace ringway::proxy {

// WAIT: the least of what all shards answer, or the first error. Thread: one worker. Owns: a connection to
// each shard until all have answered.
class WaitCollector final : public ReplyCollector {
 public:
  // `ended` is called with its end.
  WaitCollector(RequestTable& requests, std::vector<OwnConnection> connections, std::function<void()> ended)
      : requests_(requests), connections_(std::move(connections)), ended_(std::move(ended)) {}
  ~WaitCollector() override { ended_(); }

  std::vector<OwnConnection>& connections() { return connections_; }

  void OnPart(Request&, uint32_t part, const Slice& reply) override {
    connections_[part].GiveBack();
    if (const auto replicas = protocol::IntegerOf(reply.view())) {
      least_ = std::min(least_, *replicas);
    } else if (error_.size == 0) {
      error_ = reply;
    }
  }
  bool OnAllParts(Request& request) override {
    if (error_.size == 0) {
      reply_ = requests_.Copy(":" + std::to_string(least_) + "\r\n");
    } else {
      request.failed = true;
      requests_.stats().NoteError(error_.view());
      reply_ = error_;
    }
    if (request.client != nullptr) {
      request.client->state().modes &= static_cast<uint8_t>(~SessionState::kBlocked);
    }
    return true;
  }
  void Finish(Request&, OutputQueue& out) override { out.Append(reply_); }
  // The servers forget that somebody waits.
  void OnAbandoned() override {
    for (OwnConnection& connection : connections_) connection.End();
  }

 private:
  RequestTable& requests_;
  std::vector<OwnConnection> connections_;
  const std::function<void()> ended_;
  int64_t least_ = INT64_MAX;
  Slice error_;
  Slice reply_;
};

}  // namespace ringway::proxy
