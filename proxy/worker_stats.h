#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/command_table.h"
#include "proxy/latency_histogram.h"
#include "proxy/thread_annotations.h"

namespace ringway::proxy {

// The name that figures of a command go by: "get", "client|list", "ring"; "other" for commands that the table
// does not know. By its row's id.
std::string_view NameOfCommand(size_t command_id);

struct CommandStats {
  Counter calls;
  Counter usec;
  Counter rejected;  // refused before anything was sent: arity, permission, CROSSSLOT
  Counter failed;    // answered with an error
  LatencyHistogram latency;
};

struct ShardStats {
  Counter requests;
  Counter errors;     // error replies of the shard, and requests it did not answer
  Counter in_flight;  // a gauge
  Counter bytes_in;
  Counter bytes_out;
  Counter reconnects;
  LatencyHistogram latency;
};

// Figures made on first use at a small index and kept for good; reading from any thread is safe.
template <typename T, size_t kSize>
class LazyArray {
 public:
  ~LazyArray() {
    for (auto& slot : slots_) delete slot.load(std::memory_order_relaxed);
  }
  // The writer's side.
  T& At(size_t index) {
    T* item = slots_[index].load(std::memory_order_relaxed);
    if (item == nullptr) [[unlikely]] {
      item = new T();
      slots_[index].store(item, std::memory_order_release);
    }
    return *item;
  }
  // The readers' side; null if never used.
  const T* Peek(size_t index) const { return slots_[index].load(std::memory_order_acquire); }
  T* Peek(size_t index) { return slots_[index].load(std::memory_order_acquire); }

 private:
  std::array<std::atomic<T*>, kSize> slots_{};
};

// What one worker has done. Written by that worker, read by any thread.
struct WorkerStats {
  // Ids of shards are given out once and never again: more than anyone will add in the life of a process.
  static constexpr size_t kMaxShardIds = 16 * 1024;
  // Beside those of the table: commands that it does not know, and RING.
  static constexpr uint16_t kOtherId = protocol::kCommandCount;
  static constexpr uint16_t kRingId = protocol::kCommandCount + 1;
  static constexpr size_t kCommandIds = protocol::kCommandCount + 2;
  // Kinds of errors told apart; Redis gives up at 128 as well.
  static constexpr size_t kMaxErrorKinds = 128;

  Counter clients;
  Counter connections_accepted;
  Counter connections_rejected;
  Counter commands;
  Counter turns;            // turns of the loop: batches
  Counter shard_writes;     // write(2)s to shards
  Counter client_writes;    // write(2)s to clients
  Counter bytes_in;         // from clients
  Counter bytes_out;        // to clients
  Counter block_bytes;      // a gauge: blocks in use
  Counter blocked_clients;  // a gauge
  Counter input_overflows;
  Counter output_overflows;
  Counter bucket_reads;          // reads of hot keys that a bucket has answered
  Counter bucket_fills;          // copies put into buckets
  Counter bucket_invalidations;  // writes of hot keys, each of which ends the use of its copies
  LazyArray<CommandStats, kCommandIds> by_command;
  LazyArray<ShardStats, kMaxShardIds> by_shard;

  // Counts an error reply by its first word ("ERR", "WRONGTYPE").
  void NoteError(std::string_view reply);
  std::map<std::string, uint64_t> Errors() const;
  // CONFIG RESETSTAT; figures written at that moment may survive it.
  void Reset();

 private:
  mutable Mutex errors_mutex_;
  std::map<std::string, uint64_t, std::less<>> errors_ GUARDED_BY(errors_mutex_);
};

}  // namespace ringway::proxy
