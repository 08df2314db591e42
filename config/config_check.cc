#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "config/config_file.h"
#include "config/values.h"
#include "ring/ring_check.h"

namespace ringway::config {

namespace {

// Names decide positions and addresses hold the keys: neither can be there twice.
void CheckDuplicates(ConfigDraft* draft) {
  std::map<std::string, std::string> names;
  std::map<std::string, std::string> addresses;
  const auto& shards = draft->config.shards;
  for (size_t i = 0; i < shards.size(); ++i) {
    const std::string& place = draft->shard_places[i];
    const auto [name, new_name] = names.emplace(shards[i].name, place);
    if (!new_name) {
      draft->problems.push_back(
          {place, "the name " + Quoted(shards[i].name) + " is already taken at " + name->second});
    }
    const auto [address, new_address] = addresses.emplace(Lower(shards[i].address), place);
    if (!new_address) {
      draft->problems.push_back({place, "the address " + Quoted(shards[i].address) +
                                            " is already that of the shard at " + address->second});
    }
  }
}

void CheckShards(ConfigDraft* draft) {
  const Config& config = draft->config;
  if (config.shards.empty() && config.dev_shards == 0) {
    // Shards that were there but hold mistakes have been complained about.
    if (draft->problems.empty()) {
      draft->problems.push_back(
          {draft->shards_where,
           "no shards: expected a list under shards:, --shard name=address or --dev-shards N"});
    }
    return;
  }
  if (!config.shards.empty() && config.dev_shards > 0) {
    draft->problems.push_back(
        {draft->shards_where, "shards and dev_shards are both given; expected one of them"});
  }
  if (config.shards.size() > ring::kMaxMembers) {
    draft->problems.push_back({draft->shards_where, "expected at most " + std::to_string(ring::kMaxMembers) +
                                                        " shards, found " +
                                                        std::to_string(config.shards.size())});
  }
}

// Asks the ring itself, so that what passes here can be built.
void CheckRingOptions(ConfigDraft* draft) {
  const Config& config = draft->config;
  std::vector<ring::Member> members;
  for (const ShardConfig& shard : config.shards) members.push_back({shard.name, shard.address, shard.weight});
  for (int64_t i = 1; i <= config.dev_shards && config.shards.empty(); ++i) {
    members.push_back({"dev" + std::to_string(i), "127.0.0.1:" + std::to_string(i), 1});
  }
  if (const auto error = ring::CheckRing(members, config.ring)) {
    draft->problems.push_back(
        {draft->ring_where.empty() ? draft->shards_where : draft->ring_where, "ring: " + *error});
  }
}

// Servers that are new at each start hold nothing that a state could speak of.
void ForgetStateOfDevShards(ConfigDraft* draft) {
  Config& config = draft->config;
  if (config.dev_shards == 0 || config.state_file.empty()) return;
  draft->warnings.push_back({"", "state_file is not used with dev_shards, which are new at each start"});
  config.state_file.clear();
}

void FillShardAuth(Config* config) {
  for (ShardConfig& shard : config->shards) {
    if (!shard.user.empty() || !shard.password.empty()) continue;
    shard.user = config->shard_auth.user;
    shard.password = config->shard_auth.password;
  }
}

void CheckAuth(ConfigDraft* draft) {
  const ShardAuth& auth = draft->config.shard_auth;
  if (!auth.user.empty() && auth.password.empty()) {
    draft->problems.push_back({draft->shards_where, "shard_auth has a user but no password"});
  }
  for (size_t i = 0; i < draft->config.shards.size(); ++i) {
    const ShardConfig& shard = draft->config.shards[i];
    if (!shard.user.empty() && shard.password.empty()) {
      draft->problems.push_back({draft->shard_places[i], "this shard has a user but no password"});
    }
  }
}

// By line where the places are of one file, so that a person walks through it once.
void SortByLine(Problems* problems) {
  const auto line = [](const Problem& problem) {
    const size_t colon = problem.where.rfind(':');
    if (colon == std::string::npos) return int64_t{0};
    return ParseInteger(std::string_view(problem.where).substr(colon + 1)).value_or(0);
  };
  // Flags have no line; they follow the file.
  std::stable_sort(problems->begin(), problems->end(), [&line](const Problem& a, const Problem& b) {
    const int64_t left = line(a);
    const int64_t right = line(b);
    return left != 0 && (right == 0 || left < right);
  });
}

}  // namespace

Result<Config> FinishDraft(ConfigDraft draft) {
  ring::RingOptions& ring = draft.config.ring;
  const bool ring_own = ring.distribution == ring::Distribution::kRing;
  // Twemproxy's default, so that its users need to name the distribution only.
  if (!ring_own && !draft.hash_was_set) ring.hash = ring::HashFunction::kFnv1a_64;

  CheckShards(&draft);
  CheckDuplicates(&draft);
  CheckAuth(&draft);
  // With mistakes in the list, the ring would complain about what is only left out.
  if (draft.problems.empty()) CheckRingOptions(&draft);
  if (const auto warning = ring::RingWarning(draft.config.ring)) {
    draft.warnings.push_back({draft.ring_where, "ring: " + *warning});
  }
  if (draft.config.http) {
    draft.warnings.push_back(
        {"", "http is not served in this version: nothing listens on " + draft.config.http->ToString()});
  }
  ForgetStateOfDevShards(&draft);
  SortByLine(&draft.problems);
  if (!draft.problems.empty())
    return Result<Config>::Failure(std::move(draft.problems), std::move(draft.warnings));
  FillShardAuth(&draft.config);
  return Result<Config>(std::move(draft.config), std::move(draft.warnings));
}

}  // namespace ringway::config
