#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "proxy/thread_annotations.h"

namespace ringway::proxy {

// The scripts that clients have shown, by their SHA-1 in lower-case hex, so that EVALSHA works on every
// shard: on one that has never seen the script, that has restarted, or that was added later.
// Thread: any.
// Limits: kMaxBytes of text; the least recently used leave first, and EVALSHA then answers NOSCRIPT,
// as Redis may.
class ScriptCache {
 public:
  static constexpr size_t kMaxBytes = 64 * 1024 * 1024;

  void Remember(std::string_view body);
  // `sha` in any case.
  std::optional<std::string> Find(std::string_view sha);
  std::vector<std::string> All();
  void Clear();
  // Raised when scripts leave, for those who remember what they have shown to the cache.
  uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }

 private:
  struct Script {
    std::string sha;
    std::string body;
  };

  void RaiseGeneration() { generation_.fetch_add(1, std::memory_order_relaxed); }

  std::atomic<uint64_t> generation_{0};
  Mutex mutex_;
  std::list<Script> scripts_ GUARDED_BY(mutex_);  // the most recently used first
  std::unordered_map<std::string_view, std::list<Script>::iterator> by_sha_ GUARDED_BY(mutex_);
  size_t bytes_ GUARDED_BY(mutex_) = 0;
};

// SHA-1 (FIPS 180-4) in lower-case hex, Redis's name for a script.
std::string ScriptSha(std::string_view body);

}  // namespace ringway::proxy
