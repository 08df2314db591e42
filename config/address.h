// Addresses as people write them: "host:port", "[v6]:port", "unix:/path". Nothing is looked up here.
#ifndef RINGWAY_CONFIG_ADDRESS_H_
#define RINGWAY_CONFIG_ADDRESS_H_

#include <optional>
#include <string>
#include <string_view>

#include "config/config.h"

namespace ringway::config {

// sun_path holds 108 bytes with its final NUL.
inline constexpr size_t kMaxSocketPathBytes = 107;
inline constexpr size_t kMaxHostBytes = 253;

struct ParsedAddress {
  ListenAddress address;  // only when error is empty
  std::string error;      // what was expected
};

// A place to listen: "*" and "" are refused, since 0.0.0.0 and [::] say it plainly; port 0 is a free port.
ParsedAddress ParseListenAddress(std::string_view text);

// A server to connect to: the same, but the port is 1 to 65535. Fills address, host, port and path of
// `shard`. Gives what was expected when the text is refused.
std::optional<std::string> ParseShardAddress(std::string_view text, ShardConfig* shard);

// Names show up in INFO lines and flags, so they hold 1 to 128 printable ASCII characters without blank , =
// or *. Gives what was expected when the name is refused.
std::optional<std::string> CheckShardName(std::string_view name);

}  // namespace ringway::config

#endif  // RINGWAY_CONFIG_ADDRESS_H_
