#include "ring/ring_check.h"

#include <cmath>
#include <unordered_set>

#include "ring/ketama_ring.h"
#include "ring/virtual_nodes.h"

namespace ringway::ring {
namespace {

using Problem = std::optional<std::string>;

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

Problem CheckOptions(const RingOptions& options) {
  const bool is_ring = options.distribution == Distribution::kRing;
  const std::string distribution(Name(options.distribution));
  const std::string hash(Name(options.hash));
  if (is_ring && options.hash != HashFunction::kXxh3) {
    return "distribution ring hashes with xxh3, not " + hash + "; " + hash + " belongs to ketama and modula";
  }
  if (!is_ring && options.hash == HashFunction::kXxh3) {
    return "distribution " + distribution +
           " takes one of twemproxy's hashes, not xxh3; twemproxy's default is fnv1a_64";
  }
  if (!options.hash_tag.empty() && options.hash_tag.size() != 2) {
    return "hash_tag must be two characters such as {} or empty, not \"" + options.hash_tag + "\"";
  }
  if (!is_ring) return std::nullopt;
  if (options.virtual_nodes < 1 || options.virtual_nodes > kMaxVirtualNodes) {
    return "virtual_nodes must be from 1 to " + std::to_string(kMaxVirtualNodes) + ", not " +
           std::to_string(options.virtual_nodes);
  }
  const double cap = options.balance_cap.value_or(0);
  if (!(cap >= 0 && cap <= kMaxBalanceCap)) {
    return "balance_cap must be from 0 to " + Number(kMaxBalanceCap) + " or off, not " + Number(cap);
  }
  return std::nullopt;
}

// How a sentence refers to a member.
std::string Label(const Member& member, size_t index) {
  if (!member.name.empty()) return "shard " + member.name;
  if (!member.address.empty()) return "shard " + member.address;
  return "shard number " + std::to_string(index + 1);
}

Problem CheckMember(const Member& member, const RingOptions& options, size_t index) {
  const bool is_ring = options.distribution == Distribution::kRing;
  const std::string label = Label(member, index);
  if (is_ring && member.name.empty())
    return label + " has no name, and the name decides its place on the ring";
  if (member.name.empty() && member.address.empty()) return label + " has neither a name nor an address";
  const double weight = member.weight;
  if (std::isnan(weight)) return label + " has a weight that is not a number";
  if (weight < 0) return label + " has a negative weight, " + Number(weight);
  if (weight > kMaxWeight) {
    return label + " has weight " + Number(weight) + "; the largest is " + Number(kMaxWeight);
  }
  if (!is_ring && weight != std::floor(weight)) {
    return label + " has weight " + Number(weight) + ", but distribution " +
           std::string(Name(options.distribution)) + " knows whole weights only";
  }
  return std::nullopt;
}

uint64_t PointsOf(const Member& member, const RingOptions& options) {
  if (options.distribution != Distribution::kRing) return static_cast<uint64_t>(member.weight);
  // In floating point, because the largest weight times the most virtual nodes passes 32 bits.
  const double nodes = member.weight * options.virtual_nodes;
  return nodes > static_cast<double>(kMaxPoints) ? kMaxPoints + 1
                                                 : VirtualNodeCount(member.weight, options.virtual_nodes);
}

Problem CheckTotals(std::span<const Member> members, const RingOptions& options) {
  uint64_t points = 0;
  for (const Member& member : members) points += PointsOf(member, options);
  if (points == 0) return "every shard has weight 0, so no shard would own a key";
  if (points <= kMaxPoints) return std::nullopt;
  if (options.distribution != Distribution::kRing) {
    return "the weights add up to more than " + std::to_string(kMaxPoints) + "; use smaller ones";
  }
  return "weights times virtual_nodes make more than " + std::to_string(kMaxPoints) +
         " virtual nodes; lower virtual_nodes or the weights";
}

}  // namespace

std::optional<std::string> CheckRing(std::span<const Member> members, const RingOptions& options) {
  if (Problem problem = CheckOptions(options)) return problem;
  if (members.empty()) return "a ring needs at least one shard";
  if (members.size() > kMaxMembers) {
    return "a ring holds at most " + std::to_string(kMaxMembers) + " shards, not " +
           std::to_string(members.size());
  }
  std::unordered_set<std::string> seen;
  for (size_t i = 0; i < members.size(); ++i) {
    if (Problem problem = CheckMember(members[i], options, i)) return problem;
    const std::string identifier = TwemproxyIdentifier(members[i]);
    if (!seen.insert(identifier).second) return "two shards are named " + identifier;
  }
  return CheckTotals(members, options);
}

std::optional<std::string> RingWarning(const RingOptions& options) {
  const auto is = [&](Distribution distribution, HashFunction hash) {
    return options.distribution == distribution && options.hash == hash;
  };
  if (is(Distribution::kKetama, HashFunction::kCrc32)) {
    return "crc32 yields 15 bits, and with ketama nearly all keys fall to one shard; crc32a spreads them";
  }
  if (is(Distribution::kKetama, HashFunction::kFnv1_64)) {
    return "fnv1_64 with ketama loads one of ten shards 37 % above the mean; fnv1a_64 spreads better";
  }
  if (is(Distribution::kModula, HashFunction::kFnv1a_64)) {
    return "fnv1a_64 with modula loads one of ten shards 29 % above the mean; fnv1a_32 spreads better";
  }
  return std::nullopt;
}

}  // namespace ringway::ring
