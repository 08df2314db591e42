#pragma once

#include <string_view>

namespace ringway::proxy {

// The Redis whose commands and replies the proxy knows, to the letter. Clients take HELLO's version for what
// they may ask, so it does not change with the shards.
inline constexpr std::string_view kRedisVersion = "7.0.15";

}  // namespace ringway::proxy
