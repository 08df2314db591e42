#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "proxy/buffer/block.h"

namespace ringway::proxy {

class ClientSession;
class OutputQueue;
struct Request;

// Sees the replies to the parts of a request that is not simply passed on, and writes the one reply that the
// client gets. May send further parts while it looks at one (SCAN's next shard, a script loaded again).
// Thread: one worker. Owns: the parts' replies.
class ReplyCollector {
 public:
  virtual ~ReplyCollector() = default;

  // `reply` is complete and in one piece. Called for each part, also when the client has gone.
  virtual void OnPart(Request& request, uint32_t part, const Slice& reply) = 0;
  // No part is under way. True: the request is complete. False: this has sent further parts, or has put
  // another collector (or none: the next part's reply is the client's) in its own place.
  virtual bool OnAllParts(Request&) { return true; }
  // Appends the client's reply; called once, when all parts are there and it is this request's turn.
  virtual void Finish(Request& request, OutputQueue& out) = 0;
  // The client has gone: nobody will call Finish.
  virtual void OnAbandoned() {}
  // Called instead of delete, so that frequent collectors can be used again.
  virtual void Release() { delete this; }
};

struct CollectorReleaser {
  void operator()(ReplyCollector* collector) const { collector->Release(); }
};
using CollectorPtr = std::unique_ptr<ReplyCollector, CollectorReleaser>;

// Told when a request has been answered. Thread: one worker.
class CompletionHook {
 public:
  // The reply is complete, and its client does not have it yet. `in_doubt`: some of it was not answered by a
  // server, which may have carried it out, or may do so yet.
  virtual void OnComplete(bool in_doubt) = 0;

 protected:
  ~CompletionHook() = default;
};

// One command of a client between its arrival and the moment its reply stands in the client's output.
// Referred to by the client's queue and by the entries of shard connections (parts_pending of them); the last
// to let go frees it through RequestTable.
struct Request {
  enum class State : uint8_t {
    kWaiting,    // no byte of the reply has been passed on
    kStreaming,  // some have: only the rest of this reply may follow
    kDone,       // the reply is complete, held or behind the collector
  };

  Request* next = nullptr;          // the client's next younger request
  ClientSession* client = nullptr;  // null once the client has gone
  CollectorPtr collector;           // null: the shard's reply is the client's
  CompletionHook* hook = nullptr;   // null: nobody else is concerned
  Slice held;                       // the reply, or its first piece, while older requests wait
  std::vector<Slice> held_more;     // further pieces
  size_t collected_bytes = 0;       // of the parts' replies that the collector was given
  int64_t start_usec = 0;
  uint32_t parts_pending = 0;
  uint16_t command_id = 0;
  uint8_t resp = 2;
  State state = State::kWaiting;
  bool silent = false;    // CLIENT REPLY OFF or SKIP
  bool failed = false;    // the reply is an error
  bool internal = false;  // the proxy's own: no client's figures
  bool in_doubt = false;  // has a hook, and a part was answered with an error of the proxy's own
};

}  // namespace ringway::proxy
