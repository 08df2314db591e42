#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/route/request.h"
#include "proxy/route/shard_sender.h"
#include "proxy/topology.h"

namespace ringway::proxy {

// SCAN: one shard's answer, its cursor made into one over all shards (scan_cursor.h).
class ScanCollector final : public ReplyCollector {
 public:
  // `next_shard_id`: the shard to go on with when `shard_id` is done; none: it is the last.
  ScanCollector(WorkerStats& stats, uint32_t shard_id, std::optional<uint32_t> next_shard_id)
      : stats_(stats), shard_id_(shard_id), next_shard_id_(next_shard_id) {}

  void OnPart(Request& request, uint32_t part, const Slice& reply) override;
  void Finish(Request& request, OutputQueue& out) override;

 private:
  WorkerStats& stats_;
  uint32_t shard_id_;
  std::optional<uint32_t> next_shard_id_;
  Slice reply_;
};

// RANDOMKEY: asks all shards for their number of keys, then one of them, picked by those numbers, for a key.
// A shard that turns out to be empty is left out and another asked.
class RandomKeyCollector final : public ReplyCollector {
 public:
  // `random`: a number to pick with. The caller sends DBSIZE to every shard, part i to the i-th of
  // `shard_ids`.
  RandomKeyCollector(ShardSender& sender, std::vector<uint32_t> shard_ids, uint32_t db, uint64_t random)
      : sender_(sender),
        shard_ids_(std::move(shard_ids)),
        keys_(shard_ids_.size(), 0),
        awaited_(shard_ids_.size()),
        db_(db),
        random_(random) {}

  void OnPart(Request& request, uint32_t part, const Slice& reply) override;
  void Finish(Request& request, OutputQueue& out) override;

 private:
  void AskOne(Request& request);

  ShardSender& sender_;
  std::vector<uint32_t> shard_ids_;
  std::vector<uint64_t> keys_;
  size_t awaited_;
  uint32_t db_;
  uint64_t random_;
  std::optional<uint32_t> asked_;  // an index into shard_ids_
  Slice error_;
  Slice reply_;
};

}  // namespace ringway::proxy
