#include "proxy/control/ring_change.h"

#include <algorithm>
#include <set>
#include <utility>

#include "config/address.h"
#include "config/shard_reader.h"
#include "config/values.h"

namespace ringway::proxy {
namespace {

using config::Quoted;
using config::ShardConfig;
using Kind = RingChange::Kind;

constexpr std::string_view kGrammar =
    "a change is ADD name address [WEIGHT w], REMOVE name [FORCE], WEIGHT name w or REPLACE name address";

std::string_view Keyword(Kind kind) {
  switch (kind) {
    case Kind::kAdd:
      return "ADD";
    case Kind::kRemove:
      return "REMOVE";
    case Kind::kWeight:
      return "WEIGHT";
    case Kind::kReplace:
      return "REPLACE";
  }
  return {};
}

bool Is(std::string_view word, std::string_view keyword) {
  return word.size() == keyword.size() && config::Lower(word) == config::Lower(keyword);
}

std::optional<Kind> KindOf(std::string_view word) {
  for (const Kind kind : {Kind::kAdd, Kind::kRemove, Kind::kWeight, Kind::kReplace}) {
    if (Is(word, Keyword(kind))) return kind;
  }
  return std::nullopt;
}

// Reads the words from left to right; stops at the first mistake.
class Parser {
 public:
  explicit Parser(std::span<const std::string_view> words) : words_(words) {}

  ParsedRingChanges Parse() {
    if (words_.empty()) Fail("no change was given; " + std::string(kGrammar));
    while (error_.empty() && at_ < words_.size()) ReadChange();
    if (!error_.empty()) return {{}, std::move(error_)};
    return {std::move(changes_), ""};
  }

 private:
  void Fail(std::string error) {
    if (error_.empty()) error_ = std::move(error);
  }

  void ReadChange() {
    const std::optional<Kind> kind = KindOf(words_[at_]);
    if (!kind) {
      return Fail("expected ADD, REMOVE, WEIGHT or REPLACE, found " + Quoted(words_[at_]) + "; " +
                  std::string(kGrammar));
    }
    if (changes_.size() == kMaxRingChanges) {
      return Fail("more than " + std::to_string(kMaxRingChanges) + " changes at once");
    }
    ++at_;
    change_ = RingChange{.kind = *kind};
    ReadName();
    if (*kind == Kind::kAdd || *kind == Kind::kReplace) ReadAddress();
    if (*kind == Kind::kWeight || (*kind == Kind::kAdd && OptionFollows())) ReadWeight();
    if (*kind == Kind::kRemove && at_ < words_.size() && Is(words_[at_], "FORCE")) {
      change_.force = true;
      ++at_;
    }
    changes_.push_back(change_);
  }

  // Behind ADD's address: its own WEIGHT, or a change of another shard's.
  bool OptionFollows() {
    double weight;
    if (at_ >= words_.size() || !Is(words_[at_], "WEIGHT")) return false;
    const bool number = at_ + 1 < words_.size() && !config::ParseWeight(words_[at_ + 1], &weight);
    const bool ends = at_ + 2 >= words_.size() || KindOf(words_[at_ + 2]);
    // With neither a number nor a further word it can be no other change, so the number is what is missing.
    if (!ends || (!number && at_ + 2 < words_.size())) return false;
    ++at_;
    return true;
  }

  // The next word, or null with an error that says what is missing.
  const std::string_view* Take(std::string_view what) {
    if (!error_.empty()) return nullptr;
    if (at_ < words_.size()) return &words_[at_++];
    const std::string named = change_.name.empty() ? "" : " " + change_.name;
    Fail(std::string(Keyword(change_.kind)) + named + " has no " + std::string(what) + "; " +
         std::string(kGrammar));
    return nullptr;
  }

  void Complain(std::string_view what, const std::string& expected, std::string_view found) {
    const std::string named = change_.name.empty() ? "" : " " + change_.name;
    Fail(std::string(Keyword(change_.kind)) + named + ": " + std::string(what) + ": " + expected +
         ", found " + Quoted(found));
  }

  void ReadName() {
    const std::string_view* word = Take("name");
    if (word == nullptr) return;
    if (const auto expected = config::CheckShardName(*word)) return Complain("name", *expected, *word);
    change_.name = *word;
  }

  void ReadAddress() {
    const std::string_view* word = Take("address");
    if (word == nullptr) return;
    ShardConfig shard;
    if (const auto expected = config::ParseShardAddress(*word, &shard)) {
      return Complain("address", *expected, *word);
    }
    change_.address = shard.address;
  }

  void ReadWeight() {
    const std::string_view* word = Take("weight");
    if (word == nullptr) return;
    double weight = 0;
    if (const auto expected = config::ParseWeight(*word, &weight)) {
      return Complain("weight", *expected, *word);
    }
    change_.weight = weight;
  }

  const std::span<const std::string_view> words_;
  size_t at_ = 0;
  RingChange change_;
  std::vector<RingChange> changes_;
  std::string error_;
};

// Does the changes one by one to a copy of the shards.
class Changer {
 public:
  explicit Changer(const config::Config& config) : config_(config) {
    result_.shards = config.shards;
    for (const ShardConfig& shard : config.shards) taken_.insert(config::Lower(shard.address));
  }

  ChangedShards Apply(std::span<const RingChange> changes) {
    std::string error = changes.empty() ? "no change was given" : "";
    for (const RingChange& change : changes) {
      if (!error.empty()) break;
      if (!named_.insert(change.name).second) {
        error = "shard " + change.name + " appears in two changes";
      } else {
        error = Do(change);
      }
    }
    if (error.empty()) error = CheckRing();
    if (!error.empty()) return {{}, {}, {}, std::move(error)};
    return std::move(result_);
  }

 private:
  std::string Do(const RingChange& change) {
    const auto shard = std::find_if(result_.shards.begin(), result_.shards.end(),
                                    [&](const ShardConfig& other) { return other.name == change.name; });
    const bool known = shard != result_.shards.end();
    if (change.kind == Kind::kAdd) {
      return known ? "the name " + change.name + " is already taken, by " + shard->address : Add(change);
    }
    if (!known) return Unknown(change.name);
    if (change.kind == Kind::kWeight) return Reweigh(change, &*shard);
    if (change.kind == Kind::kReplace) return Replace(change, &*shard);
    if (result_.shards.size() == 1)
      return "shard " + change.name + " is the last one, and somebody has to own the keys";
    if (change.force) result_.given_up.push_back(change.name);
    // Its address stays taken: no server can give its keys and get others in one move.
    result_.shards.erase(shard);
    return "";
  }

  std::string Unknown(const std::string& name) const {
    std::vector<std::string_view> names;
    for (const ShardConfig& shard : config_.shards) names.push_back(shard.name);
    const std::string_view nearest = config::Nearest(name, names);
    return "there is no shard " + Quoted(name) +
           (nearest.empty() ? "" : "; did you mean " + std::string(nearest) + "?");
  }

  // Sets host, port and path along with the address.
  std::string MoveTo(const std::string& address, ShardConfig* shard) {
    ShardConfig moved = *shard;
    if (const auto expected = config::ParseShardAddress(address, &moved)) {
      return "address: " + *expected + ", found " + Quoted(address);
    }
    if (!taken_.insert(config::Lower(moved.address)).second) {
      return "the address " + moved.address + " is already that of " + OwnerOf(moved.address);
    }
    *shard = std::move(moved);
    return "";
  }

  std::string OwnerOf(const std::string& address) const {
    for (const std::vector<ShardConfig>* shards : {&config_.shards, &result_.shards}) {
      for (const ShardConfig& shard : *shards) {
        if (config::Lower(shard.address) == config::Lower(address)) return "shard " + shard.name;
      }
    }
    return "another shard";
  }

  std::string Add(const RingChange& change) {
    if (const auto expected = config::CheckShardName(change.name)) return "name: " + *expected;
    ShardConfig shard;
    shard.name = change.name;
    shard.user = config_.shard_auth.user;
    shard.password = config_.shard_auth.password;
    shard.weight = change.weight.value_or(1);
    if (std::string error = MoveTo(change.address, &shard); !error.empty()) return error;
    result_.shards.push_back(std::move(shard));
    return "";
  }

  static std::string Reweigh(const RingChange& change, ShardConfig* shard) {
    if (!change.weight) return "WEIGHT " + change.name + " has no weight";
    if (*change.weight == shard->weight) {
      return "nothing would change: shard " + change.name + " has weight " +
             config::FormatDecimal(shard->weight) + " already";
    }
    shard->weight = *change.weight;
    return "";
  }

  std::string Replace(const RingChange& change, ShardConfig* shard) {
    if (config::Lower(change.address) == config::Lower(shard->address)) {
      return "nothing would change: shard " + change.name + " is at " + shard->address + " already";
    }
    std::string error = MoveTo(change.address, shard);
    if (error.empty()) result_.replaced.push_back(change.name);
    return error;
  }

  // Asks the ring itself, so that what passes here can be built.
  std::string CheckRing() const {
    std::vector<ring::Member> members;
    for (const ShardConfig& shard : result_.shards) {
      members.push_back({shard.name, shard.address, shard.weight});
    }
    return ring::CheckRing(members, config_.ring).value_or("");
  }

  const config::Config& config_;
  ChangedShards result_;
  std::set<std::string> taken_;  // addresses in lower case, those of removed and replaced shards as well
  std::set<std::string> named_;
};

}  // namespace

std::string RingChange::ToString() const {
  std::string text = std::string(Keyword(kind)) + " " + name;
  if (!address.empty()) text += " " + address;
  if (weight) text += (kind == Kind::kAdd ? " WEIGHT " : " ") + config::FormatDecimal(*weight);
  if (force) text += " FORCE";
  return text;
}

std::string ToString(std::span<const RingChange> changes) {
  std::string text;
  for (const RingChange& change : changes) text += (text.empty() ? "" : " ") + change.ToString();
  return text;
}

ParsedRingChanges ParseRingChanges(std::span<const std::string_view> words) { return Parser(words).Parse(); }

ParsedRingChanges ParseOneRingChange(std::span<const std::string_view> words) {
  ParsedRingChanges parsed = ParseRingChanges(words);
  if (parsed.changes.size() <= 1) return parsed;
  return {{}, "expected a single change; RING APPLY takes several"};
}

ChangedShards ApplyRingChanges(const config::Config& config, std::span<const RingChange> changes) {
  return Changer(config).Apply(changes);
}

std::vector<RingChange> ChangesBetween(std::span<const ShardConfig> before,
                                       std::span<const ShardConfig> after) {
  const auto find = [](std::span<const ShardConfig> shards, const std::string& name) -> const ShardConfig* {
    const auto found = std::find_if(shards.begin(), shards.end(),
                                    [&name](const ShardConfig& shard) { return shard.name == name; });
    return found == shards.end() ? nullptr : &*found;
  };
  std::vector<RingChange> changes;
  for (const ShardConfig& shard : before) {
    if (find(after, shard.name) == nullptr) changes.push_back({.kind = Kind::kRemove, .name = shard.name});
  }
  for (const ShardConfig& shard : after) {
    const ShardConfig* old = find(before, shard.name);
    if (old == nullptr) {
      changes.push_back(
          {.kind = Kind::kAdd, .name = shard.name, .address = shard.address, .weight = shard.weight});
    } else if (old->weight != shard.weight) {
      changes.push_back({.kind = Kind::kWeight, .name = shard.name, .weight = shard.weight});
    }
  }
  return changes;
}

}  // namespace ringway::proxy
