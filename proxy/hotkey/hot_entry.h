#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/hotkey/hot_key.h"
#include "proxy/move/puller.h"
#include "proxy/route/request.h"

namespace ringway::proxy {

// What one worker knows of a hot key beyond what all know together. Thread: one worker.
struct HotEntry {
  static constexpr uint32_t kNoShard = UINT32_MAX;
  // So many reads after one whose answer was hollow ask for the copy's presence at once.
  static constexpr uint32_t kEscorts = 32;

  struct Bucket {
    uint32_t shard = kNoShard;  // its index in the worker's topology; kNoShard: it has left
    uint64_t named = 0;         // the copy whose name this is
    std::string name_argument;  // as an argument of a request
  };

  std::shared_ptr<HotPlacement> placement;
  uint32_t home = 0;            // of the key itself, an index in the worker's topology
  std::vector<Bucket> buckets;  // bucket 1 and up
  uint64_t generation = 0;      // that this worker saw last
  uint64_t reads = 0;           // in that generation
  uint32_t escorts = 0;         // left
  uint64_t bucket_reads = 0;    // not yet added to the placement's
  uint32_t in_flight = 0;       // reads of buckets
  bool left = false;            // is not hot any more

  const HotKey& key() const { return *placement->key; }
};

// Knows where keys are, and whether they can be asked for just now.
class HotKeyHome {
 public:
  // Tells `waiter`, from within or later, when the key itself may be asked. `request` lives until then.
  virtual void AwaitKey(Request& request, PullWaiter& waiter, uint32_t db, std::string_view key,
                        uint64_t hash) = 0;
  // The same without waiting.
  virtual bool IsKeyThere(uint32_t db, std::string_view key, uint64_t hash) = 0;
  // Whether requests on the key wait until it is known where its keys go; Generation() of Topology tells when
  // keys have changed their places.
  virtual bool IsHeld(uint64_t hash) const = 0;
  virtual uint64_t Generation() const = 0;
  // The owner's id.
  virtual uint32_t OwnerOf(uint64_t hash) const = 0;
  // Ids of all servers that requests on the key may have been sent to under the present topology.
  virtual std::vector<uint32_t> ServersOf(std::string_view key) const = 0;
  // What Drain::Begin wants; requests that come from now on hold another token.
  virtual std::shared_ptr<const void> RenewEpochToken() = 0;

 protected:
  ~HotKeyHome() = default;
};

}  // namespace ringway::proxy
