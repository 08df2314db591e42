#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/hotkey/hot_entry.h"
#include "proxy/route/shard_sender.h"

namespace ringway::proxy {

// Limits of fills, which CONFIG SET may change.
struct FillSettings {
  std::string run;  // ProxyState::run_id()
  int64_t max_staleness_ms = 1000;
  int64_t max_bytes = 1024 * 1024;
};

class CopyRegistry;

// Gives all buckets of a hot key a new copy each: asks the key how large it is, then for its value and its
// lifetime, and sends these to the buckets' shards. A bucket is used as soon as its own shard has answered.
// What is stored belongs to the generation in which the value was asked for. Thread: one worker. Owns:
// nothing. Limits: one fill of a key asks for its value at a time, among all workers, and a bucket is sent
// one copy at a time.
class BucketFill final : public ReplyCollector {
 public:
  // Between two fills of one key, whatever happens to it.
  static constexpr int64_t kLeastPauseUsec = 10'000;
  // After a key was missing, too large, or could not be asked for.
  static constexpr int64_t kRestUsec = 500'000;
  // A key that expires sooner is not copied.
  static constexpr int64_t kLeastLifeMs = 20;
  // Copies that nobody remembers, of a key that has cooled or a ring that has changed, are gone after that.
  static constexpr int64_t kMostLifeMs = 60'000;
  // Of copies of one key in a second, among all workers.
  static constexpr int64_t kMostBytesPerUsec = 32;

  // What fills of one worker need.
  struct Context {
    ShardSender& sender;
    HotKeyHome& home;
    FillSettings settings;
    CopyRegistry* copies = nullptr;  // told of every copy before it is stored; null: nobody is
    std::function<int64_t()> clock;  // monotonic, microseconds
  };

  // The caller has taken the placement's `filling`, which is given back at the end.
  static void Start(Context& context, std::shared_ptr<HotPlacement> placement);

  void OnPart(Request& request, uint32_t part, const Slice& reply) override;
  bool OnAllParts(Request& request) override;
  void Finish(Request&, OutputQueue&) override {}

 private:
  enum class Step : uint8_t { kSize, kValue, kStore };
  enum ValuePart : uint32_t { kDump, kLifetime };

  BucketFill(Context& context, std::shared_ptr<HotPlacement> placement)
      : context_(context), placement_(std::move(placement)) {}
  const HotKey& key() const { return *placement_->key; }
  void AskSize(Request& request);
  // These answer whether there is a further step.
  bool AskValue(Request& request);
  bool Store(Request& request);
  void OnStored(uint32_t bucket, bool stored);
  void StoreIn(Request& request, uint32_t bucket, std::string_view value);
  int64_t LifeLeftMs() const;
  void Refuse();
  void End(int64_t rest_usec);

  Context& context_;
  const std::shared_ptr<HotPlacement> placement_;
  Step step_ = Step::kSize;
  int64_t size_ = -1;
  uint64_t generation_ = 0;
  int64_t asked_usec_ = 0;
  Slice value_;
  int64_t lifetime_ms_ = -2;   // as PTTL answers
  int64_t life_ms_ = 0;        // of the copies, from asked_usec_ on
  bool expires_ = false;       // it ends with the key's
  std::vector<uint64_t> ids_;  // of the copies by bucket; 0: none is sent
  bool any_stored_ = false;
};

}  // namespace ringway::proxy
