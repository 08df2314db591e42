#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "proxy/buffer/block.h"
#include "proxy/route/request.h"
#include "proxy/worker_stats.h"

namespace ringway::proxy {

// The requests of one worker that are under way: makes them, takes in the replies to their parts, counts them
// and frees them. Requests are used again, so steady traffic allocates nothing. Thread: one worker. Owns: all
// requests.
class RequestTable {
 public:
  // `now_usec` is the loop's time of the turn, read at each reply.
  RequestTable(BlockPool& blocks, WorkerStats& stats, const int64_t& now_usec)
      : blocks_(blocks), stats_(stats), now_usec_(now_usec) {}
  RequestTable(const RequestTable&) = delete;
  RequestTable& operator=(const RequestTable&) = delete;

  Request* New(ClientSession* client, uint16_t command_id);
  // One that no client has asked for; it ends with `collector`'s last part.
  Request* NewInternal(CollectorPtr collector);

  // A piece of the reply to one part; `final` with its last byte. A request with a collector gets its parts
  // whole.
  void OnReply(Request* request, uint32_t part, const Slice& piece, bool final);
  // An error of the proxy's own in place of a part's reply, "WORD sentence".
  void OnError(Request* request, uint32_t part, std::string_view error);

  // The same for a part that was not sent to any server.
  void Refuse(Request* request, uint32_t part, std::string_view error);

  // A reply that has been passed on in part will not be completed; its client is being closed.
  void OnCutOff(Request* request);

  // One part less, for those who hold a request without a shard's reply to wait for.
  void EndPart(Request* request);

  // The client has gone: frees the request or leaves it to the parts still under way.
  void Abandon(Request* request);
  // The reply has been passed on to the client.
  void Free(Request* request);

  // A slice with its own copy of `text`.
  Slice Copy(std::string_view text);
  // The same bytes, without holding on to a large block when many are held already.
  Slice Held(const Slice& slice);

  // Requests that have not been freed.
  size_t in_use() const { return all_.size() - free_.size(); }

  BlockPool& blocks() { return blocks_; }
  WorkerStats& stats() { return stats_; }
  int64_t now_usec() const { return now_usec_; }

 private:
  // Held replies refer to the block they were read into; beyond this many bytes in blocks they are copied,
  // so that one small reply does not keep 64 KiB.
  static constexpr size_t kMaxPinnedBytes = 32 * 1024 * 1024;

  void Complete(Request* request, const Slice& last_piece);
  static void TellHook(Request* request);

  BlockPool& blocks_;
  WorkerStats& stats_;
  const int64_t& now_usec_;
  std::deque<Request> all_;  // those that nobody answers before the worker ends go with it
  std::vector<Request*> free_;
};

}  // namespace ringway::proxy
