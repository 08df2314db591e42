#pragma once

#include <cstddef>
#include <vector>

namespace ringway::proxy {

// A socket's output that waits for the end of the turn.
class Flushable {
 public:
  virtual ~Flushable() = default;
  virtual void Flush() = 0;

 private:
  friend class FlushQueue;
  bool queued_ = false;
};

// What became dirty in this turn; each is written once, however often it was added.
// Thread: one worker.
class FlushQueue {
 public:
  void Add(Flushable* item) {
    if (item->queued_) return;
    item->queued_ = true;
    items_.push_back(item);
  }
  // For one that dies before the turn ends.
  void Remove(Flushable* item) {
    if (!item->queued_) return;
    item->queued_ = false;
    for (Flushable*& entry : items_) {
      if (entry == item) entry = nullptr;
    }
  }
  bool empty() const { return items_.empty(); }
  // Flushes all, those included that are added meanwhile. Answers how many were flushed.
  size_t FlushAll() {
    for (size_t i = 0; i < items_.size(); ++i) {
      Flushable* item = items_[i];
      if (item == nullptr) continue;
      item->queued_ = false;
      item->Flush();
    }
    const size_t count = items_.size();
    items_.clear();
    return count;
  }

 private:
  std::vector<Flushable*> items_;
};

}  // namespace ringway::proxy
