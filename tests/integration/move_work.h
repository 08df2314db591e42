// What the clients of the move checker do with their keys.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/integration/move_store.h"

namespace ringway::test {

// One thing to do: a command, or several inside MULTI and EXEC.
struct MoveStep {
  std::vector<Command> commands;
  bool transaction = false;
  // The keys may lie on several shards, so that a failure may have done a part.
  bool split = false;
};

// Kinds of work, one row each in move_work.cc.
enum class MoveKind {
  kCounter,
  kAppend,
  kString,
  kExpire,
  kList,
  kHash,
  kSet,
  kSortedSet,
  kSplit,
  kTag,
  kScript,
  kTransaction,  // where MULTI is served
  kFlush,        // needs a database of its own
};
inline constexpr int kSharedMoveKinds = 12;  // all but kFlush; the last is kTransaction

// The next step of that kind on keys that begin with `prefix`; `serial` makes values unique and is raised.
MoveStep NextMoveStep(MoveKind kind, const std::string& prefix, int64_t* serial, std::mt19937_64* random);
// The keys it uses.
std::vector<std::string> MoveKeys(MoveKind kind, const std::string& prefix);
// How many steps may be sent before the first is answered.
int MovePipeline(MoveKind kind);

}  // namespace ringway::test
