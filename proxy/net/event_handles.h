#pragma once

#include <event2/event.h>
#include <event2/event_struct.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace ringway::proxy {

// A file descriptor that is closed with its owner.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) Reset(other.Release());
    return *this;
  }
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

// libevent's event, embedded in its owner (no allocation) and removed with it.
// Thread: the loop of the base it was assigned to.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { Remove(); }

  void Assign(event_base* base, int fd, short what, event_callback_fn callback, void* argument) {
    Remove();
    event_assign(&event_, base, fd, what, callback, argument);
    assigned_ = true;
  }
  bool assigned() const { return assigned_; }
  void Add() {
    if (!added_) event_add(&event_, nullptr);
    added_ = true;
  }
  // Fires after `usec` microseconds; adding again moves it.
  void AddTimeout(int64_t usec) {
    const timeval delay{static_cast<time_t>(usec / 1'000'000), static_cast<suseconds_t>(usec % 1'000'000)};
    event_add(&event_, &delay);
    added_ = true;
  }
  void Remove() {
    if (added_) event_del(&event_);
    added_ = false;
  }
  // To be called from the callback of an event without EV_PERSIST: libevent has removed it.
  void NoteFired() { added_ = false; }
  bool added() const { return added_; }

 private:
  event event_{};
  bool assigned_ = false;
  bool added_ = false;
};

struct EventBaseDeleter {
  void operator()(event_base* base) const { event_base_free(base); }
};
using EventBasePtr = std::unique_ptr<event_base, EventBaseDeleter>;

}  // namespace ringway::proxy
