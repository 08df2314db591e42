#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proxy/thread_annotations.h"

namespace ringway::proxy {

// The copies of hot keys that this proxy has put on shards and that may still be there, so that DBSIZE can
// leave them out. Copies of other proxies are not known here.
// Thread: any. Owns: their names. Limits: kMaxCopies for each shard and database; beyond that those that
// expire first are forgotten, and counted by DBSIZE.
class CopyRegistry {
 public:
  static constexpr size_t kMaxCopies = 4096;
  // A server may need a moment to remove what has expired, and so may a copy on its way to it.
  static constexpr int64_t kKeepUsec = 1'000'000;

  // Before the copy is sent. Times of the monotonic clock.
  void Add(uint32_t db, uint32_t shard_id, std::string name, int64_t expires_usec, int64_t now_usec);
  // It has been removed before its time.
  void Remove(uint32_t db, uint32_t shard_id, const std::string& name);

  // For those who ask: whether there is nothing to leave out.
  bool empty() const { return size_.load(std::memory_order_relaxed) == 0; }
  std::vector<std::string> Names(uint32_t db, uint32_t shard_id, int64_t now_usec);

 private:
  using Place = std::pair<uint32_t, uint32_t>;  // database, shard
  using Copies = std::unordered_map<std::string, int64_t>;

  void ForgetExpired(int64_t now_usec) REQUIRES(mutex_);
  // Those that expire first; answers how many.
  static size_t ForgetHalf(Copies& copies);

  Mutex mutex_;
  std::map<Place, Copies> places_ GUARDED_BY(mutex_);
  int64_t next_sweep_usec_ GUARDED_BY(mutex_) = 0;
  std::atomic<size_t> size_{0};  // of all places
};

}  // namespace ringway::proxy
