#include "proxy/info/shard_info.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace ringway::proxy {
namespace {

template <typename T>
std::optional<T> ParseUnsigned(std::string_view text) {
  T value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// "db12" is database 12.
std::optional<uint32_t> ParseDatabase(std::string_view field) {
  if (!field.starts_with("db")) return std::nullopt;
  return ParseUnsigned<uint32_t>(field.substr(2));
}

// "keys=3,expires=1,avg_ttl=900"; names it does not know are passed over.
DbFacts ParseDbFacts(std::string_view text) {
  DbFacts facts;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(','));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = pair.substr(0, equals);
    const uint64_t value = ParseUnsigned<uint64_t>(pair.substr(equals + 1)).value_or(0);
    if (name == "keys") facts.keys = value;
    if (name == "expires") facts.expires = value;
    if (name == "avg_ttl") facts.avg_ttl = value;
  }
  return facts;
}

}  // namespace

ShardInfo ShardInfo::Parse(std::string_view text) {
  ShardInfo info;
  text = text.substr(0, kMaxBytes);
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    info.TakeLine(line);
  }
  return info;
}

void ShardInfo::TakeLine(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 || line.size() > kMaxLineBytes) return;
  const std::string_view field = line.substr(0, colon);
  const std::string_view value = line.substr(colon + 1);
  if (const auto database = ParseDatabase(field)) {
    databases_[*database] = ParseDbFacts(value);
  } else {
    fields_[std::string(field)] = std::string(value);
  }
}

std::string_view ShardInfo::Text(std::string_view field) const {
  const auto found = fields_.find(field);
  return found == fields_.end() ? std::string_view() : std::string_view(found->second);
}

uint64_t ShardInfo::Number(std::string_view field) const {
  return ParseUnsigned<uint64_t>(Text(field)).value_or(0);
}

uint64_t ShardInfo::keys() const {
  uint64_t keys = 0;
  for (const auto& [number, facts] : databases_) keys += facts.keys;
  return keys;
}

}  // namespace ringway::proxy
