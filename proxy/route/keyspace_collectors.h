#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/hotkey/copy_registry.h"
#include "proxy/route/gate_queue.h"
#include "proxy/route/request.h"
#include "proxy/route/scan_cursor.h"
#include "proxy/route/shard_sender.h"
#include "proxy/topology.h"

namespace ringway::proxy {

// SCAN: one shard's answer without the copies of hot keys, its cursor made into one over all shards
// (scan_walk.h).
class ScanCollector final : public ReplyCollector {
 public:
  // `topology`: the worker's present one, looked at when the answer is there.
  ScanCollector(WorkerStats& stats, const std::shared_ptr<const Topology>& topology,
                const ScanCursor& position)
      : stats_(stats), topology_(topology), position_(position) {}

  void OnPart(Request& request, uint32_t part, const Slice& reply) override;
  void Finish(Request& request, OutputQueue& out) override;

 private:
  void FinishPage(std::string_view cursor, std::string_view keys, OutputQueue& out) const;

  WorkerStats& stats_;
  const std::shared_ptr<const Topology>& topology_;
  const ScanCursor position_;
  Slice reply_;
};

// What a request holds that asks servers in several steps: the topology that has routed it, which is not
// drained before its end; and its place among the session's requests, which nothing overtakes while keys
// move. Thread: one worker.
class Steps {
 public:
  Steps(std::shared_ptr<const Topology> topology, std::shared_ptr<const void> epoch_token)
      : topology_(std::move(topology)), epoch_token_(std::move(epoch_token)) {}
  void Begin(Request& request);
  void End(Request& request);

  const Topology& topology() const { return *topology_; }
  const std::shared_ptr<const Topology>& shared_topology() const { return topology_; }

 private:
  std::shared_ptr<const Topology> topology_;
  std::shared_ptr<const void> epoch_token_;
};

// RANDOMKEY: asks all servers for their number of keys, then one of them, picked by those numbers, for a key.
// A server that turns out to be empty is left out and another asked; so is one that has given nothing but
// copies of hot keys kMaxTries times. While keys move, a count that finds none
// is made once more: a key that was counted nowhere, having left a server before its turn, is at its target
// by then. Thread: one worker.
class RandomKeyCollector final : public ReplyCollector {
 public:
  // A server whose keys are copies but for one in four gives none but those once in 10^8 times.
  static constexpr int kMaxTries = 64;

  // `random`: a number to pick with.
  RandomKeyCollector(ShardSender& sender, Steps steps, std::vector<uint32_t> shard_ids, uint32_t db,
                     uint64_t random)
      : sender_(sender),
        steps_(std::move(steps)),
        shard_ids_(std::move(shard_ids)),
        recounts_left_(steps_.topology().moving() ? 1 : 0),
        db_(db),
        random_(random) {}

  void Start(Request& request);
  void OnPart(Request& request, uint32_t part, const Slice& reply) override;
  bool OnAllParts(Request& request) override;
  void Finish(Request& request, OutputQueue& out) override;

 private:
  void Count(Request& request);
  void PickOne(Request& request);
  void AskOne(Request& request);

  ShardSender& sender_;
  Steps steps_;
  const std::vector<uint32_t> shard_ids_;
  std::vector<uint64_t> keys_;  // by index into shard_ids_
  size_t awaited_ = 0;
  int recounts_left_;
  const uint32_t db_;
  const uint64_t random_;
  std::optional<uint32_t> asked_;  // an index into shard_ids_
  int tries_left_ = 0;             // of the one that is asked
  Slice error_;
  Slice reply_;
};

// Asks all servers the same, and while keys move, after all have answered, the targets of the move once more:
// a key that had left a server before its turn is at its target by then. Thread: one worker.
class TwoRoundCollector : public GatedCollector {
 public:
  TwoRoundCollector(ShardSender& sender, Steps steps, std::vector<uint32_t> shard_ids, uint32_t db,
                    std::string_view frame);

  void Start(Request& request);
  // FLUSHALL where a move takes several steps for a key: it waits until none is in between, or one of those
  // would come back.
  void StartGated(GateQueue& queue, Request& request);
  void OnGate(Request& request, std::optional<uint64_t> period) override;
  void OnPart(Request& request, uint32_t part, const Slice& reply) override;
  bool OnAllParts(Request& request) override;
  void Finish(Request& request, OutputQueue& out) override;
  void OnAbandoned() override { answers_.clear(); }

  static constexpr int64_t kGatePatienceUsec = 2'000'000;
  // A gate that opened before all servers had answered was of no use: so often it is asked for again.
  static constexpr int kMaxGateTries = 5;

 protected:
  struct Answer {
    uint32_t shard_id;
    bool second_round;
    Slice reply;
  };
  const Topology& topology() const { return steps_.topology(); }
  const std::vector<Answer>& answers() const { return answers_; }
  // All servers have done as they were asked.
  virtual void FinishWell(OutputQueue& out);
  // Whether it goes on without a client.
  virtual bool MustBeCarriedOut() const { return true; }

 private:
  void Ask(Request& request, std::vector<uint32_t> shard_ids);
  // The gate had opened before the first round was over: it is tried again, or given up. True: tried again.
  bool TryAgain(Request& request);
  void FailAtGate(Request& request);

  ShardSender& sender_;
  Steps steps_;
  std::vector<uint32_t> shard_ids_;  // of this round, by part
  const uint32_t db_;
  const std::string frame_;
  bool second_round_ = false;
  GateQueue* queue_ = nullptr;  // if gated
  std::optional<uint64_t> period_;
  int gate_tries_ = 0;
  std::vector<Answer> answers_;
  Slice error_;
};

// KEYS: each key once, though while it moves it may have been seen on both servers, and no copies of hot
// keys.
class KeysCollector final : public TwoRoundCollector {
 public:
  using TwoRoundCollector::TwoRoundCollector;

 private:
  void FinishWell(OutputQueue& out) override;
  bool MustBeCarriedOut() const override { return false; }
};

// DBSIZE while keys move, or copies of hot keys are about: while keys move it counts when none is between two
// servers. If the gate cannot be had in time, since one call takes long, the count may be off by what that
// call moves; and by a copy that is made or expires in that moment. Thread: one worker.
class CountCollector final : public GatedCollector {
 public:
  static constexpr int64_t kPatienceUsec = 300'000;
  static constexpr int kMaxTries = 5;

  // `copies`: those not to be counted; may be null.
  CountCollector(ShardSender& sender, Steps steps, std::vector<uint32_t> shard_ids, uint32_t db,
                 CopyRegistry* copies)
      : sender_(sender),
        steps_(std::move(steps)),
        shard_ids_(std::move(shard_ids)),
        db_(db),
        copies_(copies) {}

  void Start(GateQueue& queue, Request& request);
  void OnGate(Request& request, std::optional<uint64_t> period) override;
  void OnPart(Request& request, uint32_t part, const Slice& reply) override;
  bool OnAllParts(Request& request) override;
  void Finish(Request& request, OutputQueue& out) override;

 private:
  void Wait(Request& request);
  void Ask(Request& request);

  ShardSender& sender_;
  Steps steps_;
  // Part i is the number of keys on the shard i, and part i + size() that of copies among them.
  const std::vector<uint32_t> shard_ids_;
  const uint32_t db_;
  CopyRegistry* const copies_;
  GateQueue* queue_ = nullptr;
  std::optional<uint64_t> period_;
  int tries_ = 0;
  int64_t keys_ = 0;
  Slice error_;
};

}  // namespace ringway::proxy
