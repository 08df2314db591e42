// What changed between two configurations, so that a reload does exactly that and names what it cannot do.
#ifndef RINGWAY_CONFIG_CONFIG_DIFF_H_
#define RINGWAY_CONFIG_CONFIG_DIFF_H_

#include <string>
#include <vector>

#include "config/config.h"
#include "config/config_fields.h"

namespace ringway::config {

// A shard of a known name may get another address or other credentials at once: no key moves. What gives keys
// another owner takes a move of theirs, which is not begun here.
struct ShardChange {
  // A shard may appear twice, once readdressed and once reweighed.
  enum class Kind { kAdded, kRemoved, kReweighed, kReaddressed, kNewCredentials };

  Kind kind;
  ShardConfig before;        // not for kAdded
  ShardConfig after;         // not for kRemoved
  std::string refusal = {};  // why it does not take effect; empty if it does

  const std::string& name() const { return kind == Kind::kRemoved ? before.name : after.name; }
  bool moves_keys() const {
    return kind == Kind::kAdded || kind == Kind::kRemoved || kind == Kind::kReweighed;
  }
  // "added cache4 10.0.0.4:6379 weight 1"; holds no secret.
  std::string ToString() const;
};

struct ConfigDiff {
  std::vector<const Field*> live;         // take effect at once
  std::vector<const Field*> needs_start;  // keep their old value until the next start
  std::vector<ShardChange> shards;        // in the order: removed, then as the new list has them

  bool empty() const { return live.empty() && needs_start.empty() && shards.empty(); }
  // One line for each change that is neither refused nor moves keys, fit for the log; secrets are named,
  // never shown.
  std::vector<std::string> Describe(const Config& before, const Config& after) const;
  // One line for each refused change of a shard, with the reason.
  std::vector<std::string> DescribeRefused() const;
};

// The order of shards in the list does not count: names decide.
ConfigDiff Diff(const Config& before, const Config& after);

// `before` with what of `after` takes effect at once: what runs after a reload. Its shards are those of
// `before` with their new addresses and credentials; one that `after` does not name follows shard_auth if it
// did before.
Config ApplyLive(const Config& before, const Config& after, const ConfigDiff& diff);

}  // namespace ringway::config

#endif  // RINGWAY_CONFIG_CONFIG_DIFF_H_
