#include "config/config_diff.h"

#include <algorithm>
#include <set>
#include <utility>

#include "config/values.h"

namespace ringway::config {

namespace {

const ShardConfig* FindShard(const std::vector<ShardConfig>& shards, const std::string& name) {
  const auto found = std::find_if(shards.begin(), shards.end(),
                                  [&name](const ShardConfig& shard) { return shard.name == name; });
  return found == shards.end() ? nullptr : &*found;
}

constexpr std::string_view kAddressIsKept =
    "another shard has that address as long as its keys have not moved, so no shard is readdressed";

// A shard that the list does not name (any more) still has keys to give.
void FollowShardAuth(const ShardAuth& before, const ShardAuth& after, ShardConfig* shard) {
  if (shard->user != before.user || shard->password != before.password) return;
  shard->user = after.user;
  shard->password = after.password;
}

// The shards that run after a reload. The names, the weights and so the ring are those of before.
std::vector<ShardConfig> MergeShards(const Config& before, const Config& after, bool readdress) {
  std::vector<ShardConfig> merged = before.shards;
  for (ShardConfig& shard : merged) {
    const ShardConfig* fresh = FindShard(after.shards, shard.name);
    if (fresh == nullptr) {
      FollowShardAuth(before.shard_auth, after.shard_auth, &shard);
      continue;
    }
    ShardConfig taken = readdress ? *fresh : shard;
    taken.weight = shard.weight;
    taken.user = fresh->user;
    taken.password = fresh->password;
    shard = std::move(taken);
  }
  return merged;
}

// A shard that is no longer in the list stays, and its address may have been given to another one.
bool MayReaddress(const Config& before, const Config& after) {
  std::set<std::string> addresses;
  for (const ShardConfig& shard : MergeShards(before, after, true)) {
    if (!addresses.insert(Lower(shard.address)).second) return false;
  }
  return true;
}

void CompareShard(const ShardConfig& before, const ShardConfig& after, std::vector<ShardChange>* changes) {
  if (before.address != after.address) changes->push_back({ShardChange::Kind::kReaddressed, before, after});
  if (before.weight != after.weight) changes->push_back({ShardChange::Kind::kReweighed, before, after});
  if (before.user != after.user || before.password != after.password) {
    changes->push_back({ShardChange::Kind::kNewCredentials, before, after});
  }
}

}  // namespace

std::string ShardChange::ToString() const {
  switch (kind) {
    case Kind::kAdded:
      return "added " + after.name + " " + after.address + " weight " + FormatDecimal(after.weight);
    case Kind::kRemoved:
      return "removed " + before.name + " " + before.address;
    case Kind::kReweighed:
      return "reweighed " + after.name + " from " + FormatDecimal(before.weight) + " to " +
             FormatDecimal(after.weight);
    case Kind::kReaddressed:
      return "readdressed " + after.name + " from " + before.address + " to " + after.address;
    case Kind::kNewCredentials:
      return "new user or password for " + after.name;
  }
  return {};
}

std::vector<std::string> ConfigDiff::Describe(const Config& before, const Config& after) const {
  std::vector<std::string> lines;
  const auto change = [&](const Field& field) {
    const std::string path(field.path);
    if (field.is_secret()) return path + " changed";
    return path + " changed from " + Quoted(Get(before, field)) + " to " + Quoted(Get(after, field));
  };
  for (const Field* field : live) lines.push_back(change(*field));
  for (const Field* field : needs_start) lines.push_back(change(*field) + ": takes effect at the next start");
  for (const ShardChange& shard : shards) {
    if (shard.refusal.empty() && !shard.moves_keys()) lines.push_back("shard " + shard.ToString());
  }
  return lines;
}

std::vector<std::string> ConfigDiff::DescribeRefused() const {
  std::vector<std::string> lines;
  for (const ShardChange& shard : shards) {
    if (!shard.refusal.empty())
      lines.push_back("not taken: shard " + shard.ToString() + ": " + shard.refusal);
  }
  return lines;
}

ConfigDiff Diff(const Config& before, const Config& after) {
  ConfigDiff diff;
  for (const Field& field : Fields()) {
    if (SameValue(before, after, field)) continue;
    (field.when == When::kStart ? diff.needs_start : diff.live).push_back(&field);
  }
  for (const ShardConfig& shard : before.shards) {
    if (FindShard(after.shards, shard.name) == nullptr) {
      diff.shards.push_back({ShardChange::Kind::kRemoved, shard, {}});
    }
  }
  for (const ShardConfig& shard : after.shards) {
    if (const ShardConfig* old = FindShard(before.shards, shard.name)) {
      CompareShard(*old, shard, &diff.shards);
    } else {
      diff.shards.push_back({ShardChange::Kind::kAdded, {}, shard});
    }
  }
  const bool may_readdress = MayReaddress(before, after);
  for (ShardChange& change : diff.shards) {
    if (change.kind == ShardChange::Kind::kReaddressed && !may_readdress) change.refusal = kAddressIsKept;
  }
  return diff;
}

Config ApplyLive(const Config& before, const Config& after, const ConfigDiff& diff) {
  Config merged = before;
  for (const Field* field : diff.live) CopyValue(after, *field, &merged);
  merged.shards = MergeShards(before, after, MayReaddress(before, after));
  return merged;
}

}  // namespace ringway::config
