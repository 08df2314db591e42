#include "proxy/route/gate_queue.h"

#include <utility>

#include "proxy/net/event_loop.h"

namespace ringway::proxy {

GateQueue::GateQueue(EventLoop& loop, RequestTable& requests) : loop_(loop), requests_(requests) {
  timer_.Assign(loop.base(), -1, 0, &GateQueue::OnTimer, this);
}

void GateQueue::Add(std::shared_ptr<const MovePlan> plan, Request& request, GatedCollector& collector,
                    int64_t patience_usec) {
  Waiting waiting{std::move(plan), &request, &collector, requests_.now_usec() + patience_usec, std::nullopt};
  if (Try(waiting)) return;
  waiting_.push_back(std::move(waiting));
  if (!timer_.added()) timer_.AddTimeout(kLookUsec);
}

void GateQueue::OnTimer(evutil_socket_t, short, void* argument) {
  auto* self = static_cast<GateQueue*>(argument);
  self->loop_.NoteWake();
  self->timer_.NoteFired();
  self->Look();
}

void GateQueue::Look() {
  // What goes on may bring new ones.
  std::deque<Waiting> looked_at;
  looked_at.swap(waiting_);
  for (Waiting& waiting : looked_at) {
    if (!Try(waiting)) waiting_.push_back(std::move(waiting));
  }
  if (!waiting_.empty() && !timer_.added()) timer_.AddTimeout(kLookUsec);
}

bool GateQueue::Try(Waiting& waiting) {
  CountingGate& gate = waiting.plan->figures().gate;
  const int64_t now = requests_.now_usec();
  if (waiting.period.has_value() && !gate.IsClosed(*waiting.period, now)) waiting.period.reset();
  if (!waiting.period.has_value()) waiting.period = gate.Close(now);
  const bool quiet = waiting.period.has_value() && gate.Quiet();
  if (!quiet && now < waiting.until_usec) return false;
  if (!quiet && waiting.period.has_value()) {
    gate.Leave(*waiting.period, now);
    waiting.period.reset();
  }
  waiting.collector->OnGate(*waiting.request, waiting.period);
  requests_.EndPart(waiting.request);
  return true;
}

}  // namespace ringway::proxy
