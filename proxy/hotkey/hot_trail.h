#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "proxy/shard/shard_detour.h"

namespace ringway::proxy {

class HotKey;

// Where a client's reads of hot keys that are under way went, so that what it reads later in a pipeline is
// never older. All reads of one key that are under way are at one place: the key itself, or one copy. They
// are answered there in their order; at two places they would not be: the key itself may answer with what a
// write has just made it, which a copy does not show before that write is acknowledged. To change the place,
// the client's requests under way are waited for. Requests are known by their number in the session. Thread:
// one worker. Owns: nothing. Limits: one step for each hot key.
class HotTrail {
 public:
  // So many reads may follow each other to one place though another might have less to do; one answer in as
  // many is a small price for looking again.
  static constexpr uint32_t kMaxFollowers = 1024;
  static constexpr uint64_t kNone = UINT64_MAX;

  struct Step {
    const HotKey* key;  // compared, not followed
    uint64_t request;   // the last one that read it
    uint64_t copy;      // 0: the key itself was asked
    uint32_t bucket;    // of the copy
    bool escorted;      // with a question for the copy's presence
    ShardDetour place;  // the connection that the copy was asked for on
    uint32_t followers = 0;
    // The first request for which the key itself had to be asked after all: those behind it must ask it, too.
    uint64_t fell_back = kNone;
    // The last request whose answer proves that the copy was there: it was for those before it, too.
    uint64_t proven = 0;
  };

  // The session has nothing under way.
  void Clear() { steps_.clear(); }
  // The step of a key that has a read under way; null if it has none. Of the session's requests the first
  // `answered` have been.
  Step* Find(const HotKey& key, uint64_t answered) {
    std::erase_if(steps_, [answered](const Step& step) { return step.request <= answered; });
    const auto found =
        std::find_if(steps_.begin(), steps_.end(), [&key](const Step& step) { return step.key == &key; });
    return found == steps_.end() ? nullptr : &*found;
  }
  // Of a key without a step.
  void Add(const Step& step) { steps_.push_back(step); }

  // The last request of which it was not known which keys it reads when it was sent.
  void NoteUnknown(uint64_t request) { unknown_ = request; }
  bool HasUnknown(uint64_t answered) const { return unknown_ > answered; }

 private:
  std::vector<Step> steps_;
  uint64_t unknown_ = 0;
};

}  // namespace ringway::proxy
