#include "proxy/route/scan_walk.h"

#include <algorithm>

namespace ringway::proxy {
namespace {

using Part = ScanCursor::Part;

// The first server of `part` whose id is at least `least`.
std::optional<uint32_t> ServerFrom(uint32_t least, Part part, const ScanFacts& facts) {
  // A move that has settled meanwhile no longer says where its keys are: then all that follow are walked.
  const bool targets_only = part == Part::kSecond && facts.moving();
  for (const ScanFacts::Server& server : facts.servers) {
    if (server.id >= least && (server.target || !targets_only)) return server.id;
  }
  return std::nullopt;
}

// Keys of such a server are not fetched.
bool IsGivenUp(const MovePlan& plan, uint32_t shard_id) {
  for (uint32_t i = 0; i < plan.from().size(); ++i) {
    if (plan.from()[i].id == shard_id) return plan.IsGivenUp(i);
  }
  return false;
}

enum class Verdict { kEnd, kSecondPart, kAgain };

// What follows a part of the walk when its last server is done.
Verdict Judge(const ScanCursor& position, const ScanFacts& facts) {
  const uint8_t present = ScanCursor::MarkOf(facts.generation);
  const bool began_now = position.mark == present;
  const bool began_just_before = position.mark == ScanCursor::Before(present);
  switch (position.part) {
    case Part::kFirst:
      if (!facts.moving()) return began_now ? Verdict::kEnd : Verdict::kAgain;
      return began_just_before ? Verdict::kSecondPart : Verdict::kAgain;
    case Part::kFirstMoving:
      // Begun in the move just before, it has seen keys go there, and they come back now.
      return facts.moving() && began_now ? Verdict::kSecondPart : Verdict::kAgain;
    case Part::kSecond:
      // Either its move still goes on, or it has settled.
      return (facts.moving() ? began_now : began_just_before) ? Verdict::kEnd : Verdict::kAgain;
    case Part::kUnknown:
      break;
  }
  return Verdict::kAgain;
}

}  // namespace

std::vector<uint32_t> ServersWithKeys(const Topology& topology) {
  std::vector<uint32_t> servers;
  const bool may_move = topology.holding() || topology.moving();
  for (uint32_t i = 0; i < topology.shards.size(); ++i) {
    const bool asked = topology.IsMember(i) ||
                       (may_move && !(topology.moving() && IsGivenUp(*topology.move, topology.shards[i].id)));
    if (asked) servers.push_back(i);
  }
  return servers;
}

ScanFacts ScanFactsOf(const Topology& topology) {
  ScanFacts facts{topology.phase, topology.generation, {}};
  std::vector<uint32_t> targets;
  if (topology.moving()) targets = topology.move->TargetIds();
  for (const uint32_t shard : ServersWithKeys(topology)) {
    const uint32_t id = topology.shards[shard].id;
    facts.servers.push_back({id, std::find(targets.begin(), targets.end(), id) != targets.end()});
  }
  std::sort(facts.servers.begin(), facts.servers.end(),
            [](const ScanFacts::Server& a, const ScanFacts::Server& b) { return a.id < b.id; });
  return facts;
}

ScanCursor BeginWalk(const ScanFacts& facts) {
  return {facts.servers.front().id, facts.moving() ? Part::kFirstMoving : Part::kFirst,
          ScanCursor::MarkOf(facts.generation), 0};
}

std::optional<ScanCursor> NextPosition(ScanCursor position, const ScanFacts& facts) {
  position.inner = 0;
  while (true) {
    if (const auto next = ServerFrom(position.shard_id + 1, position.part, facts)) {
      position.shard_id = *next;
      return position;
    }
    if (facts.holding()) {
      position.shard_id = ScanCursor::kBehindLast;
      return position;
    }
    switch (Judge(position, facts)) {
      case Verdict::kEnd:
        return std::nullopt;
      case Verdict::kAgain:
        return BeginWalk(facts);
      case Verdict::kSecondPart:
        position.part = Part::kSecond;
        position.mark = ScanCursor::MarkOf(facts.generation);
        if (const auto first = ServerFrom(0, Part::kSecond, facts)) {
          position.shard_id = *first;
          return position;
        }
        position.shard_id = ScanCursor::kBehindLast;
    }
  }
}

std::optional<ScanCursor> CheckedPosition(const ScanCursor& position, const ScanFacts& facts) {
  if (ServerFrom(position.shard_id, position.part, facts) == position.shard_id) return position;
  return NextPosition(position, facts);
}

}  // namespace ringway::proxy
