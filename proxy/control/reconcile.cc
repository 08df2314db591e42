#include "proxy/control/reconcile.h"

#include <algorithm>
#include <set>
#include <utility>

#include "config/address.h"
#include "config/config_diff.h"
#include "config/config_fields.h"
#include "config/values.h"
#include "proxy/control/saved_state_words.h"

namespace ringway::proxy {
namespace {

using config::Config;
using config::Quoted;
using config::ShardConfig;

// Works for both kinds of shards.
template <typename T>
T* Find(std::vector<T>& shards, const std::string& name) {
  const auto found =
      std::find_if(shards.begin(), shards.end(), [&name](const T& shard) { return shard.name == name; });
  return found == shards.end() ? nullptr : &*found;
}

template <typename T>
const T* Find(const std::vector<T>& shards, const std::string& name) {
  return Find(const_cast<std::vector<T>&>(shards), name);
}

// Whatever the order.
bool SameList(const std::vector<SavedShard>& a, const std::vector<SavedShard>& b) {
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&b](const SavedShard& shard) {
           const SavedShard* other = Find(b, shard.name);
           return other != nullptr && *other == shard;
         });
}

void TakeAddress(const ShardConfig& from, ShardConfig* shard) {
  shard->address = from.address;
  shard->host = from.host;
  shard->port = from.port;
  shard->path = from.path;
}

// The file's list with the addresses that are no wish put right.
std::vector<ShardConfig> WishedShards(const std::vector<ShardConfig>& fact,
                                      const std::vector<SavedShard>& configured, const Config& file,
                                      std::vector<std::string>* warnings) {
  std::vector<ShardConfig> wished = file.shards;
  for (ShardConfig& shard : wished) {
    const ShardConfig* known = Find(fact, shard.name);
    const SavedShard* old = Find(configured, shard.name);
    const bool is_old = known != nullptr && old != nullptr && old->address == shard.address;
    if (!is_old || known->address == shard.address) continue;
    warnings->push_back("shard " + shard.name + " has been replaced and stays at " + known->address +
                        "; the file still has it at " + shard.address);
    TakeAddress(*known, &shard);
  }
  return wished;
}

// Names and weights are the fact's, and only credentials are taken.
std::vector<ShardConfig> UnchangedShards(const std::vector<ShardConfig>& fact, const Config& file) {
  std::vector<ShardConfig> shards;
  for (const ShardConfig& shard : fact) {
    const ShardConfig* named = Find(file.shards, shard.name);
    if (named == nullptr) continue;
    ShardConfig kept = *named;
    kept.weight = shard.weight;
    TakeAddress(shard, &kept);
    shards.push_back(std::move(kept));
  }
  return shards;
}

// `list` with the addresses of the file where these are in force, and the old ones where they are not: a
// house move that could not be taken is tried again.
std::vector<SavedShard> WithTakenAddresses(std::vector<SavedShard> list, const Config& file,
                                           const std::vector<SavedShard>& configured,
                                           const std::vector<ShardConfig>& in_force) {
  for (SavedShard& shard : list) {
    const ShardConfig* wished = Find(file.shards, shard.name);
    const ShardConfig* known = Find(in_force, shard.name);
    const SavedShard* old = Find(configured, shard.name);
    if (wished == nullptr || known == nullptr) continue;
    const bool taken = known->address == wished->address;
    shard.address = taken ? wished->address : old != nullptr ? old->address : known->address;
  }
  return list;
}

}  // namespace

Reconciled Reconcile(const Config& in_force, const std::vector<SavedShard>& configured, const Config& file) {
  Reconciled result;
  const std::vector<SavedShard> listed = ToSaved(file.shards);
  const bool is_wish = !SameList(listed, configured);
  Config wanted = file;
  wanted.shards = is_wish ? WishedShards(in_force.shards, configured, file, &result.warnings)
                          : UnchangedShards(in_force.shards, file);
  const config::ConfigDiff diff = config::Diff(in_force, wanted);
  result.config = config::ApplyLive(in_force, wanted, diff);
  result.notes = diff.Describe(in_force, wanted);
  for (std::string& line : diff.DescribeRefused()) result.warnings.push_back(std::move(line));
  if (is_wish) result.changes = ChangesBetween(result.config.shards, wanted.shards);
  result.configured_begun = WithTakenAddresses(listed, file, configured, result.config.shards);
  result.configured = result.changes.empty()
                          ? result.configured_begun
                          : WithTakenAddresses(configured, file, configured, result.config.shards);
  return result;
}

namespace {

// Users and passwords are never saved.
std::vector<ShardConfig> WithCredentials(const std::vector<SavedShard>& shards, const Config& file) {
  std::vector<ShardConfig> configs;
  for (const SavedShard& saved : shards) {
    ShardConfig shard;
    // The state has been checked when it was read.
    config::ParseShardAddress(saved.address, &shard);
    shard.name = saved.name;
    shard.weight = saved.weight;
    const ShardConfig* named = Find(file.shards, saved.name);
    shard.user = named != nullptr ? named->user : file.shard_auth.user;
    shard.password = named != nullptr ? named->password : file.shard_auth.password;
    configs.push_back(std::move(shard));
  }
  return configs;
}

// A ring that is built otherwise would look for nearly all keys elsewhere.
void KeepRing(const SavedState& saved, Config* config, std::vector<std::string>* warnings) {
  Config before = *config;
  before.ring = saved.ring;
  for (const config::Field* field : PlacementFields()) {
    if (config::SameValue(before, *config, *field)) continue;
    warnings->push_back("not taken: " + std::string(field->path) + " " + Quoted(Get(*config, *field)) +
                        ": the keys have been placed with " + Quoted(Get(before, *field)) +
                        ", and would be missed");
  }
  config->ring = saved.ring;
}

// The new address of a shard that has moved house since the file was last taken; null if it has not. Of a
// name that stands for two servers nobody can say which of them has.
const ShardConfig* NewHouse(const std::string& name, const SavedState& saved, const Config& file) {
  const auto& replaced = saved.move->replaced;
  if (std::find(replaced.begin(), replaced.end(), name) != replaced.end()) return nullptr;
  const ShardConfig* named = Find(file.shards, name);
  const SavedShard* old = Find(saved.configured, name);
  return named == nullptr || old == nullptr || old->address == named->address ? nullptr : named;
}

bool AddressesDiffer(const std::vector<SavedShard>& from, const std::vector<SavedShard>& to) {
  std::set<std::pair<std::string, std::string>> servers;
  for (const auto* list : {&from, &to}) {
    for (const SavedShard& shard : *list) servers.emplace(config::Lower(shard.address), shard.name);
  }
  return std::adjacent_find(servers.begin(), servers.end(),
                            [](const auto& a, const auto& b) { return a.first == b.first; }) == servers.end();
}

// Gives the shards of a move under way the addresses that the file has for them by now.
void FollowHouseMoves(const Config& file, SavedState* state, Beginning* beginning) {
  SavedState moved = *state;
  for (std::vector<SavedShard>* list : {&moved.shards, &moved.move->from, &moved.move->to}) {
    for (SavedShard& shard : *list) {
      if (const ShardConfig* house = NewHouse(shard.name, *state, file)) shard.address = house->address;
    }
  }
  for (SavedShard& shard : moved.configured) {
    if (const ShardConfig* house = NewHouse(shard.name, *state, file)) {
      beginning->notes.push_back("shard readdressed " + shard.name + " from " + shard.address + " to " +
                                 house->address);
      shard.address = house->address;
    }
  }
  if (AddressesDiffer(moved.move->from, moved.move->to)) {
    *state = std::move(moved);
  } else {
    beginning->notes.clear();
    beginning->warnings.push_back(
        "not taken: other addresses of shards, as two of the move under way would have the same one");
  }
}

void BeginResumed(Config served, const Config& file, Beginning* beginning) {
  SavedState& state = beginning->state;
  FollowHouseMoves(file, &state, beginning);
  beginning->resumed = {WithCredentials(state.move->from, file), WithCredentials(state.move->to, file)};
  served.shards = WithCredentials(state.shards, file);
  beginning->config = std::move(served);
  beginning->configured_begun = state.configured;
}

}  // namespace

Beginning Begin(const Config& file, const std::optional<SavedState>& saved, const std::string& proxy_id,
                const std::string& run_id) {
  Beginning beginning;
  SavedState& state = beginning.state;
  if (!saved) {
    state.proxy_id = proxy_id;
    state.run_id = run_id;
    state.ring = file.ring;
    state.shards = state.configured = beginning.configured_begun = ToSaved(file.shards);
    beginning.config = file;
    return beginning;
  }
  state = *saved;
  state.run_id = run_id;
  Config wanted = file;
  KeepRing(*saved, &wanted, &beginning.warnings);
  if (state.move) {
    BeginResumed(wanted, file, &beginning);
    return beginning;
  }
  Config fact = wanted;
  fact.shards = WithCredentials(state.shards, file);
  Reconciled reconciled = Reconcile(fact, state.configured, wanted);
  state.shards = ToSaved(reconciled.config.shards);
  state.configured = std::move(reconciled.configured);
  beginning.config = std::move(reconciled.config);
  beginning.changes = std::move(reconciled.changes);
  beginning.configured_begun = std::move(reconciled.configured_begun);
  beginning.notes = std::move(reconciled.notes);
  for (std::string& line : reconciled.warnings) beginning.warnings.push_back(std::move(line));
  return beginning;
}

}  // namespace ringway::proxy
