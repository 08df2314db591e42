#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "protocol/command_table.h"
#include "protocol/reply_cursor.h"
#include "proxy/buffer/output_queue.h"
#include "proxy/route/request.h"
#include "proxy/route/request_table.h"

namespace ringway::proxy {

// Makes one reply of those of several shards, as the command's response policy says. An error of any part is
// the reply (but for kOneSucceeded). Collectors are used again. Thread: one worker. Owns: the parts' replies.
// Limits: 65,535 parts.
class SplitCollector final : public ReplyCollector {
 public:
  // Free collectors of one worker.
  class Pool {
   public:
    explicit Pool(RequestTable& requests) : requests_(requests) {}
    ~Pool();
    SplitCollector* Take(protocol::ResponsePolicy policy, size_t parts);

   private:
    friend class SplitCollector;
    RequestTable& requests_;
    std::vector<SplitCollector*> free_;
  };

  // kKeyOrder: the next key's element is the next one of `part`.
  void AddKey(uint16_t part) { order_.push_back(part); }
  // A write whose parts stand for themselves: an error of the proxy's then says how many were carried out.
  void set_partial_write() { partial_write_ = true; }

  void OnPart(Request& request, uint32_t part, const Slice& reply) override;
  void Finish(Request& request, OutputQueue& out) override;
  void OnAbandoned() override;
  void Release() override;

 private:
  explicit SplitCollector(Pool& pool) : pool_(pool) {}

  bool IsErrorReply(const Request& request) const;
  void FinishError(OutputQueue& out) const;
  void FinishIntegers(OutputQueue& out) const;
  void FinishLogical(OutputQueue& out) const;
  void FinishConcatenation(OutputQueue& out) const;
  void FinishInKeyOrder(OutputQueue& out);

  Pool& pool_;
  protocol::ResponsePolicy policy_ = protocol::ResponsePolicy::kFirst;
  bool partial_write_ = false;
  uint32_t errors_ = 0;
  uint32_t first_error_ = 0;    // part, if errors_ > 0
  uint32_t first_success_ = 0;  // part, if any succeeded
  bool has_success_ = false;
  std::vector<Slice> parts_;
  std::vector<uint16_t> order_;
  std::vector<protocol::ReplyCursor> cursors_;
};

}  // namespace ringway::proxy
