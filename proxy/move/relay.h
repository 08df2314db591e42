#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proxy/move/move_plan.h"
#include "proxy/move/pull_outcome.h"
#include "proxy/route/request.h"
#include "proxy/shard/shard_pool.h"

namespace ringway::proxy {

// Moves keys through the proxy, where no server may be told to MIGRATE: DUMP and PTTL on the source, RESTORE
// on the target, DEL on the source. Between these steps the key is on both servers, so nothing may touch it:
// each key is moved by one worker alone, whoever asks (WorkerOf), and commands on it wait for the end. A move
// that was cut off half way may be repeated: no command has run at the target, so what the source has is the
// truth. The time to live never grows: what has passed since PTTL was asked for is taken off, and a key that
// has expired meanwhile is not restored. Thread: one worker. Owns: the keys under way and their values.
// Limits: kMaxUnderWay.
class Relay {
 public:
  // Values are in memory meanwhile, so few at a time.
  static constexpr size_t kMaxUnderWay = 32;

  struct Result {
    PullOutcome outcome;
    bool moved = false;    // else there was none, or it failed
    bool refused = false;  // by the target, for reasons of the key's own
    uint64_t bytes = 0;    // of the value as DUMP gives it
  };
  using Done = std::function<void(const Result& result)>;

  // `wake_after`: has Pump called again after so many microseconds.
  Relay(ShardPool& pool, RequestTable& requests, std::function<void(int64_t)> wake_after)
      : pool_(pool), requests_(requests), wake_after_(std::move(wake_after)) {}
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // The index of the worker that moves the key, out of `workers`.
  static size_t WorkerOf(std::string_view key, size_t workers);

  // Only on the key's worker. `done` may come at once.
  void Move(const std::shared_ptr<const MovePlan>& plan, uint32_t pair, uint32_t db, std::string_view key,
            Done done);
  // The worker ends, and others may have ended before it: nobody is told any more, and nothing is begun.
  void Close();
  // At the end of a turn: goes on with what a count of all keys has kept back.
  void Pump() {
    if (!waiting_.empty()) StartNext();
  }

 private:
  enum class Step : uint8_t { kWaiting, kDump, kRestore, kDelete };
  struct Key {
    std::shared_ptr<const MovePlan> plan;
    uint32_t pair;
    uint32_t db;
    std::string key;
    Step step = Step::kWaiting;
    int64_t asked_usec = 0;
    bool refused = false;
    Result result;
    std::vector<Done> done;

    const Shard& source() const { return plan->from()[plan->pairs()[pair].from]; }
    const Shard& target() const { return plan->to()[plan->pairs()[pair].to]; }
  };
  class StepCollector;

  void StartNext();
  void Dump(Key& key);
  void OnReply(Key& key, const Slice& reply);
  void OnDumped(Key& key, const Slice& exec_reply);
  void Restore(Key& key, const Slice& reply, std::string_view payload, int64_t ttl_ms);
  void Delete(Key& key);
  // The connection for the next step, with a request to send on it; null: the key has failed.
  ShardConnection* Begin(Key& key, Step step, const Shard& shard, Request** request);
  void Fail(Key& key, PullOutcome::Kind kind, const std::string& error);
  void End(Key& key);

  ShardPool& pool_;
  RequestTable& requests_;
  const std::function<void(int64_t)> wake_after_;
  std::unordered_map<std::string, std::unique_ptr<Key>> keys_;  // by plan, database and key
  std::deque<Key*> waiting_;
  size_t under_way_ = 0;
  bool starting_ = false;
  bool closed_ = false;
};

}  // namespace ringway::proxy
