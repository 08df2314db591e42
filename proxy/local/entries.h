#pragma once

// The handlers of each file in this folder, as rows.

#include <span>
#include <string_view>
#include <vector>

#include "proxy/local/local_commands.h"

namespace ringway::proxy {

std::span<const LocalEntry> ClientAdminCommands();
std::span<const LocalEntry> ClientCommands();
std::span<const OwnCommand> OwnClientCommands();  // CLIENT's subcommands of later servers
std::span<const LocalEntry> CommandCommands();
std::span<const LocalEntry> ConfigCommands();
std::span<const LocalEntry> ConnectionCommands();  // PING, ECHO, AUTH, HELLO, SELECT, RESET, QUIT
std::span<const LocalEntry> InfoCommands();
std::span<const OwnCommand> OwnRingCommands();  // RING
RequestHandler::Outcome RingPlan(LocalCall& call);
RequestHandler::Outcome RingHotKeys(LocalCall& call);
// The names of the shards on which the buckets of a hot key are, its own first; none if it is not hot. As
// long as the topology lives.
std::vector<std::string_view> ShardsOfBuckets(LocalCall& call, const Topology& topology,
                                              std::string_view key);
// RING's subcommands that change the shards.
RequestHandler::Outcome RingApply(LocalCall& call);
RequestHandler::Outcome RingChangeOne(LocalCall& call);
RequestHandler::Outcome RingStatus(LocalCall& call);
RequestHandler::Outcome RingWait(LocalCall& call);
RequestHandler::Outcome RingPause(LocalCall& call);
RequestHandler::Outcome RingResume(LocalCall& call);
RequestHandler::Outcome RingAbort(LocalCall& call);
RequestHandler::Outcome RingThrottle(LocalCall& call);
std::span<const LocalEntry> LatencyCommands();
std::span<const LocalEntry> SlowlogCommands();
std::span<const LocalEntry> ServerCommands();  // TIME, LOLWUT, CLUSTER, ...

}  // namespace ringway::proxy
