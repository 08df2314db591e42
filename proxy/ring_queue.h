#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace ringway::proxy {

// A first-in first-out queue in one array that is used round and round: no allocation once it has grown to
// the depth of the traffic. T is trivially copyable. An empty queue beyond kMaxIdle entries gives its memory
// back.
template <typename T>
class RingQueue {
 public:
  static constexpr size_t kMaxIdle = 4096;

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  T& front() { return items_[head_]; }
  // The i-th from the front, i < size().
  T& operator[](size_t i) { return items_[(head_ + i) & (capacity_ - 1)]; }

  void push_back(const T& item) {
    if (size_ == capacity_) Grow();
    items_[(head_ + size_) & (capacity_ - 1)] = item;
    ++size_;
  }
  void pop_front() {
    head_ = (head_ + 1) & (capacity_ - 1);
    if (--size_ == 0 && capacity_ > kMaxIdle) {
      items_.reset();
      capacity_ = head_ = 0;
    }
  }

 private:
  void Grow() {
    const size_t grown_capacity = capacity_ == 0 ? 16 : capacity_ * 2;
    auto grown = std::make_unique<T[]>(grown_capacity);
    for (size_t i = 0; i < size_; ++i) grown[i] = (*this)[i];
    items_ = std::move(grown);
    capacity_ = grown_capacity;
    head_ = 0;
  }

  std::unique_ptr<T[]> items_;
  size_t capacity_ = 0;
  size_t head_ = 0;
  size_t size_ = 0;
};

}  // namespace ringway::proxy
