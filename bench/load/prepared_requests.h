#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bench/load/conversation.h"
#include "bench/load/options.h"
#include "bench/load/tally.h"

namespace ringway::bench {

// Batches of requests rendered before the run, which all clients share and walk through in a circle, so
// that sending one costs no more than the system call.
//
// Thread: one.
// Owns: the bytes of all batches.
// Limits: 65,536 requests or 32 MiB, whichever is less, but at least 8 batches; `fill` has one request
// for each key.
class PreparedRequests {
 public:
  explicit PreparedRequests(const LoadOptions& options);
  std::string_view NextBatch();

 private:
  std::string bytes_;
  std::vector<std::size_t> batch_ends_;
  std::size_t next_ = 0;
};

// A client that sends prepared requests and looks no closer at the replies than to tell errors and
// nulls from the rest.
class PreparedConversation : public Conversation {
 public:
  PreparedConversation(PreparedRequests* requests, Tally* tally) : requests_(requests), tally_(tally) {}

  std::string_view NextBatch() override { return requests_->NextBatch(); }
  void ConnectionLost() override {}
  void OnScalar(char type, std::string_view text) override;
  void OnNull() override { ++tally_->misses; }
  void OnArray(uint64_t) override {}
  void OnBulkBegin(uint64_t) override {}
  void OnBulkBytes(std::string_view) override {}
  void OnBulkEnd() override {}
  void OnReplyEnd() override { ++tally_->requests; }

 private:
  PreparedRequests* const requests_;
  Tally* const tally_;
};

}  // namespace ringway::bench
