#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "proxy/net/event_handles.h"
#include "proxy/thread_annotations.h"

namespace ringway::proxy {

// One libevent loop and the thread that runs it. libevent 2.1 has no hook after an iteration, so Run() turns
// the loop by hand and calls `after_turn` between turns: all ready sockets are handled first, then everything
// they made dirty is flushed once.
//
// A capability for clang's thread safety analysis: what belongs to the loop is GUARDED_BY(loop), and an entry
// point begins with AssertInLoop().
// Thread: Post and PostStop from any; everything else from the loop's own.
class CAPABILITY("event loop") EventLoop {
 public:
  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Turns until PostStop. The calling thread becomes the loop's thread.
  void Run(const std::function<void()>& after_turn);

  // Runs `task` on the loop in its next turn. The only door for other threads. Once Run has ended, `task` is
  // destroyed without having run.
  void Post(std::function<void()> task);
  void PostStop();

  void AssertInLoop() const ASSERT_CAPABILITY(this);
  bool IsInLoop() const { return std::this_thread::get_id() == thread_.load(std::memory_order_relaxed); }

  // Monotonic time in microseconds, taken once for each turn when its sockets became ready.
  int64_t now_usec() const { return now_usec_; }
  const int64_t& now_reference() const { return now_usec_; }
  // For the first call of each callback in a turn; costs nothing after that.
  void NoteWake();

  event_base* base() const { return base_.get(); }

 private:
  // Times that a turn looks for further ready sockets before it is flushed.
  static constexpr int kMaxFurtherLooks = 4;

  static void OnWake(evutil_socket_t fd, short what, void* self);
  void RunPosted();
  void GatherMore();

  EventBasePtr base_;
  UniqueFd wake_fd_;
  Event wake_event_;
  std::atomic<std::thread::id> thread_{};
  std::atomic<bool> stop_{false};
  bool woken_ = false;
  bool handled_ = false;  // a callback has run since it was last cleared
  int64_t now_usec_ = 0;

  Mutex mutex_;
  std::vector<std::function<void()>> posted_ GUARDED_BY(mutex_);
  bool ended_ GUARDED_BY(mutex_) = false;
};

}  // namespace ringway::proxy
