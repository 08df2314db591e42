#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "ring/ring_check.h"

namespace ringway::proxy {

// One change of the shards, as a person asks for it.
struct RingChange {
  enum class Kind : uint8_t { kAdd, kRemove, kWeight, kReplace };

  Kind kind = Kind::kAdd;
  std::string name = {};
  std::string address = {};           // kAdd, kReplace
  std::optional<double> weight = {};  // kAdd: 1 unless given; kWeight: always
  bool force = false;                 // kRemove: the shard is dead, its keys are given up

  // The words that are read back as the same change: "ADD cache4 10.0.0.4:6379 WEIGHT 2".
  std::string ToString() const;
  bool operator==(const RingChange&) const = default;
};

std::string ToString(std::span<const RingChange> changes);

// Every shard of the largest ring removed, and as many added.
inline constexpr size_t kMaxRingChanges = size_t{2} * ring::kMaxMembers;

struct ParsedRingChanges {
  std::vector<RingChange> changes;  // at least one; only when error is empty
  std::string error;                // one sentence without an error code
};

// Reads `ADD name address [WEIGHT w]`, `REMOVE name [FORCE]`, `WEIGHT name w` and `REPLACE name address`, any
// number of them, keywords of either case. Behind ADD's address WEIGHT is its option if a number follows that
// ends the change, else the next change. Whether a change fits the shards is not asked here.
ParsedRingChanges ParseRingChanges(std::span<const std::string_view> words);

// The same for `RING ADD` and its like, which take a single change.
ParsedRingChanges ParseOneRingChange(std::span<const std::string_view> words);

struct ChangedShards {
  std::vector<config::ShardConfig> shards;  // after the changes; new ones at the end
  std::vector<std::string> given_up;        // names of removed ones whose keys are not fetched
  std::vector<std::string> replaced;        // names that go on at another server, which gets their keys
  std::string error;                        // one sentence without an error code; the rest is empty then
};

// What config.shards are to be. The rules are those of the configuration file; besides, each change must
// change something, a name appears in one change only, and no server gets a second part in it. New shards get
// the user and password of shard_auth, replaced ones keep their own.
ChangedShards ApplyRingChanges(const config::Config& config, std::span<const RingChange> changes);

// What makes of `before` the names and weights of `after`, whatever their order. Addresses do not count: a
// list that gives a known name another address says that the server has moved house with its keys.
std::vector<RingChange> ChangesBetween(std::span<const config::ShardConfig> before,
                                       std::span<const config::ShardConfig> after);

}  // namespace ringway::proxy
