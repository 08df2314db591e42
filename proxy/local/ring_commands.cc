// RING: looks into the ring. One row for each subcommand.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "protocol/error_replies.h"
#include "proxy/hotkey/bucket_name.h"
#include "proxy/local/entries.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

using Outcome = RequestHandler::Outcome;
using protocol::kAdmin;
using protocol::kLoading;
using protocol::kNoScript;
using protocol::kStale;

bool IsUp(Worker& worker, uint32_t shard) {
  const ShardSight sight = worker.state().board.Get(worker.router().topology().shards[shard].id);
  return !worker.pool().IsDown(shard) && (sight.up || !sight.seen);
}

// What the shard does for the ring; who joins or leaves is up, or the move says that it is not.
std::string_view StateOf(LocalCall& call, uint32_t shard) {
  const Topology& topology = call.worker.router().topology();
  if (!IsUp(call.worker, shard)) return "down";
  if (!topology.IsMember(shard)) return topology.holding() ? "joining" : "leaving";
  if (topology.move == nullptr) return "up";
  const std::vector<Shard> joining = topology.move->Joining();
  const bool joins = topology.moving() &&
                     std::any_of(joining.begin(), joining.end(),
                                 [&](const Shard& other) { return other.id == topology.shards[shard].id; });
  return joins ? "joining" : "up";
}

Outcome RingList(LocalCall& call) {
  const Topology& topology = call.worker.router().topology();
  call.reply.Array(topology.shards.size());
  for (uint32_t i = 0; i < topology.shards.size(); ++i) {
    const config::ShardConfig& shard = topology.shards[i].config;
    call.reply.Map(7);
    call.reply.Bulk("name");
    call.reply.Bulk(shard.name);
    call.reply.Bulk("address");
    call.reply.Bulk(shard.address);
    call.reply.Bulk("state");
    call.reply.Bulk(StateOf(call, i));
    call.reply.Bulk("weight");
    call.reply.Double(shard.weight);
    call.reply.Bulk("virtual_nodes");
    call.reply.Integer(topology.Points(i));
    call.reply.Bulk("share");
    call.reply.Double(topology.Share(i));
    call.reply.Bulk("share_wanted");
    call.reply.Double(topology.WantedShare(i));
  }
  return Outcome::kTaken;
}

// Hexadecimal, as wide as the ring's positions: 16 digits or 8 behind "0x".
std::string HashText(const ring::HashRing& ring, std::string_view key) {
  std::array<char, 24> text;
  const int length = std::snprintf(text.data(), text.size(), "0x%0*llx", ring.hash_bits() / 4,
                                   static_cast<unsigned long long>(ring.Hash(key)));
  return std::string(text.data(), static_cast<size_t>(length));
}

// What a key's place is, and where it may still be: `from` and `to` while it moves.
void WritePlace(LocalCall& call, const Topology& topology, std::string_view key) {
  const uint64_t hash = topology.ring.Hash(key);
  const config::ShardConfig& shard = topology.shards[topology.Locate(key)].config;
  const bool moves = topology.move != nullptr && topology.move->Moves(hash);
  call.reply.Map(moves ? 8 : 6);
  call.reply.Bulk("key");
  call.reply.Bulk(key);
  call.reply.Bulk("shard");
  call.reply.Bulk(shard.name);
  call.reply.Bulk("address");
  call.reply.Bulk(shard.address);
  call.reply.Bulk("hash");
  call.reply.Bulk(HashText(topology.ring, key));
  call.reply.Bulk("moving");
  call.reply.Bulk(moves ? "yes" : "no");
  if (moves) {
    call.reply.Bulk("from");
    call.reply.Bulk(topology.Source(hash).config.name);
    call.reply.Bulk("to");
    call.reply.Bulk(topology.Target(hash).config.name);
  }
  call.reply.Bulk("buckets");
  const std::vector<std::string_view> buckets = ShardsOfBuckets(call, topology, key);
  call.reply.Array(buckets.size());
  for (const std::string_view name : buckets) call.reply.Bulk(name);
}

Outcome RingLocate(LocalCall& call) {
  const Topology& topology = call.worker.router().topology();
  for (size_t i = 2; i < call.request.size(); ++i) {
    if (!IsBucketName(call.request[i])) continue;
    call.session.Reject(call.row.id, kReservedKey);
    return Outcome::kTaken;
  }
  call.reply.Array(call.request.size() - 2);
  for (size_t i = 2; i < call.request.size(); ++i) WritePlace(call, topology, call.request[i]);
  return Outcome::kTaken;
}

Outcome RingHelp(LocalCall& call) {
  static constexpr std::string_view kLines[] = {
      "RING <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
      "LIST",
      "    Return name, address, state, weight, virtual nodes, share and wanted share of each shard.",
      "LOCATE <key> [<key> ...]",
      "    Return shard, address and hash of each key, whether it is moving, and the shards of its buckets "
      "if "
      "it is hot.",
      "HOTKEYS [<count>]",
      "    Return the hottest keys (10) with database, rate, share of all requests, buckets and bucket hits.",
      "PLAN <change> [<change> ...]",
      "    Return what a change of the shards would move, and how even the ring is before and after it.",
      "APPLY <change> [<change> ...]",
      "    Start to change the shards, and return the number of the move. A change is",
      "    ADD <name> <address> [WEIGHT <weight>], REMOVE <name> [FORCE], WEIGHT <name> <weight>,",
      "    or REPLACE <name> <address>. FORCE: the shard is dead, its keys are given up.",
      "ADD | REMOVE | WEIGHT | REPLACE ...",
      "    The same for one change.",
      "STATUS",
      "    Return the move under way or the last one, as in INFO migration.",
      "WAIT <timeout-ms>",
      "    Wait until no move is under way; 1 if so, 0 after the timeout. Timeout 0: however long it takes.",
      "PAUSE | RESUME",
      "    Stop moving keys in the background, and go on. Keys that are asked for still move.",
      "ABORT",
      "    Move back what has moved.",
      "THROTTLE <keys-per-second>",
      "    Limit how many keys are moved in the background each second. 0: no limit.",
      "HELP",
      "    Prints this help.",
  };
  call.reply.Array(std::size(kLines));
  for (const std::string_view line : kLines) call.reply.Simple(line);
  return Outcome::kTaken;
}

Outcome RingUnknown(LocalCall& call) {
  call.session.Reject(call.row.id, protocol::UnknownSubcommand("ring", call.request[1]));
  return Outcome::kTaken;
}

protocol::CommandRow RingRow(std::string_view name, int16_t arity) {
  return MakeOwnRow(name, arity, kAdmin | kNoScript | kLoading | kStale, WorkerStats::kRingId);
}

}  // namespace

std::span<const OwnCommand> OwnRingCommands() {
  static const OwnCommand kOwn[] = {
      {RingRow("ring|list", 2), &RingList},
      {RingRow("ring|locate", -3), &RingLocate},
      {RingRow("ring|help", 2), &RingHelp},
      {RingRow("ring|plan", -2), &RingPlan},
      {RingRow("ring|apply", -2), &RingApply},
      {RingRow("ring|add", -2), &RingChangeOne},
      {RingRow("ring|remove", -2), &RingChangeOne},
      {RingRow("ring|weight", -2), &RingChangeOne},
      {RingRow("ring|replace", -2), &RingChangeOne},
      {RingRow("ring|status", -2), &RingStatus},
      {RingRow("ring|wait", -2), &RingWait},
      {RingRow("ring|pause", -2), &RingPause},
      {RingRow("ring|resume", -2), &RingResume},
      {RingRow("ring|abort", -2), &RingAbort},
      {RingRow("ring|throttle", -2), &RingThrottle},
      {RingRow("ring|hotkeys", -2), &RingHotKeys},
      // The last: it takes every name.
      {RingRow("ring", -2), &RingUnknown},
  };
  return kOwn;
}

}  // namespace ringway::proxy
