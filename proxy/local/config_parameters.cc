#include "proxy/local/config_parameters.h"

#include <algorithm>

#include "protocol/error_replies.h"
#include "protocol/glob.h"
#include "proxy/check.h"
#include "proxy/words.h"

namespace ringway::proxy {
namespace {

using config::Field;
using protocol::RequestView;

bool Holds(const Parameters& parameters, std::string_view name) {
  return std::any_of(parameters.begin(), parameters.end(),
                     [name](const auto& item) { return item.first == name; });
}

void AddOnce(const config::Config& config, const Field& field, std::string_view name, Parameters* found) {
  if (Holds(*found, name)) return;
  found->emplace_back(name, config::GetAs(config, field, LowerCase(name)));
}

std::string SetError(std::string_view name, std::string_view why) {
  return "ERR CONFIG SET failed (possibly related to argument '" + std::string(UpToNul(name)) + "') - " +
         std::string(why);
}

// SLOWLOG shows what the shards have logged, so they must know what is slow.
bool IsForShardsToo(const Field& field) { return field.path.starts_with("slowlog."); }

// Why CONFIG SET cannot change this parameter at all.
std::optional<std::string_view> WhyFixed(const Field& field) {
  switch (field.when) {
    case config::When::kLive:
      return std::nullopt;
    case config::When::kReload:
      return "can't set a parameter that changes by a reload only";
    case config::When::kStart:
      break;
  }
  return "can't set immutable config";
}

}  // namespace

FoundParameters FindParameters(const config::Config& config, const RequestView& request) {
  FoundParameters found;
  for (size_t i = 2; i < request.size(); ++i) {
    const std::string_view pattern = request[i];
    if (pattern.find_first_of("[*?") == std::string_view::npos) {
      if (const Field* field = config::FindField(pattern)) {
        AddOnce(config, *field, pattern, &found.own);
      } else {
        found.ask_shard = true;
      }
      continue;
    }
    found.ask_shard = true;
    for (const Field& field : config::Fields()) {
      for (const std::string_view name : {field.path, field.redis_name}) {
        if (!name.empty() && protocol::GlobMatch(pattern, name, protocol::GlobCase::kIgnore)) {
          AddOnce(config, field, name, &found.own);
        }
      }
    }
  }
  return found;
}

bool IsSecretOfShard(std::string_view name) {
  const std::string lower = LowerCase(name);
  return lower.ends_with("pass") || lower == "masterauth";
}

std::optional<std::string> ParseConfigSet(const config::Config& config, const RequestView& request,
                                          ConfigChange* change) {
  if (request.size() % 2 != 0) return std::string(protocol::kSyntaxError);
  std::vector<const Field*> seen;
  for (size_t i = 2; i < request.size(); i += 2) {
    const Field* field = config::FindField(request[i]);
    if (field == nullptr) {
      change->for_shards.emplace_back(request[i], request[i + 1]);
      continue;
    }
    if (const auto why = WhyFixed(*field)) return SetError(request[i], *why);
    if (std::find(seen.begin(), seen.end(), field) != seen.end()) {
      return SetError(request[i], "duplicate parameter");
    }
    seen.push_back(field);
    change->own.emplace_back(LowerCase(request[i]), request[i + 1]);
  }
  // Names first, then values, as Redis goes about it.
  config::Config changed = config;
  for (size_t i = 0; i < change->own.size(); ++i) {
    const auto& [name, value] = change->own[i];
    if (const auto why = config::SetAs(&changed, *seen[i], name, value)) return SetError(name, *why);
    if (IsForShardsToo(*seen[i])) {
      const std::string_view shards_name = seen[i]->redis_name;
      change->for_shards.emplace_back(shards_name, config::GetAs(changed, *seen[i], shards_name));
    }
  }
  return std::nullopt;
}

void SetParameters(const Parameters& own, config::Config* config) {
  for (const auto& [name, value] : own) {
    const auto refused = config::SetAs(config, *config::FindField(name), name, value);
    RINGWAY_CHECK(!refused.has_value());
  }
}

}  // namespace ringway::proxy
