// What clients of the hot-key checker write and read, and what they must be answered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/integration/move_store.h"

namespace ringway::test {

// Kinds of hot keys, by what is done with them; rows in hot_work.cc.
enum class HotKind { kString, kReplaced, kHash, kList, kSet, kSortedSet, kStream, kExpiring, kFlushed };
inline constexpr int kSharedHotKinds = 8;  // all but kFlushed, which needs a database of its own

// The key, and what is named beside it.
struct HotNames {
  std::string key;
  std::string other;              // on the same shard, by its tag; never read
  std::vector<std::string> cold;  // on any shard; always hold their own names

  explicit HotNames(const std::string& tag);
  // Of a key in another's place.
  std::vector<std::string> All() const;
};

// What makes one version of a key out of the version before it.
struct HotWrite {
  int64_t version = 0;
  std::vector<Command> before;  // prepare the value under another name
  Command command;              // the key changes with this one
  int64_t ttl_ms = 0;           // above 0: the next version is the key's expiry, for which nothing is sent
};

// Every version of which this is a multiple begins with an empty key, whatever was before.
inline constexpr int64_t kHotRound = 8;

// Version after version, always the same for a kind and its names. Pure. `version` is no expiry's.
HotWrite MakeHotWrite(HotKind kind, const HotNames& names, int64_t version);
// All reads of a kind. Each tells of one version alone.
std::vector<Command> HotReads(HotKind kind, const HotNames& names);

// What is there when the key is not.
ModelStore EmptyHotStore(HotKind kind, const HotNames& names);
// Carries the write out; returns what the last command is answered, in the notation of HotAnswer.
std::string ApplyHotWrite(ModelStore* store, const HotWrite& write);
// What one of HotReads must be answered.
std::string ExpectedHotRead(const ModelStore& store, const Command& command);

// A reply as words, the same for RESP2 and RESP3, without its order where the command promises none.
std::string HotAnswer(const Command& command, const Reply& reply);

}  // namespace ringway::test
