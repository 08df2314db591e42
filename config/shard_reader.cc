#include "config/shard_reader.h"

#include <map>
#include <utility>
#include <vector>

#include "config/address.h"
#include "config/field_values.h"
#include "config/values.h"
#include "ring/ring_check.h"

namespace ringway::config {

namespace {

const std::vector<std::string_view>& ShardKeys() {
  static const std::vector<std::string_view> keys = {"name", "address",  "weight",
                                                     "user", "password", "password_file"};
  return keys;
}

std::optional<std::string> SetText(std::string_view text, std::string* target) {
  if (text.size() > kMaxTextBytes) return "expected at most " + std::to_string(kMaxTextBytes) + " bytes";
  *target = text;
  return std::nullopt;
}

// Reads one entry of the list.
class ShardReader {
 public:
  ShardReader(std::string_view file_name, const SecretReader& read_secret, ConfigDraft* draft)
      : file_name_(file_name), read_secret_(read_secret), draft_(draft) {}

  void Read(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::kMap) {
      Complain(node.line, "shards: expected {name: ..., address: host:port}, found " + node.Describe());
      return;
    }
    ShardConfig shard;
    std::map<std::string, int> seen;
    for (size_t i = 0; i + 1 < node.items.size(); i += 2)
      ReadEntry(node.items[i], node.items[i + 1], &seen, &shard);
    for (const char* needed : {"name", "address"}) {
      if (seen.count(needed) == 0) Complain(node.line, std::string("this shard has no ") + needed);
    }
    if (const auto file = seen.find("password_file"); file != seen.end() && seen.count("password") != 0) {
      Complain(file->second, "password and password_file are both set for this shard; expected one");
    }
    // Kept even when something else is wrong with it, so that a second shard of its name is noticed.
    if (!shard.name.empty() && !shard.address.empty()) {
      draft_->config.shards.push_back(std::move(shard));
      draft_->shard_places.push_back(Where(node.line));
    }
  }

 private:
  std::string Where(int line) const { return file_name_ + ":" + std::to_string(line); }
  void Complain(int line, std::string what) { draft_->problems.push_back({Where(line), std::move(what)}); }

  void ReadEntry(const YamlNode& key, const YamlNode& value, std::map<std::string, int>* seen,
                 ShardConfig* shard) {
    if (key.kind != YamlNode::Kind::kScalar) {
      Complain(key.line, "expected the name of an option of a shard, found " + key.Describe());
      return;
    }
    const auto [first, is_new] = seen->emplace(key.text, key.line);
    if (!is_new) {
      Complain(key.line,
               key.text + " is already set for this shard in line " + std::to_string(first->second));
      return;
    }
    if (value.kind != YamlNode::Kind::kScalar) {
      Complain(value.line, key.text + ": expected a single value, found " + value.Describe());
      return;
    }
    const auto error = Set(key.text, value, shard);
    if (!error) return;
    if (*error == kUnknownKey) {
      const std::string_view nearest = Nearest(key.text, ShardKeys());
      Complain(key.line, "a shard has no option " + Quoted(key.text) +
                             (nearest.empty() ? "" : "; did you mean " + std::string(nearest) + "?"));
    } else {
      const bool hidden = key.text == "password";
      Complain(value.line, key.text + ": " + *error + (hidden ? "" : ", found " + Quoted(value.text)));
    }
  }

  std::optional<std::string> Set(std::string_view key, const YamlNode& value, ShardConfig* shard) {
    const std::string_view text = value.text;
    if (key == "name") {
      if (auto error = CheckShardName(text)) return error;
      shard->name = text;
      return std::nullopt;
    }
    if (key == "address") return ParseShardAddress(text, shard);
    if (key == "weight") return ParseWeight(text, &shard->weight);
    if (key == "user") return SetText(text, &shard->user);
    if (key == "password") return SetText(text, &shard->password);
    if (key == "password_file") return ReadPassword(value, shard);
    return std::string(kUnknownKey);
  }

  std::optional<std::string> ReadPassword(const YamlNode& value, ShardConfig* shard) {
    const Result<std::string> secret = read_secret_(value.text);
    for (const Problem& warning : secret.warnings()) draft_->warnings.push_back(warning);
    if (!secret.ok()) return secret.problems().front().what;
    return SetText(secret.value(), &shard->password);
  }

  static constexpr std::string_view kUnknownKey = "?";

  const std::string file_name_;
  const SecretReader& read_secret_;
  ConfigDraft* draft_;
};

}  // namespace

std::optional<std::string> ParseWeight(std::string_view text, double* weight) {
  const auto number = ParseDecimal(text);
  if (!number || *number < 0 || *number > ring::kMaxWeight) {
    return "expected a number from 0 to " + FormatDecimal(ring::kMaxWeight);
  }
  *weight = *number + 0.0;  // -0 becomes 0
  return std::nullopt;
}

void ReadShards(const YamlNode& list, std::string_view file_name, const SecretReader& read_secret,
                ConfigDraft* draft) {
  if (list.kind == YamlNode::Kind::kNull) return;
  if (list.kind != YamlNode::Kind::kSequence) {
    draft->problems.push_back({std::string(file_name) + ":" + std::to_string(list.line),
                               "shards: expected a list of shards, found " + list.Describe()});
    return;
  }
  ShardReader reader(file_name, read_secret, draft);
  for (const YamlNode& item : list.items) reader.Read(item);
}

void ReadShardFlag(std::string_view text, ConfigDraft* draft) {
  constexpr std::string_view kFlag = "--shard";
  const auto complain = [&](const std::string& what) {
    draft->problems.push_back({std::string(kFlag), what + ", found " + Quoted(text)});
  };
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return complain("expected name=address or name=address*weight");
  ShardConfig shard;
  shard.name = text.substr(0, equals);
  if (const auto error = CheckShardName(shard.name)) return complain(*error);
  std::string_view address = text.substr(equals + 1);
  if (const size_t star = address.rfind('*'); star != std::string_view::npos) {
    if (const auto error = ParseWeight(address.substr(star + 1), &shard.weight))
      return complain("weight: " + *error);
    address = address.substr(0, star);
  }
  if (const auto error = ParseShardAddress(address, &shard)) return complain(*error);
  draft->config.shards.push_back(std::move(shard));
  draft->shard_places.emplace_back(kFlag);
}

}  // namespace ringway::config
