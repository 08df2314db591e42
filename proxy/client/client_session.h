#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "protocol/limits.h"
#include "protocol/request_parser.h"
#include "proxy/buffer/block.h"
#include "proxy/buffer/output_queue.h"
#include "proxy/client/session_state.h"
#include "proxy/flush_queue.h"
#include "proxy/hotkey/hot_trail.h"
#include "proxy/route/request.h"
#include "proxy/shard/shard_detour.h"

namespace ringway::proxy {

class ClientSession;
class RequestTable;
class Transaction;

// Takes the requests that a session has parsed.
class RequestHandler {
 public:
  enum class Outcome : uint8_t {
    kTaken,
    kStall,  // cannot be sent now: keep the bytes, stop parsing, and go on when ClientSession::Resume is
             // called
  };
  // `block` holds the frame, and may be referred to; null if the frame must be copied.
  virtual Outcome Handle(ClientSession& session, const protocol::RequestView& request,
                         const BlockRef* block) = 0;

 protected:
  ~RequestHandler() = default;
};

// The socket's side of a session.
class ClientHost : public Flushable {
 public:
  // Ends the connection at the end of the turn, whatever is still to be said.
  virtual void CloseSoon() = 0;
  // Parses on after a stop.
  virtual void Resume() = 0;
  // Whether the client is known to have gone, though that has not been read yet.
  virtual bool PeerHasGone() { return false; }
};

// Limits that CONFIG SET may change while sessions live.
struct SessionLimits {
  protocol::RequestLimits request;
  size_t pipeline = 10'000;                          // requests without a reply
  size_t client_output = size_t{256} * 1024 * 1024;  // bytes of replies not yet taken by the client
};

// What all sessions of a worker share.
struct SessionEnvironment {
  BlockPool& blocks;
  RequestTable& requests;
  RequestHandler& handler;
  FlushQueue& dirty_clients;
  SessionLimits limits;
  BlockRef scratch;                       // what sockets are read into
  std::vector<ClientSession*> resumable;  // sessions that may parse on at the end of the turn
};

// A client's protocol, without its socket: bytes in, requests to the handler, replies out in the order of the
// requests.
// Thread: one worker. Owns: its input that is not yet parsed, its output, its place in each Request.
// Limits: SessionLimits, kSoftOutputBytes.
class ClientSession {
 public:
  // Beyond this much unsent output a client is not read from.
  static constexpr size_t kSoftOutputBytes = 1024 * 1024;
  // A client that is blocked is read from up to here, so that it is seen to go.
  static constexpr size_t kBlockedInputBytes = 64 * 1024;

  ClientSession(SessionEnvironment& environment, ClientHost& host);
  ~ClientSession();
  ClientSession(const ClientSession&) = delete;
  ClientSession& operator=(const ClientSession&) = delete;

  // --- input ---
  struct ReadBuffer {
    char* data;
    size_t size;
  };
  // Where the next bytes from the socket go; valid until OnBytesRead.
  ReadBuffer PrepareRead();
  void OnBytesRead(size_t count);
  // The client has sent its last byte; it still gets its replies.
  void OnEndOfInput() { end_of_input_ = true; }
  // Parses what was kept while stopped. For the owner of environment.resumable, which takes the session off
  // it first.
  void Resume();
  // Whether the socket should be read.
  bool WantsInput() const {
    return !closing_ && !end_of_input_ && (!stopped_ || (blocked() && input_bytes() < kBlockedInputBytes));
  }
  // Waits at a server, so a client that goes is not to be answered.
  bool blocked() const { return (state_.modes & SessionState::kBlocked) != 0; }

  // --- replies ---
  // A request of this client that goes to shards; the caller sends its parts.
  Request* NewRequest(uint16_t command_id);
  // The whole reply at once: a command that the proxy answers itself. RESP bytes.
  void Reply(uint16_t command_id, std::string_view reply);
  // An error text without '-' and line end, for a command that was tried and failed.
  void ReplyError(uint16_t command_id, std::string_view error);
  // The same for one that was refused before anything was done.
  void Reject(uint16_t command_id, std::string_view error);
  // From RequestTable: a piece of a reply that goes on, and the last one (or none with a collector).
  void OnReplyPiece(Request* request, const Slice& piece);
  void OnReplyComplete(Request* request, const Slice& last_piece);
  // From RequestTable: the reply to a part of a split request, which its collector keeps until all are there.
  void OnPartCollected(Request* request, size_t bytes);

  // A message that answers no request, whole: stands between two replies, never within one.
  void Push(const Slice& message);

  // No further request is parsed; the connection ends when all replies are out.
  void CloseAfterReplies() { closing_ = true; }
  // A reply was cut off half way: what follows would be taken for its rest.
  void CloseBroken() {
    closing_ = true;
    host_.CloseSoon();
  }
  // Everything is said and done.
  bool Finished() const {
    return (closing_ || (end_of_input_ && !stopped_)) && head_ == nullptr && output_.empty();
  }
  // To be called when the socket has taken output.
  void OnOutputTaken() {
    if (stopped_) MaybeResume();
  }
  void MarkResumable();

  // --- order ---
  // For a handler that answers kStall because its request must not overtake those under way: it is handled
  // again when all of them are answered.
  void StallUntilAnswered() { awaits_replies_ = true; }
  // Where requests under way went that did not take a lane's first connection.
  ShardDetour& detour() { return detour_; }
  // Requests that wait for moving keys to be pulled; `several` of them have more keys than one. Nothing that
  // may concern the same keys must overtake them.
  uint32_t pulls() const { return pulls_; }
  uint32_t pulls_of_several() const { return pulls_of_several_; }
  void BeginPull(bool several) {
    ++pulls_;
    if (several) ++pulls_of_several_;
  }
  void EndPull(bool several) {
    --pulls_;
    if (several) --pulls_of_several_;
  }

  // Reads that buckets of hot keys have been asked for. Such a read may yet be asked of the key itself, so no
  // write of the session on that key is sent before it has been answered.
  uint32_t bucket_reads() const { return bucket_reads_; }
  void BeginBucketRead() { ++bucket_reads_; }
  void EndBucketRead() { --bucket_reads_; }
  HotTrail& hot_trail() { return hot_trail_; }
  HotTrail::Step* FindHotStep(const HotKey& key) { return hot_trail_.Find(key, answered()); }
  // Requests have numbers from 1; of those taken so far, the first answered() have been answered.
  uint64_t next_request() const { return taken_ + 1; }
  uint64_t answered() const { return taken_ - pending_; }

  // What is queued since MULTI, and what is watched; made when first asked for.
  Transaction& transaction();
  // Null: it was never asked for.
  const Transaction* find_transaction() const { return transaction_.get(); }
  // A session that stands for this one while it has nothing else under way: what wakes this one wakes it.
  void set_inner(ClientSession* inner) { inner_ = inner; }

  SessionState& state() { return state_; }
  const SessionState& state() const { return state_; }
  OutputQueue& output() { return output_; }
  ClientHost& host() { return host_; }
  SessionEnvironment& environment() { return environment_; }
  size_t pending() const { return pending_; }
  bool stopped() const { return stopped_ || (inner_ != nullptr && inner_->stopped()); }
  // A request is at hand that the handler has not taken yet.
  bool stalled() const { return stalled_; }
  size_t input_bytes() const { return input_end_ - input_begin_; }
  // Replies that the client has not taken: output and what waits for older requests.
  size_t unsent_bytes() const { return output_.size() + held_bytes_; }
  // Whether more of the reply to `request` should wait. For the oldest one only what stands in the output
  // counts: what is held waits for this very reply, and would wait for ever.
  bool IsBackedUp(const Request* request) const {
    return (request == head_ ? output_.size() : unsent_bytes()) > kSoftOutputBytes;
  }

 private:
  void EmitWhole(uint16_t command_id, std::string_view reply);
  void ParseInput();
  size_t ParseAll(std::string_view data, const BlockRef& block);
  bool MayParse() const;
  void KeepInput(const BlockRef& block, const char* data, size_t size);
  void GrowInput(size_t wanted_room);
  void AppendPiece(Request* request, const Slice& piece);
  void Hold(Request* request, const Slice& piece);
  void PopHead();
  void AppendHeldPushes();
  void DrainDone();
  void CheckOutputLimit();
  void MaybeResume();
  bool ConsumeSilence();

  SessionEnvironment& environment_;
  ClientHost& host_;
  SessionState state_;
  protocol::RequestParser parser_;

  // Received and not parsed: [begin, end) of input_; no block when empty.
  BlockRef input_;
  size_t input_begin_ = 0;
  size_t input_end_ = 0;

  // Requests in the order of their arrival.
  Request* head_ = nullptr;
  Request* tail_ = nullptr;
  size_t pending_ = 0;
  uint64_t taken_ = 0;  // requests that were ever pending
  size_t held_bytes_ = 0;
  std::vector<Slice> held_pushes_;  // that wait for the end of a reply which is being passed on

  OutputQueue output_;
  bool closing_ = false;     // no further request is parsed
  bool overflowed_ = false;  // beyond client_output
  bool end_of_input_ = false;
  bool stopped_ = false;         // parsing stopped with a request at hand
  bool stalled_ = false;         // ... because the handler could not take it
  bool resumable_ = false;       // stands in environment_.resumable
  bool awaits_replies_ = false;  // stalled until nothing is pending
  ShardDetour detour_;
  uint32_t pulls_ = 0;
  uint32_t pulls_of_several_ = 0;
  uint32_t bucket_reads_ = 0;
  HotTrail hot_trail_;
  std::unique_ptr<Transaction> transaction_;
  ClientSession* inner_ = nullptr;
};

}  // namespace ringway::proxy
