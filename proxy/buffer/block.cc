#include "proxy/buffer/block.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "proxy/check.h"

namespace ringway::proxy {

BlockPool::~BlockPool() {
  for (Block* block : free_) std::free(block);
}

BlockRef BlockPool::Take(size_t capacity) {
  Block* block = nullptr;
  if (capacity == kBlockBytes && !free_.empty()) {
    block = free_.back();
    free_.pop_back();
    least_free_ = std::min(least_free_, free_.size());
  } else {
    void* memory = std::malloc(sizeof(Block) + capacity);
    if (memory == nullptr) throw std::bad_alloc();
    block = new (memory) Block{this, capacity, 0};
  }
  block->references = 1;
  bytes_in_use_ += block->capacity;
  return BlockRef(block);
}

void BlockPool::Trim() {
  // Those at the front were used longest ago.
  const auto unneeded = free_.begin() + static_cast<std::ptrdiff_t>(least_free_);
  for (auto block = free_.begin(); block != unneeded; ++block) std::free(*block);
  free_.erase(free_.begin(), unneeded);
  least_free_ = free_.size();
}

void BlockPool::Release(Block* block) {
  bytes_in_use_ -= block->capacity;
  if (block->capacity == kBlockBytes && free_.size() < kMaxFreeBlocks) {
    free_.push_back(block);
    return;
  }
  std::free(block);
}

}  // namespace ringway::proxy
