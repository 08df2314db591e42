#include "proxy/control/shard_board.h"

#include <utility>

namespace ringway::proxy {

ShardSight ShardBoard::Get(uint32_t shard_id) const {
  MutexLock lock(mutex_);
  const auto found = sights_.find(shard_id);
  return found == sights_.end() ? ShardSight() : found->second;
}

void ShardBoard::Set(uint32_t shard_id, ShardSight sight) {
  MutexLock lock(mutex_);
  sights_.insert_or_assign(shard_id, std::move(sight));
}

void ShardBoard::Forget(uint32_t shard_id) {
  MutexLock lock(mutex_);
  sights_.erase(shard_id);
}

}  // namespace ringway::proxy
