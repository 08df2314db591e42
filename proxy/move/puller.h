#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "proxy/move/migrate_frame.h"
#include "proxy/move/pull_outcome.h"
#include "proxy/move/pulled_keys.h"
#include "proxy/move/relay.h"
#include "proxy/route/request.h"
#include "proxy/shard/shard_pool.h"
#include "proxy/topology.h"

namespace ringway::proxy {

// Waits for a key, as long as its request lives.
class PullWaiter {
 public:
  virtual void OnKeyPulled(Request& request, const PullOutcome& outcome) = 0;

 protected:
  ~PullWaiter() = default;
};

// Has a key moved by the worker that it belongs to (Relay), of whatever thread; `done` comes on the caller's.
using RelayFunction = std::function<void(const std::shared_ptr<const MovePlan>& plan, uint32_t pair,
                                         uint32_t db, const std::string& key, Relay::Done done)>;

// Brings moving keys to their new owner before their first command there: MIGRATE on the source, in batches,
// or through the relay if the plan says so.
// Of one pair of servers and one database one batch at a time is under way, and what is asked for meanwhile
// makes the next one, so a source is not blocked for longer than one batch takes, however slow the target is.
// Those who wait for one key are told in the order in which they asked. A target that did not answer the
// source is left alone for a while, and until it has answered a PING: each further try would block the source
// for the whole timeout. Thread: one worker. Owns: the queues, the memory of what has been pulled. Limits:
// kMaxBatchKeys, the connection's limit on requests in flight for all queues together.
class Puller {
 public:
  // A batch of small keys takes the source about a millisecond.
  static constexpr size_t kMaxBatchKeys = 64;
  // How long MIGRATE lets the source wait for the target; less when requests time out sooner.
  static constexpr int64_t kMigrateTimeoutMs = 1000;
  // For what a large key's batch needs beyond that: a target restores at least so much in a millisecond.
  static constexpr uint64_t kBytesPerMs = 10 * 1024;
  static constexpr uint64_t kLargeBytes = 4 * 1024 * 1024;
  static constexpr int64_t kFirstRestUsec = 250'000;
  static constexpr int64_t kMaxRestUsec = 2'000'000;

  // `wake_after`: has Pump called again after so many microseconds.
  Puller(ShardPool& pool, RequestTable& requests, const ShardEnvironment& environment,
         std::function<void(int64_t)> wake_after, RelayFunction relay);
  ~Puller();
  Puller(const Puller&) = delete;
  Puller& operator=(const Puller&) = delete;

  // Forgets what was pulled under another plan. What is under way goes on.
  void Adopt(const Topology& topology);

  // Whether the key, which moves, is known to have left its source.
  bool Has(uint32_t db, std::string_view key) { return pulled_.Has(db, key); }
  // Pulls a key with this hash. The waiter is told later, never from within this call.
  void Pull(const std::shared_ptr<const MovePlan>& plan, uint64_t hash, uint32_t db, std::string_view key,
            Request& request, PullWaiter& waiter);

  bool HasRoom() const { return waiting_ < environment_.settings.in_flight; }
  // Wakes the client when there is room again.
  void WaitForRoom(uint64_t client_id) { clients_.push_back(client_id); }
  // Nobody waits for a key.
  bool idle() const { return waiting_ == 0; }

  // At the end of a turn: starts batches of what was asked for in it.
  void Pump();

 private:
  class BatchCollector;
  class ProbeCollector;
  struct Waiting {
    Request* request;
    PullWaiter* waiter;
  };
  struct Entry {
    std::string key;
    std::vector<Waiting> waiting;
    bool alone = false;      // its batch failed: the next one has this key alone
    int64_t timeout_ms = 0;  // 0: the usual one
  };
  using EntryPtr = std::unique_ptr<Entry>;
  // Keys of one pair of servers and one database.
  struct Lane {
    std::shared_ptr<const MovePlan> plan;
    uint32_t pair;
    uint32_t db;
    // Queued and under way, by their own text.
    std::unordered_map<std::string_view, Entry*> by_key;
    std::deque<EntryPtr> queue;
    std::vector<EntryPtr> batch;
    bool under_way = false;
    bool listed = false;  // stands in ready_

    const Shard& source() const { return plan->from()[plan->pairs()[pair].from]; }
    const Shard& target() const { return plan->to()[plan->pairs()[pair].to]; }
    MoveFigures::Pair& figures() const { return plan->figures().pairs[pair]; }
  };
  // A target that did not take part in its last MIGRATE.
  struct Rest {
    int64_t until_usec = 0;
    int64_t length_usec = 0;
    bool asked = false;     // a PING is under way
    bool answered = false;  // the last PING was answered
    std::string why;
  };

  Lane& LaneOf(const std::shared_ptr<const MovePlan>& plan, uint32_t pair, uint32_t db);
  void List(Lane& lane);
  // False: not now; Pump is called again.
  bool StartBatch(Lane& lane);
  void TakeBatch(Lane& lane);
  void SendBatch(Lane& lane, ShardConnection& source);
  void OnBatch(Lane& lane, std::string_view reply);
  void StartRelays(Lane& lane);
  void OnRelayed(Lane& lane, const std::string& key, const Relay::Result& result);
  bool TryAgainApart(Lane& lane, std::vector<EntryPtr>& batch, const MigrateBatchResult& result);
  void FailQueue(Lane& lane, const PullOutcome& outcome);
  // Tells those who wait, when the lane is in order again: they may ask for more.
  void Finish(std::vector<EntryPtr> entries, const PullOutcome& outcome);
  PullOutcome OutcomeOf(const Lane& lane, const MigrateBatchResult& result) const;
  // Why the target is not to be tried now; empty: it may be.
  std::string WhyTargetRests(const Lane& lane);
  void NoteFailure(const Lane& lane, const std::string& why);
  void Probe(uint32_t target_id, Rest& rest);
  void OnProbe(uint32_t target_id, bool answered);
  int64_t MigrateTimeoutMs() const;
  void WakeClients();

  ShardPool& pool_;
  RequestTable& requests_;
  const ShardEnvironment& environment_;
  const std::function<void(int64_t)> wake_after_;
  const RelayFunction relay_;
  const MovePlan* plan_ = nullptr;  // what pulled_ belongs to; never followed
  PulledKeys pulled_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Lane*> ready_;
  std::unordered_map<uint32_t, Rest> rests_;  // by the target's id
  size_t waiting_ = 0;
  std::vector<uint64_t> clients_;
  std::string frames_;
};

}  // namespace ringway::proxy
