#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "protocol/reply_writer.h"
#include "proxy/route/request.h"
#include "proxy/route/request_table.h"

namespace ringway::proxy {

// Keeps the replies of all shards for a function that makes one of them. Part i is shard i of the topology at
// the time the request was sent. Thread: one worker. Owns: the parts.
class PartsCollector final : public ReplyCollector {
 public:
  enum class OnError : uint8_t {
    kPassOn,  // an error of any shard is the reply
    kMerge,   // the function sees them
  };
  using Merge = std::function<void(std::span<const Slice> parts, protocol::ReplyWriter& reply)>;

  PartsCollector(RequestTable& requests, size_t parts, OnError on_error, Merge merge)
      : requests_(requests), parts_(parts), on_error_(on_error), merge_(std::move(merge)) {}

  void OnPart(Request& request, uint32_t part, const Slice& reply) override;
  void Finish(Request& request, OutputQueue& out) override;

 private:
  RequestTable& requests_;
  std::vector<Slice> parts_;
  OnError on_error_;
  Merge merge_;
  Slice error_;
};

}  // namespace ringway::proxy
