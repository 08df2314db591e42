#pragma once

#include <string_view>

namespace ringway::proxy {

// What can be wrong with a shard that was reached, to follow its name and address in a sentence. The
// connections of requests and the control thread's use the same words, so that a client's error and the log
// agree.
inline constexpr std::string_view kIsClusterNode = "is a Redis Cluster node; shards must be plain servers";
inline constexpr std::string_view kRefusesCredentials = "refuses the proxy's user or password";
inline constexpr std::string_view kWantsPassword = "wants a password";
inline constexpr std::string_view kSpeaksNoRedis = "does not speak Redis's protocol";
inline constexpr std::string_view kNoSuchDatabase = "has no such database";
inline constexpr std::string_view kDoesNotAnswer = "does not answer";
inline constexpr std::string_view kNameUnknown = "is unreachable: its name cannot be resolved";

}  // namespace ringway::proxy
