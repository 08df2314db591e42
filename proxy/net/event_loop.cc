#include "proxy/net/event_loop.h"

#include <utility>

#include <sys/eventfd.h>

#include "proxy/check.h"
#include "proxy/net/clock.h"

namespace ringway::proxy {
namespace {

EventBasePtr NewBase() {
  event_config* config = event_config_new();
  RINGWAY_CHECK(config != nullptr);
  event_config_require_features(config, EV_FEATURE_O1);
  // No lock: other threads come in through Post alone. And no change list of epoll: it would take a descriptor
  // out of the set when another thread may already have been given its number.
  event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
  event_config_set_flag(config, EVENT_BASE_FLAG_IGNORE_ENV);
  EventBasePtr base(event_base_new_with_config(config));
  event_config_free(config);
  return base;
}

}  // namespace

EventLoop::EventLoop()
    : base_(NewBase()), wake_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)), now_usec_(MonotonicUsec()) {
  RINGWAY_CHECK(base_ != nullptr);
  RINGWAY_CHECK(wake_fd_.valid());
  wake_event_.Assign(base_.get(), wake_fd_.get(), EV_READ | EV_PERSIST, &EventLoop::OnWake, this);
  wake_event_.Add();
  thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
}

EventLoop::~EventLoop() = default;

void EventLoop::Run(const std::function<void()>& after_turn) {
  thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  while (!stop_.load(std::memory_order_relaxed)) {
    woken_ = false;
    event_base_loop(base_.get(), EVLOOP_ONCE);
    NoteWake();
    GatherMore();
    after_turn();
  }
  {
    MutexLock lock(mutex_);
    ended_ = true;
  }
  RunPosted();
}

// Sockets that have become ready while others were handled join the turn: one more look costs less than the
// writes it saves. Bounded, so that nobody waits long for the flush.
void EventLoop::GatherMore() {
  for (int look = 0; look < kMaxFurtherLooks; ++look) {
    handled_ = false;
    event_base_loop(base_.get(), EVLOOP_NONBLOCK);
    if (!handled_) return;
  }
}

void EventLoop::NoteWake() {
  handled_ = true;
  if (woken_) return;
  woken_ = true;
  now_usec_ = MonotonicUsec();
}

void EventLoop::AssertInLoop() const { RINGWAY_CHECK(IsInLoop()); }

void EventLoop::Post(std::function<void()> task) {
  bool first;
  {
    MutexLock lock(mutex_);
    if (ended_) return;
    first = posted_.empty();
    posted_.push_back(std::move(task));
  }
  if (first) {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_fd_.get(), &one, sizeof(one));
  }
}

void EventLoop::PostStop() {
  Post([this] { stop_.store(true, std::memory_order_relaxed); });
}

void EventLoop::OnWake(evutil_socket_t fd, short, void* self) {
  auto* loop = static_cast<EventLoop*>(self);
  loop->NoteWake();
  uint64_t count;
  [[maybe_unused]] const ssize_t got = ::read(fd, &count, sizeof(count));
  loop->RunPosted();
}

void EventLoop::RunPosted() {
  std::vector<std::function<void()>> tasks;
  {
    MutexLock lock(mutex_);
    tasks.swap(posted_);
  }
  for (auto& task : tasks) task();
}

}  // namespace ringway::proxy
