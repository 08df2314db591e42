// RING: looks into the ring. One row for each subcommand.
#include <array>
#include <cstdio>
#include <string>

#include "protocol/error_replies.h"
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
    call.reply.Bulk(IsUp(call.worker, i) ? "up" : "down");
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

Outcome RingLocate(LocalCall& call) {
  const Topology& topology = call.worker.router().topology();
  call.reply.Array(call.request.size() - 2);
  for (size_t i = 2; i < call.request.size(); ++i) {
    const std::string_view key = call.request[i];
    const config::ShardConfig& shard = topology.shards[topology.Locate(key)].config;
    call.reply.Map(6);
    call.reply.Bulk("key");
    call.reply.Bulk(key);
    call.reply.Bulk("shard");
    call.reply.Bulk(shard.name);
    call.reply.Bulk("address");
    call.reply.Bulk(shard.address);
    call.reply.Bulk("hash");
    call.reply.Bulk(HashText(topology.ring, key));
    // Shards do not change hands while the proxy runs, and no key is spread over several.
    call.reply.Bulk("moving");
    call.reply.Bulk("no");
    call.reply.Bulk("buckets");
    call.reply.Array(0);
  }
  return Outcome::kTaken;
}

Outcome RingHelp(LocalCall& call) {
  static constexpr std::string_view kLines[] = {
      "RING <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
      "LIST",
      "    Return name, address, state, weight, virtual nodes, share and wanted share of each shard.",
      "LOCATE <key> [<key> ...]",
      "    Return shard, address and hash of each key, whether it is moving, and its hot-key buckets.",
      "PLAN <change> [<change> ...]",
      "    Return what changes of the shards would move, and move nothing.",
      "HELP",
      "    Prints this help.",
  };
  call.reply.Array(std::size(kLines));
  for (const std::string_view line : kLines) call.reply.Simple(line);
  return Outcome::kTaken;
}

std::string UpperName(const protocol::CommandRow& row) {
  std::string name(row.name);
  for (char& c : name) c = c == '|' ? ' ' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

Outcome RefuseChange(LocalCall& call) {
  call.session.Reject(call.row.id, "ERR " + UpperName(call.row) +
                                       " is not available: shards cannot be changed while the proxy runs");
  return Outcome::kTaken;
}

Outcome RefuseHotKeys(LocalCall& call) {
  call.session.Reject(call.row.id, "ERR RING HOTKEYS is not available: hot keys are not tracked");
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
      {RingRow("ring|apply", -2), &RefuseChange},
      {RingRow("ring|add", -2), &RefuseChange},
      {RingRow("ring|remove", -2), &RefuseChange},
      {RingRow("ring|weight", -2), &RefuseChange},
      {RingRow("ring|replace", -2), &RefuseChange},
      {RingRow("ring|status", -2), &RefuseChange},
      {RingRow("ring|wait", -2), &RefuseChange},
      {RingRow("ring|pause", -2), &RefuseChange},
      {RingRow("ring|resume", -2), &RefuseChange},
      {RingRow("ring|abort", -2), &RefuseChange},
      {RingRow("ring|throttle", -2), &RefuseChange},
      {RingRow("ring|hotkeys", -2), &RefuseHotKeys},
      // The last: it takes every name.
      {RingRow("ring", -2), &RingUnknown},
  };
  return kOwn;
}

}  // namespace ringway::proxy
