#include "proxy/buffer/output_queue.h"

#include <algorithm>
#include <utility>

#include "proxy/check.h"

namespace ringway::proxy {

void OutputQueue::AppendSlow(std::string_view bytes) {
  while (!bytes.empty()) {
    if (room_ == 0) {
      if (closed_room_ == 0) {
        own_block_ = pool_.Take();
        tail_ = own_block_->data();
        closed_room_ = own_block_->capacity;
      }
      room_ = std::exchange(closed_room_, 0);
      slices_.push_back(Slice{own_block_, tail_, 0});
    }
    const size_t count = std::min(bytes.size(), room_);
    __builtin_memcpy(tail_, bytes.data(), count);
    Advance(count);
    bytes.remove_prefix(count);
  }
}

void OutputQueue::AppendReference(Slice slice) {
  if (slice.size == 0) return;
  bytes_ += slice.size;
  slices_.push_back(std::move(slice));
  if (room_ > 0) closed_room_ = std::exchange(room_, 0);
}

size_t OutputQueue::Peek(std::span<iovec> vectors) const {
  const size_t count = std::min(vectors.size(), slices_.size() - front_);
  for (size_t i = 0; i < count; ++i) {
    const Slice& slice = slices_[front_ + i];
    vectors[i] = {const_cast<char*>(slice.data), slice.size};
  }
  return count;
}

void OutputQueue::Consume(size_t bytes) {
  RINGWAY_CHECK(bytes <= bytes_);
  if (bytes == bytes_) {
    Clear();
    return;
  }
  bytes_ -= bytes;
  while (bytes >= slices_[front_].size) {
    bytes -= slices_[front_].size;
    slices_[front_++] = Slice{};
  }
  slices_[front_].data += bytes;
  slices_[front_].size -= bytes;
  // The emptied entries in front are dropped once they are the larger half: constant work for each entry.
  if (front_ > kMaxIdleEntries && front_ * 2 > slices_.size()) {
    slices_.erase(slices_.begin(), slices_.begin() + static_cast<std::ptrdiff_t>(front_));
    front_ = 0;
  }
}

void OutputQueue::Clear() {
  slices_.clear();
  if (slices_.capacity() > kMaxIdleEntries) slices_.shrink_to_fit();
  own_block_.Reset();
  front_ = 0;
  tail_ = nullptr;
  room_ = 0;
  closed_room_ = 0;
  bytes_ = 0;
}

}  // namespace ringway::proxy
