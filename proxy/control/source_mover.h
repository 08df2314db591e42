#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/control/key_mover.h"
#include "proxy/move/migrate_frame.h"

namespace ringway::proxy {

// What the sources of a mover share.
struct MoverContext {
  ControlLinks& links;
  RelayPort* relay;
  KeyMover::Options options;
  std::shared_ptr<const MovePlan> plan;
  KeyAllowance allowance;
  double max_source_busy = 0;
  bool paused = false;
  bool stopping = false;
};

// A key on its way.
struct MovingKey {
  std::string name;
  uint32_t to;  // index into the plan's to()
  uint64_t bytes = 0;
};

// Empties one source of what moves: pass after pass over its databases. One call at a time: SCAN, MEMORY
// USAGE of the moving keys it found, and batches for each target; each chooses the next when it is answered.
// Thread: the loop's. Owns: the connection to the source. Limits: kMaxPendingKeys, kMaxBigKeys.
class SourceMover {
 public:
  // Larger keys go last, one at a time: each can hold its source up for longer than a batch may.
  static constexpr uint64_t kBigKeyBytes = 1024 * 1024;
  // Keys that are known to move and wait for their call: some batches for each target, and little memory.
  static constexpr size_t kMaxPendingKeys = 4'096;
  // Big keys beyond this many are left to the next pass.
  static constexpr size_t kMaxBigKeys = 1'000;

  class Host {
   public:
    virtual ~Host() = default;
    // A whole pass has found nothing that moves. May destroy the source.
    virtual void OnSourceClean() = 0;
    virtual void OnSourceTrouble() = 0;  // trouble() has changed
    virtual void OnSourceQuiet() = 0;  // context.stopping, and no call is under way any more; may destroy it
  };

  SourceMover(MoverContext& context, Host& host, uint32_t source);
  ~SourceMover();
  SourceMover(const SourceMover&) = delete;
  SourceMover& operator=(const SourceMover&) = delete;

  // Goes on, if it may: after a start, a resume, a change of limits.
  void Wake();

  bool busy() const { return busy_; }
  bool clean() const { return clean_; }
  // A sentence; empty while all is well.
  const std::string& trouble() const { return trouble_; }

 private:
  // A database of the source, and the keys it had when the pass began.
  struct Database {
    uint32_t number;
    uint64_t keys;
  };
  // Keys for one target that wait for a call.
  struct Target {
    std::deque<MovingKey> keys;
    double units = 0;      // of keys
    uint64_t found = 0;    // in the present pass
    uint64_t waiting = 0;  // found and neither moved nor given up
  };
  struct Batch {
    std::vector<MovingKey> keys;  // of one target, none twice
    double units = 0;
    uint64_t bytes = 0;
    bool big = false;
  };
  // What puts an end to a trouble.
  enum class Cure : uint8_t { kAnswer, kBatch, kPass };

  static void OnTimer(evutil_socket_t fd, short what, void* self);
  void WaitUntil(int64_t usec);
  void Step();
  void ChooseCall();
  void BeginCall();
  // The call has ended: chooses the next one.
  void Continue();
  // False if the source did not give what was asked; that has been dealt with.
  bool Answered(const ShardClient::Answer& answer);

  void AskKeyspace();
  void OnKeyspace(const ShardClient::Answer& answer);
  void BeginPass();
  void EndPass();
  bool NextDatabase();
  void Scan();
  void OnScan(const ShardClient::Answer& answer, size_t count);
  void TakeFound(std::string_view key);
  void AskSizes();
  void OnSizes(const ShardClient::Answer& answer);
  void Enqueue(MovingKey key);
  void Estimate();

  // --- source_mover_batches.cc ---
  // The target whose keys are to go now, if any.
  std::optional<uint32_t> DueTarget() const;
  void SendBatch(uint32_t to);
  void SendBig();
  void SendSingle();
  // False: the allowance gives none yet, and the timer waits for it.
  bool TakeAllowance(size_t wanted, size_t* granted);
  void Send();
  void Migrate();
  void Relay();
  void OnMigrated(const ShardClient::Answer& answer);
  void OnRelayed(const RelayPort::Outcome& outcome);
  void Judge(const MigrateBatchResult& result);
  void OnRefused(const std::string& error);
  void Count(uint64_t moved, uint64_t bytes);
  // The batch will be sent again, in a second.
  void Retry(std::string trouble);
  void CloseGate();
  // Before a source is told again to reach a target that it did not reach: each attempt can hold it up.
  void ProbeTarget();
  std::string TargetLabel() const;
  MoveFigures::Pair& BatchFigures();

  void Trouble(std::string text, Cure cure);
  void Well(Cure cured);

  const MovePlan& plan() const { return *context_.plan; }

  MoverContext& context_;
  Host& host_;
  const uint32_t source_;  // index into the plan's from()
  ShardClient client_;
  SourcePace pace_;
  Event timer_;
  bool busy_ = false;
  bool clean_ = false;
  bool gate_passed_ = false;  // for a batch that the source may still be at
  int64_t call_sent_usec_ = 0;

  // The pass under way.
  bool pass_begun_ = false;
  bool first_pass_ = true;
  std::vector<Database> databases_;
  size_t next_database_ = 0;  // the one before it is scanned now
  std::string cursor_;
  bool scan_done_ = true;
  uint64_t scanned_ = 0;
  uint64_t found_ = 0;
  uint64_t failed_keys_ = 0;
  std::string failure_;  // of one of them

  std::vector<MovingKey> unsized_;
  std::vector<Target> targets_;    // by index into the plan's to()
  size_t pending_ = 0;             // keys in targets_
  std::deque<MovingKey> big_;      // they go last
  std::deque<MovingKey> singles_;  // of a batch that failed, to be tried one by one
  Batch batch_;                    // under way, or to be sent again
  bool send_again_ = false;

  std::string trouble_;
  Cure cure_ = Cure::kAnswer;
  int64_t retry_usec_ = 0;
  std::unique_ptr<ShardClient> probe_;
  bool probe_first_ = false;
  // Lets an answer of the relay find out whether this object still is there.
  const std::shared_ptr<SourceMover*> self_ = std::make_shared<SourceMover*>(this);
};

}  // namespace ringway::proxy
