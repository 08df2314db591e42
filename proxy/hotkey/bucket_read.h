#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/hotkey/hot_entry.h"
#include "proxy/hotkey/hot_trail.h"
#include "proxy/route/shard_sender.h"

namespace ringway::proxy {

// A request on one key, in the pieces that another key's name can be put between.
struct KeyedFrame {
  std::string_view before;
  std::string_view key_argument;  // with its length and line ends
  std::string_view after;
};

// Where a read of a hot key goes: a bucket that has a copy of the present generation.
struct BucketChoice {
  HotEntry* entry;
  uint32_t bucket;  // an index into the entry's buckets
  uint64_t copy;
  bool escorted;  // a question for the copy's presence goes with it
  ShardConnection* connection;
};

// A read of a hot key that a bucket is asked for. When its answer does not prove that the copy was there, the
// bucket is asked for that too (a copy that is there now was there then: names are used once); when the copy
// has gone, or its shard does not answer, the key itself is asked. Used again. Thread: one worker. Owns: the
// reply.
class BucketRead final : public ReplyCollector, public PullWaiter {
 public:
  // Free ones of one worker.
  class Pool {
   public:
    Pool(ShardSender& sender, HotKeyHome& home) : sender_(sender), home_(home) {}
    ~Pool();
    // `request` has no parts yet.
    void Start(Request& request, const BucketChoice& choice, const KeyedFrame& frame);
    // For one part of `parent`, which counts it already: gets the answer as that part's reply.
    void StartPart(Request& parent, uint32_t part, const BucketChoice& choice, const KeyedFrame& frame);

   private:
    friend class BucketRead;
    BucketRead* Take();

    ShardSender& sender_;
    HotKeyHome& home_;
    std::vector<std::unique_ptr<BucketRead>> all_;
    std::vector<BucketRead*> free_;
  };

  void OnPart(Request& request, uint32_t part, const Slice& reply) override;
  bool OnAllParts(Request& request) override;
  void Finish(Request& request, OutputQueue& out) override;
  void Release() override;
  void OnKeyPulled(Request& request, const PullOutcome& outcome) override;

 private:
  enum Part : uint32_t { kRead, kPresence, kKeyItself };
  explicit BucketRead(Pool& pool) : pool_(pool) {}
  void Send(Request& request, const BucketChoice& choice, const KeyedFrame& frame);
  // True: the read is over.
  bool Judge(Request& request);
  void AskPresence(Request& request);
  void AskKeyItself(Request& request);
  void AwaitKey(Request& request);
  // Of the client's reads of the key under way; null if it has gone.
  HotTrail::Step* StepOf(const Request& request) const;
  void NameKeyInReply();
  void End(Request& request);
  ClientSession* Client(const Request& request) const;

  Pool& pool_;
  HotEntry* entry_ = nullptr;
  HotPlacement::Bucket* bucket_ = nullptr;
  uint64_t copy_ = 0;
  uint64_t number_ = 0;  // of the client's request
  Request* parent_ = nullptr;
  uint32_t parent_part_ = 0;
  std::string frame_;          // on the key itself
  std::string name_argument_;  // of the copy
  Slice reply_;
  bool presence_known_ = false;
  bool present_ = false;
  bool key_asked_ = false;
  uint64_t asked_generation_ = 0;  // of the topology, when the key was waited for
};

}  // namespace ringway::proxy
