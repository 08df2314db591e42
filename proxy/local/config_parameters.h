#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/config_fields.h"
#include "protocol/request_view.h"

namespace ringway::proxy {

using Parameters = std::vector<std::pair<std::string, std::string>>;  // names and values

// What CONFIG GET finds.
struct FoundParameters {
  Parameters own;
  bool ask_shard = false;  // a pattern, or a name that is none of the proxy's own
};

// The proxy's own parameters that CONFIG GET's arguments name or match, under the path and under Redis's
// name. A plain name is given back as it was written, each parameter once. Secrets are hidden.
FoundParameters FindParameters(const config::Config& config, const protocol::RequestView& request);

// Whether a shard's parameter is a password, which nobody is shown.
bool IsSecretOfShard(std::string_view name);

// CONFIG SET, split into what the proxy sets itself and what all shards are to set; SLOWLOG's parameters are
// both.
struct ConfigChange {
  Parameters own;
  Parameters for_shards;
};

// The error if any of the pairs is refused; then none may be set.
std::optional<std::string> ParseConfigSet(const config::Config& config, const protocol::RequestView& request,
                                          ConfigChange* change);

// Takes what ParseConfigSet has let through.
void SetParameters(const Parameters& own, config::Config* config);

}  // namespace ringway::proxy
