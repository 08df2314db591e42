#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "proxy/net/event_handles.h"
#include "proxy/route/request.h"
#include "proxy/route/request_table.h"
#include "proxy/topology.h"

namespace ringway::proxy {

class EventLoop;

// A request that wants no key to be between two servers while it asks them.
class GatedCollector : public ReplyCollector {
 public:
  // The gate of the move is closed and quiet, and the collector leaves `period` when it is done; nothing:
  // that could not be had in time. Called once; sends the parts.
  virtual void OnGate(Request& request, std::optional<uint64_t> period) = 0;
};

// Requests that wait for the gate of a move (CountingGate), looked at each millisecond.
// Thread: one worker. Owns: their place in the queue; a request is held by one part meanwhile.
class GateQueue {
 public:
  static constexpr int64_t kLookUsec = 1'000;

  GateQueue(EventLoop& loop, RequestTable& requests);

  // `request` has `collector`, and one part pending. It may go on from within this call.
  void Add(std::shared_ptr<const MovePlan> plan, Request& request, GatedCollector& collector,
           int64_t patience_usec);
  void Look();
  bool empty() const { return waiting_.empty(); }

 private:
  struct Waiting {
    std::shared_ptr<const MovePlan> plan;
    Request* request;
    GatedCollector* collector;
    int64_t until_usec;
    std::optional<uint64_t> period;  // of the gate, while it is closed for this one
  };
  static void OnTimer(evutil_socket_t fd, short what, void* self);
  // Whether it has gone on.
  bool Try(Waiting& waiting);

  EventLoop& loop_;
  RequestTable& requests_;
  std::deque<Waiting> waiting_;
  Event timer_;
};

}  // namespace ringway::proxy
