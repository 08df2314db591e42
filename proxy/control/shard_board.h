#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "proxy/thread_annotations.h"

namespace ringway::proxy {

// What the control thread last saw of one shard.
struct ShardSight {
  bool seen = false;             // an attempt to reach it has ended, one way or the other
  bool up = false;               // it let us in and answers PING
  std::string problem;           // while down: why, to follow its name and address; holds no secret
  std::string redis_version;     // of its last INFO; empty when it never told
  int64_t last_change_usec = 0;  // of the wall clock: when it went up or down; 0: never yet
  int64_t ping_usec = 0;         // round trip of the last PING
  uint64_t keys = 0;             // in all databases, when it last told, some seconds ago at most while up
};

// The shards as the control thread sees them, for INFO and RING. The requests' own connections find out for
// themselves: nothing on the data path asks here.
// Thread: any. Owns: a sight for each shard id.
class ShardBoard {
 public:
  // Of a shard that was never seen: a sight with seen false.
  ShardSight Get(uint32_t shard_id) const;
  void Set(uint32_t shard_id, ShardSight sight);
  void Forget(uint32_t shard_id);

 private:
  mutable Mutex mutex_;
  std::unordered_map<uint32_t, ShardSight> sights_ GUARDED_BY(mutex_);
};

}  // namespace ringway::proxy
