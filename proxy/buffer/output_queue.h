#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <sys/uio.h>

#include "proxy/buffer/block.h"

namespace ringway::proxy {

// Bytes waiting for one socket, in order. Small pieces are gathered in blocks of the queue's own, large ones
// are passed on by reference. An empty queue holds no memory.
// Thread: one worker. Owns: references to blocks.
class OutputQueue {
 public:
  // Up to here a copy is cheaper than an entry of its own in writev(2).
  static constexpr size_t kMaxCopiedBytes = 8 * 1024;
  // Entries kept by an empty queue; a queue that once was long gives the rest back.
  static constexpr size_t kMaxIdleEntries = 16;

  explicit OutputQueue(BlockPool& pool) : pool_(pool) {}

  // Copies.
  void Append(std::string_view bytes) {
    // Nothing wraps round and takes the other way: an empty queue has no slice that could grow.
    if (bytes.size() - 1 < room_) [[likely]] {
      __builtin_memcpy(tail_, bytes.data(), bytes.size());
      Advance(bytes.size());
      return;
    }
    AppendSlow(bytes);
  }
  // Copies small slices, refers to large ones.
  void Append(const Slice& slice) {
    if (slice.size <= kMaxCopiedBytes) {
      Append(slice.view());
    } else {
      AppendReference(slice);
    }
  }
  // The same for bytes that lie in `block`, if it is given.
  void Append(std::string_view bytes, const BlockRef* block) {
    if (bytes.size() <= kMaxCopiedBytes || block == nullptr) {
      Append(bytes);
    } else {
      AppendReference(Slice{*block, bytes.data(), bytes.size()});
    }
  }
  void AppendReference(Slice slice);

  bool empty() const { return bytes_ == 0; }
  // Bytes not yet taken by Consume.
  size_t size() const { return bytes_; }

  // Fills `vectors` from the front; answers how many were filled.
  size_t Peek(std::span<iovec> vectors) const;
  // Drops `bytes` (at most size()) from the front.
  void Consume(size_t bytes);
  void Clear();

 private:
  void Advance(size_t bytes) {
    tail_ += bytes;
    room_ -= bytes;
    slices_.back().size += bytes;
    bytes_ += bytes;
  }
  void AppendSlow(std::string_view bytes);

  BlockPool& pool_;
  // A vector with a moving front, not a deque: an empty deque costs each client half a kilobyte.
  std::vector<Slice> slices_;
  size_t front_ = 0;
  // The queue's own block: the last slice may grow by room_ bytes at tail_. A slice passed on by reference
  // closes it; closed_room_ then says what is left of the block for the next small piece.
  BlockRef own_block_;
  char* tail_ = nullptr;
  size_t room_ = 0;
  size_t closed_room_ = 0;
  size_t bytes_ = 0;
};

}  // namespace ringway::proxy
