#pragma once

// Memory that bytes pass through. A Block is received into once and then referred to, so that a large value
// is never copied: client socket -> block -> shard socket. Small pieces are copied, which is cheaper than
// a reference and an entry of its own in writev.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace ringway::proxy {

class BlockPool;

// Bytes with a count of references.
// Thread: belongs to one worker; the count is not atomic.
struct Block {
  BlockPool* pool;
  size_t capacity;
  uint32_t references;

  char* data() { return reinterpret_cast<char*>(this + 1); }
  const char* data() const { return reinterpret_cast<const char*>(this + 1); }
};

// Shared ownership of a Block.
class BlockRef {
 public:
  BlockRef() = default;
  // Takes over a reference that is already counted.
  explicit BlockRef(Block* block) : block_(block) {}
  BlockRef(const BlockRef& other) : block_(other.block_) {
    if (block_ != nullptr) ++block_->references;
  }
  BlockRef(BlockRef&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  BlockRef& operator=(BlockRef other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~BlockRef() { Reset(); }

  void Reset();
  Block* get() const { return block_; }
  Block* operator->() const { return block_; }
  explicit operator bool() const { return block_ != nullptr; }
  // No other reference: its bytes may be overwritten.
  bool IsSole() const { return block_->references == 1; }

 private:
  Block* block_ = nullptr;
};

// Hands out blocks. Those of kBlockBytes are kept and used again, so steady traffic allocates nothing;
// others go back to the allocator at once, so that a burst of large values does not stay in memory.
// Thread: one worker. Owns: its free blocks; it must outlive every block it gave out.
// Limits: kMaxFreeBlocks kept.
class BlockPool {
 public:
  // Large enough that a full pipeline is one read(2), small enough for fifty of them to stay in cache.
  static constexpr size_t kBlockBytes = 64 * 1024;
  // 16 MiB of free blocks for each worker at the most.
  static constexpr size_t kMaxFreeBlocks = 256;

  BlockPool() = default;
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool();

  // A block of at least `capacity` bytes, uninitialised.
  BlockRef Take(size_t capacity = kBlockBytes);

  // Gives back what has not been needed since the last call; a burst's blocks go within two calls.
  void Trim();

  // Bytes in blocks that are referred to by anyone.
  size_t bytes_in_use() const { return bytes_in_use_; }

 private:
  friend class BlockRef;
  void Release(Block* block);

  std::vector<Block*> free_;
  size_t least_free_ = 0;  // since the last Trim: so many were not needed
  size_t bytes_in_use_ = 0;
};

inline void BlockRef::Reset() {
  if (block_ == nullptr) return;
  if (--block_->references == 0) block_->pool->Release(block_);
  block_ = nullptr;
}

// Some bytes of a block.
struct Slice {
  BlockRef block;
  const char* data = nullptr;
  size_t size = 0;

  std::string_view view() const { return {data, size}; }
};

}  // namespace ringway::proxy
