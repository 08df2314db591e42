#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "proxy/route/request.h"
#include "proxy/route/shard_sender.h"
#include "proxy/topology.h"

namespace ringway::proxy {

// SCAN: one shard's answer, its cursor made into one over all shards (scan_cursor.h).
class ScanCollector final : public ReplyCollector {
 public:
  // `next_shard_id`: the shard to go on with when `shard_id` is done; none: it is the last.
  ScanCollector(uint32_t shard_id, std::optional<uint32_t> next_shard_id)
      : shard_id_(shard_id), next_shard_id_(next_shard_id) {}

  void OnPart(Request& request, uint32_t part, const Slice& reply) override;
  void Finish(Request& request, OutputQueue& out) override;

 private:
  uint32_t shard_id_;
  std::optional<uint32_t> next_shard_id_;
  Slice reply_;
};

// RANDOMKEY: asks all shards for their number of keys, then one of them, picked by those numbers, for a key. A
// shard that turns out to be empty is left out and another asked.
class RandomKeyCollector final : public ReplyCollector {
 public:
  // `random`: a number to pick with. The caller sends DBSIZE to every shard, part i to shard i.
  RandomKeyCollector(ShardSender& sender, size_t shards, uint32_t db, uint64_t random)
      : sender_(sender), keys_(shards, 0), awaited_(shards), db_(db), random_(random) {}

  void OnPart(Request& request, uint32_t part, const Slice& reply) override;
  void Finish(Request& request, OutputQueue& out) override;

 private:
  void AskOne(Request& request);

  ShardSender& sender_;
  std::vector<uint64_t> keys_;
  size_t awaited_;
  uint32_t db_;
  uint64_t random_;
  std::optional<uint32_t> asked_;
  Slice error_;
  Slice reply_;
};

}  // namespace ringway::proxy
