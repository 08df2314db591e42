#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "protocol/command_keys.h"
#include "protocol/command_table.h"
#include "protocol/learned_commands.h"
#include "proxy/blocking/blocked_request.h"
#include "proxy/client/client_session.h"
#include "proxy/client/errand.h"
#include "proxy/hotkey/copy_registry.h"
#include "proxy/hotkey/hot_keys.h"
#include "proxy/hotkey/key_sampler.h"
#include "proxy/move/pull_collector.h"
#include "proxy/move/puller.h"
#include "proxy/move/sort_collector.h"
#include "proxy/route/gate_queue.h"
#include "proxy/route/script_cache.h"
#include "proxy/route/script_collectors.h"
#include "proxy/route/shard_sender.h"
#include "proxy/route/split_collector.h"
#include "proxy/topology.h"

namespace ringway::proxy {

// Answers commands of RequestPolicy::kLocal.
class LocalHandler {
 public:
  virtual RequestHandler::Outcome Run(ClientSession& session, const protocol::CommandRow& row,
                                      const protocol::RequestView& request) = 0;
  // The row of a command or subcommand that the table does not have; null if it is none of the proxy's
  // either.
  virtual const protocol::CommandRow* FindOwn(const protocol::RequestView& request) const = 0;

 protected:
  ~LocalHandler() = default;
};

// CLIENT PAUSE.
struct Pause {
  enum class Mode : uint8_t { kNone, kWrites, kAll };
  Mode mode = Mode::kNone;
  int64_t until_usec = 0;  // of the monotonic clock
};

// Decides where each request goes: finds its command and keys, asks the ring, and sends it on, in parts where
// its keys live on several shards. Thread: one worker. Owns: scratch space.
class Router final : public RequestHandler,
                     public AskKeysCollector::KeyRouter,
                     public CommandContinuation,
                     public SortCollector::Router,
                     private HotKeyHome,
                     private BlockedHome {
 public:
  Router(ShardPool& pool, RequestTable& requests, ScriptCache& scripts, LocalHandler& local, Puller& puller);
  ~Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  Outcome Handle(ClientSession& session, const protocol::RequestView& request,
                 const BlockRef* block) override;

  // --- for commands that the proxy answers with the help of its shards ---
  // Sends `frame` to every shard, as part i to shard i of the topology. Takes over `collector`.
  Outcome SendToAll(ClientSession& session, const protocol::CommandRow& row, std::string_view frame,
                    const BlockRef* block, CollectorPtr collector) {
    return SendToFirst(pool_.shards(), session, row, frame, block, std::move(collector));
  }
  // Sends `frame` to one shard that serves.
  Outcome SendToAny(ClientSession& session, const protocol::CommandRow& row, std::string_view frame,
                    const BlockRef* block);
  CollectorPtr NewSplitCollector(protocol::ResponsePolicy policy, size_t parts) {
    return CollectorPtr(collectors_.Take(policy, parts));
  }
  // The row of a request, subcommands and learnt commands included; null if nobody knows it.
  const protocol::CommandRow* FindRow(const protocol::RequestView& request) const;

  std::string SendByKeys(Request& request, AskedCommand command,
                         const std::vector<std::string_view>& keys) override;
  void Continue(Request& request, const WaitingCommand& command) override;
  void ContinueSort(Request& request, WaitingCommand command, const std::vector<std::string>& keys) override;

  void Adopt(std::shared_ptr<const Topology> topology);
  // From the very next request on writes of these keys are counted.
  void Adopt(const std::shared_ptr<const HotSet>& set);
  void Adopt(std::shared_ptr<const protocol::LearnedCommands> learned) { learned_ = std::move(learned); }
  // Which DBSIZE leaves out; they outlive the router.
  void set_copies(CopyRegistry* copies) { copies_ = copies; }
  void set_same_shard_is_enough(bool enough) { same_shard_is_enough_ = enough; }
  void set_pause(const Pause& pause) { pause_ = pause; }
  // When the pool follows the router's topology.
  void ResumeParked();
  // For what is executed without a client; before the first request.
  void set_sessions(SessionEnvironment* sessions) { sessions_ = sessions; }
  // Commands that wait at servers from which their keys move have been ended there.
  bool BlockedAreReleased() const;
  // About ten times a second.
  void TickBlocked();
  size_t blocked_clients() const { return blocked_.size() + waiting_; }
  // CLIENT UNBLOCK; `error`: else as after the timeout. False: the client is not blocked.
  bool Unblock(const ClientSession& session, bool error);
  // Errands, before the pool closes.
  void Close() { errands_.clear(); }
  // At the end of a turn.
  void UpdateCare() {
    if (!moving_epochs_.empty()) {
      std::erase_if(moving_epochs_, [](const auto& epoch) { return epoch.expired(); });
    }
    careful_ = topology_->move != nullptr || !puller_.idle() || !moving_epochs_.empty();
    attentive_ = careful_ || hot_keys_.watching();
  }

  const Topology& topology() const { return *topology_; }
  const std::shared_ptr<const Topology>& shared_topology() const { return topology_; }
  const protocol::LearnedCommands* learned() const { return learned_.get(); }
  const Pause& pause() const { return pause_; }
  ShardSender& sender() { return sender_; }
  GateQueue& gate_queue() { return gate_queue_; }
  HotKeys& hot_keys() { return hot_keys_; }
  KeySampler& sampler() { return sampler_; }
  // For a request that must not run before the next topology is there: while kHolding.
  static Outcome StallUntilTopology() { return Outcome::kStall; }
  // Held by requests that go to shards in several steps: while a copy of an older topology's lives, requests
  // that it has routed have not ended.
  const std::shared_ptr<const void>& epoch_token() const { return epoch_token_; }

 private:
  using Row = protocol::CommandRow;
  using View = protocol::RequestView;

  Outcome Dispatch(ClientSession& session, const Row& row, const View& request, const BlockRef* block);
  // A command that may run, in no particular mode of its client.
  Outcome Execute(ClientSession& session, const Row& row, const View& request, const BlockRef* block);
  // The same for a client that is in one of SessionState's modes (router_modes.cc).
  Outcome ExecuteInMode(ClientSession& session, const Row& row, const View& request, const BlockRef* block);
  Outcome HandleUnknown(ClientSession& session, const View& request, const BlockRef* block);
  Outcome RouteOneShard(ClientSession& session, const Row& row, const View& request, const BlockRef* block);
  std::optional<Outcome> LookTwice(ClientSession& session, const Row& row, const View& request,
                                   const BlockRef* block, uint64_t hash);
  Outcome RouteByKeys(ClientSession& session, const Row& row, const View& request, const BlockRef* block);
  Outcome RouteSplit(ClientSession& session, const Row& row, const View& request, const BlockRef* block);
  Outcome RouteSpecial(ClientSession& session, const Row& row, const View& request, const BlockRef* block);
  // Where parts go: the shards of a topology, as indices. `continued`: the request has waited for its keys.
  struct Destination {
    const Topology& topology;
    uint32_t db;
    bool continued;
  };
  // `reader`: whose keys may be read from buckets, if any's.
  void FindParts(const Topology& topology, const View& request, size_t step, ClientSession* reader);
  bool FindHotPart(ClientSession& reader, std::string_view key, uint64_t hash);
  void StartSplit(Request& sent, const Destination& to, const Row& row, const View& request,
                  const BlockRef* block);
  // Null: the shard has left.
  ShardConnection* ConnectionTo(const Destination& to, uint32_t shard, uint8_t resp);
  Outcome SendToShard(ClientSession& session, const Row& row, std::string_view frame, const BlockRef* block,
                      uint32_t shard);
  // To the first `shards` of the topology.
  Outcome SendToFirst(size_t shards, ClientSession& session, const Row& row, std::string_view frame,
                      const BlockRef* block, CollectorPtr collector);
  // On the connection on which requests that go on in steps keep their order.
  void SendBatch(Request& request, uint32_t shard_id, uint32_t db, std::string_view frames, size_t replies);
  Outcome SendEvalSha(ClientSession& session, const Row& row, const View& request, uint32_t shard);
  CollectorPtr NewEvalShaCollector(const View& request, uint32_t shard_id, uint32_t db,
                                   const std::shared_ptr<const void>& epoch_token);

  // --- while keys move (router_move.cc) ---
  // For a request whose keys are in keys_, and go to `shard` unless it is split: nothing if it may be sent
  // now; else it has been taken and waits for its keys, or must be tried again.
  std::optional<Outcome> AwaitKeys(ClientSession& session, const Row& row, const View& request,
                                   const BlockRef* block, uint32_t shard);
  // Whether the request is a SORT that reads keys of elements.
  bool HasSortPatterns(const Row& row, const View& request);
  void AskSortElements(Request& request, const WaitingCommand& command);
  void FindPulls(const Row& row, const View& request, uint32_t db);
  void AddPull(const Topology& topology, uint32_t db, std::string_view key);
  std::optional<Outcome> CheckPullOrder(ClientSession& session);
  void StartPulls(Request& request, WaitingCommand command);
  Outcome SendAskKeys(ClientSession& session, const Row& row, const View& request);

  // A key that a command looks at in a database other than its session's.
  struct DatabaseKey {
    uint32_t db;
    std::string_view key;
  };
  std::optional<DatabaseKey> KeyInOtherDatabase(const Row& row, const View& request, uint32_t db) const;

  // --- commands that wait at their shard (router_blocking.cc) ---
  Outcome RouteBlocking(ClientSession& session, const Row& row, const View& request, const BlockRef* block);
  void Block(Request& request, const Row& row, std::shared_ptr<const protocol::LearnedCommands> learned,
             const View& view, uint32_t shard_id, uint32_t db);
  void CountHotWrites(BlockedRequest& blocked);
  void ReleaseBlocked();
  void BeginReleased();
  void Wake(const OwnConnection& connection, bool error) override;
  void OnReleased(BlockedRequest& blocked) override;
  void BeginAgain(BlockedRequest& blocked) override;
  void OnEnded(BlockedRequest& blocked) override;
  void PutBack(uint32_t db, std::string frame) override;
  void EndHotWrite(const std::shared_ptr<HotKey>& key, bool in_doubt) override;
  RequestTable& table() override { return requests_; }

  // --- transactions (router_transaction.cc) ---
  Outcome RouteTransaction(ClientSession& session, const Row& row, const View& request);
  // Between MULTI and EXEC.
  Outcome Queue(ClientSession& session, const Row& row, const View& request);
  // Notes the request's keys in the transaction; else why it cannot be queued.
  std::string QueueKeys(ClientSession& session, const Row& row, const View& request);
  bool GoesApart(const Row& row) const;
  Outcome Exec(ClientSession& session, const Row& row);
  // What is queued, which goes to one shard.
  Outcome SendTransaction(ClientSession& session, const Row& row);
  Outcome SendOnWatch(ClientSession& session, const Row& row);
  std::optional<Outcome> NoteTransactionKeys(ClientSession& session);
  std::optional<Outcome> AwaitTransactionKeys(ClientSession& session, const Row& row, uint32_t shard);
  std::string BatchOf(const ClientSession& session, size_t* replies);
  bool WatchedKeysMayHaveMoved(const Transaction& transaction) const;
  Outcome Watch(ClientSession& session, const Row& row, const View& request);
  void SendWatch(Request& request, std::string_view frame, uint32_t shard_id, uint32_t db);
  void EndTransaction(ClientSession& session);

  // --- hot keys (router_hot.cc) ---
  std::optional<Outcome> RouteHotKey(ClientSession& session, const Row& row, const View& request,
                                     uint64_t hash);
  std::optional<Outcome> RouteHotKeys(ClientSession& session, const Row& row, const View& request);
  std::optional<Outcome> ReadFromBucket(ClientSession& session, const Row& row, const View& request,
                                        size_t key_index, uint64_t hash);
  std::optional<BucketChoice> ChooseBucket(ClientSession& session, HotEntry& entry, bool* must_wait);
  std::optional<Outcome> NoteReads(ClientSession& session, const View& request);
  // Of the hot ones among keys_. Nothing if the request may go on.
  std::optional<Outcome> NoteHotWrites(ClientSession& session, const Row& row, const View& request);
  std::optional<Outcome> NoteFlush(ClientSession& session, const Row& row);
  std::optional<Outcome> StallBehindBucketReads(ClientSession& session);
  // The same for a request whose keys were told by a server.
  void AttachHotWrites(Request& request, const Row& row, uint32_t db,
                       const std::vector<std::string_view>& keys);
  void ResumeParkedReads();
  void AwaitKey(Request& request, PullWaiter& waiter, uint32_t db, std::string_view key,
                uint64_t hash) override;
  bool IsKeyThere(uint32_t db, std::string_view key, uint64_t hash) override;
  bool IsHeld(uint64_t hash) const override { return topology_->holding() && topology_->move->Moves(hash); }
  uint64_t Generation() const override { return topology_->generation; }
  uint32_t OwnerOf(uint64_t hash) const override;
  std::vector<uint32_t> ServersOf(std::string_view key) const override;
  std::shared_ptr<const void> RenewEpochToken() override;
  void NewEpoch();

  // --- all keys (router_keyspace.cc) ---
  bool IsOnKeyspace(const Row& row) const;
  Outcome RouteKeyspace(ClientSession& session, const Row& row, const View& request, const BlockRef* block);
  Outcome Scan(ClientSession& session, const Row& row, const View& request);
  Outcome SendInSteps(ClientSession& session, const Row& row, const View& request);
  Outcome Wait(ClientSession& session, const Row& row, const View& request);

  // With the writes that have been noted for it.
  Request* NewRequest(ClientSession& session, const Row& row);
  // Why the command may not run now; nothing if it may. The one place that asks for permission.
  std::optional<std::string> Refusal(const ClientSession& session, const Row& row) const;
  bool IsPaused(const ClientSession& session, const Row& row) const;
  // Of a command that names a hot key's copy.
  static Outcome RefuseReserved(ClientSession& session, const Row& row);
  // Another one each time, and one that serves if there is any.
  uint32_t AnyShard();
  std::string CheckKeys(const View& request, const protocol::KeyList& keys, uint32_t* shard) const;
  std::string CheckSortPatterns(const View& request, uint32_t shard);
  bool AdmitParts(ClientSession& session, std::span<const uint32_t> shards);
  static bool MustWaitItsTurn(ClientSession& session, const ShardConnection& connection);
  void RememberScript(std::string_view body);

  ShardPool& pool_;
  RequestTable& requests_;
  ScriptCache& scripts_;
  LocalHandler& local_;
  Puller& puller_;
  CopyRegistry* copies_ = nullptr;
  ShardSender sender_;
  SplitCollector::Pool collectors_;
  GateQueue gate_queue_;
  HotKeys hot_keys_;
  KeySampler sampler_;
  std::shared_ptr<const Topology> topology_;
  struct Epoch {
    std::shared_ptr<const void> newer;
  };
  Epoch* epoch_ = nullptr;
  std::shared_ptr<const void> epoch_token_;  // *epoch_
  std::vector<std::weak_ptr<const void>> moving_epochs_;
  std::shared_ptr<const protocol::LearnedCommands> learned_;
  // Keys move, or requests wait for such: every keyed request is looked at twice.
  bool careful_ = false;
  // That, or there are hot keys.
  bool attentive_ = false;
  bool same_shard_is_enough_ = false;
  Pause pause_;
  uint32_t next_any_ = 0;
  int64_t next_http_warning_usec_ = 0;
  uint64_t random_state_;

  // Rows that have a way of their own.
  const Row* const eval_;
  const Row* const eval_ro_;
  const Row* const evalsha_;
  const Row* const evalsha_ro_;
  const Row* const script_load_;
  const Row* const script_flush_;
  const Row* const sort_;
  const Row* const sort_ro_;
  const Row* const scan_;
  const Row* const randomkey_;
  const Row* const keys_of_all_;
  const Row* const dbsize_;
  const Row* const flushall_;
  const Row* const flushdb_;
  const Row* const move_;
  const Row* const copy_;
  const Row* const multi_;
  const Row* const exec_;
  const Row* const discard_;
  const Row* const watch_;

  // Scratch, kept for its memory.
  protocol::KeyList keys_;
  protocol::KeyList patterns_;
  std::vector<uint32_t> key_parts_;
  std::vector<uint32_t> part_shards_;
  std::vector<uint32_t> part_keys_;
  std::vector<int32_t> part_of_shard_;
  std::vector<OutputQueue*> part_outputs_;
  // Parts of one key that a bucket is asked for; their shard is kBucketPart.
  struct HotPart {
    uint32_t part;
    BucketChoice choice;
  };
  static constexpr uint32_t kBucketPart = UINT32_MAX;
  static constexpr size_t kMaxHotParts = 1024;
  std::vector<HotPart> hot_parts_;
  bool hot_parts_wait_ = false;  // one must wait for what its client has under way
  // A key that must be pulled.
  struct KeyToPull {
    uint32_t db;
    std::string_view key;
    uint64_t hash;
  };
  // A read of a hot key that waits for the end of a hold.
  struct ParkedRead {
    Request* request;
    PullWaiter* waiter;
    uint32_t db;
    std::string key;
    uint64_t hash;
  };
  std::vector<ParkedRead> parked_reads_;
  std::unordered_set<BlockedRequest*> blocked_;
  std::vector<BlockedRequest*> released_;  // of these, those that wait for the end of a hold
  size_t waiting_ = 0;                     // clients in WAIT
  std::vector<std::unique_ptr<Errand>> errands_;
  SessionEnvironment* sessions_ = nullptr;
  std::vector<KeyToPull> pulls_;
  bool any_key_moves_ = false;  // of the request for which pulls_ was filled
  std::string scratch_;
  std::unordered_set<uint64_t> seen_scripts_;
  uint64_t seen_generation_ = 0;
};

}  // namespace ringway::proxy
