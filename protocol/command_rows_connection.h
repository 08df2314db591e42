// The commands of connections and cluster mode, one row each; a container's subcommands follow it.
// How to read a row: command_row_source.h.
#pragma once

#include "protocol/command_row_source.h"

namespace ringway::protocol::rows {

// clang-format off

inline constexpr RowSource kConnectionRows[] = {
    Row("auth", -2, kNoScript | kLoading | kStale | kFast | kNoAuth | kAllowBusy).Local(),
    Row("client", -2, 0).Local().NotInGroupCategory(),
    Row("client|caching", 3, kNoScript | kLoading | kStale).NotServed(kForTracking),
    Row("client|getname", 2, kNoScript | kLoading | kStale).Local(),
    Row("client|getredir", 2, kNoScript | kLoading | kStale).Local(),
    Row("client|help", 2, kLoading | kStale).Local(),
    Row("client|id", 2, kNoScript | kLoading | kStale).Local(),
    Row("client|info", 2, kNoScript | kLoading | kStale).Local().Tips("nondeterministic_output"),
    Row("client|kill", -3, kAdmin | kNoScript | kLoading | kStale).Local(),
    Row("client|list", -2, kAdmin | kNoScript | kLoading | kStale).Local().Tips("nondeterministic_output"),
    Row("client|no-evict", 3, kAdmin | kNoScript | kLoading | kStale).Local(),
    Row("client|pause", -3, kAdmin | kNoScript | kLoading | kStale).Local(),
    Row("client|reply", 3, kNoScript | kLoading | kStale).Local(),
    Row("client|setname", 3, kNoScript | kLoading | kStale).Local(),
    // Invalidation messages need connections of their own to the shards.
    Row("client|tracking", -3, kNoScript | kLoading | kStale).NotServed(kForTracking),
    Row("client|trackinginfo", 2, kNoScript | kLoading | kStale).Local(),
    Row("client|unblock", -3, kAdmin | kNoScript | kLoading | kStale).Local(),
    Row("client|unpause", 2, kAdmin | kNoScript | kLoading | kStale).Local(),
    Row("echo", 2, kLoading | kStale | kFast).Local(),
    Row("hello", -1, kNoScript | kLoading | kStale | kFast | kNoAuth | kAllowBusy).Local(),
    // Answered by the proxy: it says that the proxy lives; the health of shards is in INFO.
    Row("ping", -1, kFast).Local().Tips("request_policy:all_shards response_policy:all_succeeded"),
    Row("quit", -1, kNoScript | kLoading | kStale | kFast | kNoAuth | kAllowBusy).Local(),
    Row("reset", 1, kNoScript | kLoading | kStale | kFast | kNoAuth | kAllowBusy).Local(),
    Row("select", 2, kLoading | kStale | kFast).Local(),
};

inline constexpr RowSource kClusterRows[] = {
    // ASKING, READONLY and READWRITE are answered as by a server without cluster support.
    Row("asking", 1, kFast).Local().Acl(kAclConnection),
    // Answered as by a server without cluster support.
    Row("cluster", -2, 0).Local(),
    Row("cluster|addslots", -3, kAdmin | kStale | kNoAsyncLoading).Local(),
    Row("cluster|addslotsrange", -4, kAdmin | kStale | kNoAsyncLoading).Local(),
    Row("cluster|bumpepoch", 2, kAdmin | kStale | kNoAsyncLoading).Local().Tips("nondeterministic_output"),
    Row("cluster|count-failure-reports", 3, kAdmin | kStale).Local().Tips("nondeterministic_output"),
    Row("cluster|countkeysinslot", 3, kStale).Local(),
    Row("cluster|delslots", -3, kAdmin | kStale | kNoAsyncLoading).Local(),
    Row("cluster|delslotsrange", -4, kAdmin | kStale | kNoAsyncLoading).Local(),
    Row("cluster|failover", -2, kAdmin | kStale | kNoAsyncLoading).Local(),
    Row("cluster|flushslots", 2, kAdmin | kStale | kNoAsyncLoading).Local(),
    Row("cluster|forget", 3, kAdmin | kStale | kNoAsyncLoading).Local(),
    Row("cluster|getkeysinslot", 4, kStale).Local().Tips("nondeterministic_output"),
    Row("cluster|help", 2, kLoading | kStale).Local(),
    Row("cluster|info", 2, kStale).Local().Tips("nondeterministic_output"),
    Row("cluster|keyslot", 3, kStale).Local(),
    Row("cluster|links", 2, kStale).Local().Tips("nondeterministic_output"),
    Row("cluster|meet", -4, kAdmin | kStale | kNoAsyncLoading).Local(),
    Row("cluster|myid", 2, kStale).Local(),
    Row("cluster|nodes", 2, kStale).Local().Tips("nondeterministic_output"),
    Row("cluster|replicas", 3, kAdmin | kStale).Local().Tips("nondeterministic_output"),
    Row("cluster|replicate", 3, kAdmin | kStale | kNoAsyncLoading).Local(),
    Row("cluster|reset", -2, kAdmin | kNoScript | kStale).Local(),
    Row("cluster|saveconfig", 2, kAdmin | kStale | kNoAsyncLoading).Local(),
    Row("cluster|set-config-epoch", 3, kAdmin | kStale | kNoAsyncLoading).Local(),
    Row("cluster|setslot", -4, kAdmin | kStale | kNoAsyncLoading).Local(),
    Row("cluster|shards", 2, kStale).Local().Tips("nondeterministic_output"),
    Row("cluster|slaves", 3, kAdmin | kStale).Local().Tips("nondeterministic_output"),
    Row("cluster|slots", 2, kStale).Local().Tips("nondeterministic_output"),
    Row("readonly", 1, kLoading | kStale | kFast).Local().Acl(kAclConnection),
    Row("readwrite", 1, kLoading | kStale | kFast).Local().Acl(kAclConnection),
};

// clang-format on
}  // namespace ringway::protocol::rows
