#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "protocol/reply_scanner.h"
#include "proxy/buffer/block.h"
#include "proxy/buffer/output_queue.h"
#include "proxy/ring_queue.h"
#include "proxy/route/request_table.h"
#include "proxy/worker_stats.h"

namespace ringway::proxy {

// Who waits until a connection has answered what was under way: each has a mark of its own.
enum class DrainFor : uint8_t { kMove, kHotKeys };

// Gets the pushes of RESP3.
class PushSink {
 public:
  // Whole; valid for the call.
  virtual void OnPush(std::string_view push) = 0;

 protected:
  ~PushSink() = default;
};

// A shard connection's protocol, without its socket: requests out, replies in, matched by position. A request
// that was given up (timed out, or its client left) keeps its position until its reply has been thrown away,
// so a late reply never reaches anyone. Thread: one worker. Owns: its output, the queue of positions, a reply
// that is cut off.
class ShardSession {
 public:
  ShardSession(RequestTable& requests, ShardStats& stats);

  // Null, as at first: they are thrown away.
  void set_push_sink(PushSink* sink) { push_sink_ = sink; }

  // Takes the position for one part of `request` (null: the reply is thrown away); the caller appends one
  // whole frame to output() and has counted the part in request->parts_pending.
  void TakePosition(Request* request, uint32_t part);

  struct ReadBuffer {
    char* data;
    size_t size;
  };
  ReadBuffer PrepareRead();
  // False: what came is no reply, or one that nobody asked for; the connection must be closed.
  [[nodiscard]] bool OnBytesRead(size_t count);

  // Answers every request under way with `error` ("WORD sentence") and forgets all that was to be sent. A
  // client whose reply was cut off half way is closed.
  void FailAll(std::string_view error);
  // Answers those sent before `usec` with `error`; their positions stay.
  void FailSentBefore(int64_t usec, std::string_view error);

  // When the oldest position was taken; only if in_flight() > 0.
  int64_t oldest_usec() { return positions_.front().sent_usec; }
  size_t in_flight() const { return positions_.size(); }
  // Drained: all that had a position at the last MarkForDrain has been answered, or was lost with its
  // connection. Unless it is to be so `to_the_end`, a large reply that is being passed on need only have
  // begun: it has been carried out, and its client may take its time.
  void MarkForDrain(DrainFor whom, bool to_the_end) {
    drains_[static_cast<size_t>(whom)] = {answered_ + positions_.size(), to_the_end};
  }
  bool drained(DrainFor whom) const {
    const DrainMark& drain = drains_[static_cast<size_t>(whom)];
    return answered_ + (streaming_ && !drain.to_the_end ? 1 : 0) >= drain.mark;
  }
  OutputQueue& output() { return output_; }
  const OutputQueue& output() const { return output_; }

  // Passes, or passed, a large reply on as it comes, and owes what was asked behind it: requests that can go
  // elsewhere should.
  bool occupied() const { return occupied_; }
  // The reply under way is being passed on, and its client has more unsent than it should.
  bool StreamIsBackedUp();
  // Somebody else than that client waits behind it, or a drain for more than what has come of it.
  bool HasOthersBehindStream();

 private:
  // A reply beyond this is passed on in pieces rather than collected.
  static constexpr size_t kStreamBytes = 32 * 1024;
  // With less room than this left in a block, the next read goes to a new one.
  static constexpr size_t kMinReadBytes = 16 * 1024;

  struct Position {
    Request* request;  // null: throw the reply away
    uint32_t part;
    int64_t sent_usec;
  };

  struct DrainMark {
    uint64_t mark = 0;
    bool to_the_end = false;
  };

  void Deliver(Position& position, const char* data, size_t size, bool final);
  void FinishReply(size_t end);
  void HandleRest();
  void Note(const Position& position);

  RequestTable& requests_;
  ShardStats& stats_;
  OutputQueue output_;
  RingQueue<Position> positions_;
  uint64_t answered_ = 0;  // positions that were given up or answered
  std::array<DrainMark, 2> drains_{};
  protocol::ReplyScanner scanner_;
  PushSink* push_sink_ = nullptr;

  // Received and not passed on: [reply_begin_, end_) of block_.
  BlockRef block_;
  size_t reply_begin_ = 0;
  size_t end_ = 0;
  bool streaming_ = false;  // the reply under way is being passed on in pieces
  bool occupied_ = false;
};

}  // namespace ringway::proxy
