#include "proxy/hotkey/copy_registry.h"

#include <algorithm>
#include <iterator>

namespace ringway::proxy {

void CopyRegistry::Add(uint32_t db, uint32_t shard_id, std::string name, int64_t expires_usec,
                       int64_t now_usec) {
  const MutexLock lock(mutex_);
  if (now_usec >= next_sweep_usec_) ForgetExpired(now_usec);
  Copies& copies = places_[{db, shard_id}];
  if (copies.size() >= kMaxCopies) size_.fetch_sub(ForgetHalf(copies), std::memory_order_relaxed);
  if (copies.insert_or_assign(std::move(name), expires_usec + kKeepUsec).second) {
    size_.fetch_add(1, std::memory_order_relaxed);
  }
}

void CopyRegistry::Remove(uint32_t db, uint32_t shard_id, const std::string& name) {
  const MutexLock lock(mutex_);
  const auto place = places_.find({db, shard_id});
  if (place == places_.end()) return;
  size_.fetch_sub(place->second.erase(name), std::memory_order_relaxed);
  if (place->second.empty()) places_.erase(place);
}

std::vector<std::string> CopyRegistry::Names(uint32_t db, uint32_t shard_id, int64_t now_usec) {
  std::vector<std::string> names;
  if (empty()) return names;
  const MutexLock lock(mutex_);
  if (now_usec >= next_sweep_usec_) ForgetExpired(now_usec);
  const auto place = places_.find({db, shard_id});
  if (place == places_.end()) return names;
  for (const auto& [name, until_usec] : place->second) {
    if (until_usec > now_usec) names.push_back(name);
  }
  return names;
}

// All places: nobody asks any more for those of a shard that has left.
void CopyRegistry::ForgetExpired(int64_t now_usec) {
  for (auto place = places_.begin(); place != places_.end();) {
    const size_t expired =
        std::erase_if(place->second, [&](const auto& copy) { return copy.second <= now_usec; });
    size_.fetch_sub(expired, std::memory_order_relaxed);
    place = place->second.empty() ? places_.erase(place) : std::next(place);
  }
  next_sweep_usec_ = now_usec + kKeepUsec;
}

size_t CopyRegistry::ForgetHalf(Copies& copies) {
  std::vector<int64_t> ends;
  ends.reserve(copies.size());
  for (const auto& copy : copies) ends.push_back(copy.second);
  const auto middle = ends.begin() + static_cast<ptrdiff_t>(ends.size() / 2);
  std::nth_element(ends.begin(), middle, ends.end());
  const size_t half = ends.size() / 2;
  size_t left = half;
  for (auto copy = copies.begin(); copy != copies.end() && left > 0;) {
    const bool early = copy->second <= *middle;
    copy = early ? copies.erase(copy) : std::next(copy);
    if (early) --left;
  }
  return half;
}

}  // namespace ringway::proxy
