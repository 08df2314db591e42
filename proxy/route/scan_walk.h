// Which server a SCAN goes to next, and when it is over, while keys move between servers. Pure.
//
// What is promised: a key that exists from the first call of a walk to its last is returned, whatever moves
// meanwhile. What a server promises is the same for the keys that stay on it while it is walked. The topology
// adds what docs/decisions/0005-one-scan-cursor.md explains:
//   1. Under one generation keys move by one move at most, one way, each once; keys move only while every
//      worker has adopted at least that move's kHolding and none anything after its kMoving (or, when it is
//      turned back, the kHolding that follows).
//   2. So a worker whose topology is stable knows that nothing moves, and one whose topology is kMoving knows
//      what may. While kHolding it cannot tell whether others have gone on: a walk neither begins nor ends
//      then, its client waits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "proxy/route/scan_cursor.h"
#include "proxy/topology.h"

namespace ringway::proxy {

// The servers that may hold keys, as indices into topology.shards: its members, and while keys move all but
// those whose keys are given up.
std::vector<uint32_t> ServersWithKeys(const Topology& topology);

// What a walk must know of a topology.
struct ScanFacts {
  struct Server {
    uint32_t id;
    bool target;  // keys may move to it; while kMoving
  };
  Topology::Phase phase = Topology::Phase::kStable;
  uint64_t generation = 0;
  std::vector<Server> servers;  // in the order of their ids; not empty

  bool moving() const { return phase == Topology::Phase::kMoving; }
  bool holding() const { return phase == Topology::Phase::kHolding; }
};

ScanFacts ScanFactsOf(const Topology& topology);

// The first position of a walk that begins now. Not while kHolding.
ScanCursor BeginWalk(const ScanFacts& facts);

// The position after the one whose server has said that it is done; nothing: the walk has ended. A position
// of kBehindLast is the walk's end while kHolding: what comes next is decided once that is over.
std::optional<ScanCursor> NextPosition(ScanCursor position, const ScanFacts& facts);

// The position itself where its server is to be walked, or else the next one: the server has left, the
// position is kBehindLast or made up.
std::optional<ScanCursor> CheckedPosition(const ScanCursor& position, const ScanFacts& facts);

// Whether of what a server returns only the keys are wanted that move to it.
inline bool WantsMovingKeysOnly(const ScanCursor& position, const ScanFacts& facts) {
  return position.part == ScanCursor::Part::kSecond && facts.moving() &&
         position.mark == ScanCursor::MarkOf(facts.generation);
}

}  // namespace ringway::proxy
