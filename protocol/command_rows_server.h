// The commands of the server itself, one row each; a container's subcommands follow it.
// How to read a row: command_row_source.h.
#pragma once

#include "protocol/command_row_source.h"

namespace ringway::protocol::rows {

// clang-format off

inline constexpr RowSource kServerRows[] = {
    Row("acl", -2, 0).Local(),
    // Equal on every server of a version.
    Row("acl|cat", -2, kNoScript | kLoading | kStale).AnyShard(),
    Row("acl|deluser", -3, kAdmin | kNoScript | kLoading | kStale).NotServed(kForUsers),
    Row("acl|dryrun", -4, kAdmin | kNoScript | kLoading | kStale).NotServed(kForUsers),
    Row("acl|genpass", -2, kNoScript | kLoading | kStale).AnyShard(),
    Row("acl|getuser", 3, kAdmin | kNoScript | kLoading | kStale).NotServed(kForUsers),
    Row("acl|help", 2, kLoading | kStale).AnyShard(),
    Row("acl|list", 2, kAdmin | kNoScript | kLoading | kStale).NotServed(kForUsers),
    Row("acl|load", 2, kAdmin | kNoScript | kLoading | kStale).NotServed(kForUsers),
    Row("acl|log", -2, kAdmin | kNoScript | kLoading | kStale).NotServed(kForUsers),
    Row("acl|save", 2, kAdmin | kNoScript | kLoading | kStale).NotServed(kForUsers),
    Row("acl|setuser", -3, kAdmin | kNoScript | kLoading | kStale).NotServed(kForUsers),
    Row("acl|users", 2, kAdmin | kNoScript | kLoading | kStale).NotServed(kForUsers),
    Row("acl|whoami", 2, kNoScript | kLoading | kStale).Local(),
    Row("bgrewriteaof", 1, kAdmin | kNoScript | kNoAsyncLoading).AllShards(kAllSucceeded),
    Row("bgsave", -1, kAdmin | kNoScript | kNoAsyncLoading).AllShards(kAllSucceeded),
    Row("command", -1, kLoading | kStale).Local().Acl(kAclConnection).Tips("nondeterministic_output_order"),
    Row("command|count", 2, kLoading | kStale).Local().Acl(kAclConnection),
    // Long texts which every shard carries; the other subcommands are answered from this table.
    Row("command|docs", -2, kLoading | kStale).AnyShard().Acl(kAclConnection).Tips("nondeterministic_output_order"),
    Row("command|getkeys", -4, kLoading | kStale).Local().Acl(kAclConnection),
    Row("command|getkeysandflags", -4, kLoading | kStale).Local().Acl(kAclConnection),
    Row("command|help", 2, kLoading | kStale).Local().Acl(kAclConnection),
    Row("command|info", -2, kLoading | kStale).Local().Acl(kAclConnection).Tips("nondeterministic_output_order"),
    Row("command|list", -2, kLoading | kStale).Local().Acl(kAclConnection).Tips("nondeterministic_output_order"),
    // The proxy's own parameters, and those of the shards for what it does not have.
    Row("config", -2, 0).Local(),
    Row("config|get", -3, kAdmin | kNoScript | kLoading | kStale).Local(),
    Row("config|help", 2, kLoading | kStale).Local(),
    Row("config|resetstat", 2, kAdmin | kNoScript | kLoading | kStale).Local(),
    Row("config|rewrite", 2, kAdmin | kNoScript | kLoading | kStale).Local(),
    Row("config|set", -4, kAdmin | kNoScript | kLoading | kStale).Local().Tips("request_policy:all_nodes response_policy:all_succeeded"),
    Row("dbsize", 1, kReadonly | kFast).AllShards(kSum).Acl(kAclKeyspace).Tips("request_policy:all_shards response_policy:agg_sum"),
    Row("debug", -2, kAdmin | kNoScript | kLoading | kStale | kProtected).NotServed(kForDebug),
    Row("failover", -1, kAdmin | kNoScript | kStale).NotServed(kForReplication),
    Row("flushall", -1, kWrite).AllShards(kAllSucceeded).Acl(kAclDangerous | kAclKeyspace).Tips("request_policy:all_shards response_policy:all_succeeded"),
    Row("flushdb", -1, kWrite).AllShards(kAllSucceeded).Acl(kAclDangerous | kAclKeyspace).Tips("request_policy:all_shards response_policy:all_succeeded"),
    // One page for the whole, with what must be summed over the shards summed.
    Row("info", -1, kLoading | kStale).Local().Acl(kAclDangerous).Tips("nondeterministic_output request_policy:all_shards response_policy:special"),
    // The moment up to which everything is saved, hence the earliest of all shards.
    Row("lastsave", 1, kLoading | kStale | kFast).AllShards(kMin).Acl(kAclAdmin | kAclDangerous).Tips("nondeterministic_output"),
    Row("latency", -2, 0).Local(),
    Row("latency|doctor", 2, kAdmin | kNoScript | kLoading | kStale).Local().Tips("nondeterministic_output request_policy:all_nodes response_policy:special"),
    Row("latency|graph", 3, kAdmin | kNoScript | kLoading | kStale).Local().Tips("nondeterministic_output request_policy:all_nodes response_policy:special"),
    Row("latency|help", 2, kLoading | kStale).Local(),
    Row("latency|histogram", -2, kAdmin | kNoScript | kLoading | kStale).Local().Tips("nondeterministic_output request_policy:all_nodes response_policy:special"),
    Row("latency|history", 3, kAdmin | kNoScript | kLoading | kStale).Local().Tips("nondeterministic_output request_policy:all_nodes response_policy:special"),
    Row("latency|latest", 2, kAdmin | kNoScript | kLoading | kStale).Local().Tips("nondeterministic_output request_policy:all_nodes response_policy:special"),
    Row("latency|reset", -2, kAdmin | kNoScript | kLoading | kStale).Local().Tips("request_policy:all_nodes response_policy:all_succeeded"),
    Row("lolwut", -1, kReadonly | kFast).Local(),
    Row("memory", -2, 0).Local(),
    // DOCTOR, MALLOC-STATS and STATS describe the memory of one server; a sum would describe none.
    Row("memory|doctor", 2, 0).NotServed(kForPerShard).Tips("nondeterministic_output request_policy:all_shards response_policy:special"),
    Row("memory|help", 2, kLoading | kStale).AnyShard(),
    Row("memory|malloc-stats", 2, 0).NotServed(kForPerShard).Tips("nondeterministic_output request_policy:all_shards response_policy:special"),
    Row("memory|purge", 2, 0).AllShards(kAllSucceeded).Tips("request_policy:all_shards response_policy:all_succeeded"),
    Row("memory|stats", 2, 0).NotServed(kForPerShard).Tips("nondeterministic_output request_policy:all_shards response_policy:special"),
    Row("memory|usage", -3, kReadonly | kNotByCopy).Keys(Key(2, kRo)),
    Row("module", -2, 0).Local(),
    Row("module|help", 2, kLoading | kStale).AnyShard(),
    // Shards are expected to load the same modules.
    Row("module|list", 2, kAdmin | kNoScript).AnyShard().Tips("nondeterministic_output_order"),
    Row("module|load", -3, kAdmin | kNoScript | kNoAsyncLoading | kProtected).NotServed(kForModules),
    Row("module|loadex", -3, kAdmin | kNoScript | kNoAsyncLoading | kProtected).NotServed(kForModules),
    Row("module|unload", 3, kAdmin | kNoScript | kNoAsyncLoading | kProtected).NotServed(kForModules),
    Row("monitor", 1, kAdmin | kNoScript | kLoading | kStale).NotServed(kForMonitor),
    Row("psync", -3, kAdmin | kNoScript | kNoAsyncLoading | kNoMulti).NotServed(kForReplication),
    Row("replconf", -1, kAdmin | kNoScript | kLoading | kStale | kAllowBusy).NotServed(kForReplication),
    Row("replicaof", 3, kAdmin | kNoScript | kStale | kNoAsyncLoading).NotServed(kForReplication),
    Row("restore-asking", -4, kWrite | kDenyOom | kAsking).Keys(Key(1, kOwUpdate)).Acl(kAclDangerous | kAclKeyspace),
    // The proxy plays the part of a master without replicas.
    Row("role", 1, kNoScript | kLoading | kStale | kFast).Local().Acl(kAclAdmin | kAclDangerous),
    // Every shard saves its own part; one failure is the answer.
    Row("save", 1, kAdmin | kNoScript | kNoAsyncLoading | kNoMulti).AllShards(kAllSucceeded),
    Row("shutdown", -1, kAdmin | kNoScript | kLoading | kStale | kNoMulti | kAllowBusy).NotServed(kForShutdown),
    Row("slaveof", 3, kAdmin | kNoScript | kStale | kNoAsyncLoading).NotServed(kForReplication),
    // SLOWLOG and LATENCY tell what clients saw, which is measured here.
    Row("slowlog", -2, 0).Local(),
    Row("slowlog|get", -2, kAdmin | kLoading | kStale).Local().Tips("request_policy:all_nodes nondeterministic_output"),
    Row("slowlog|help", 2, kLoading | kStale).Local(),
    Row("slowlog|len", 2, kAdmin | kLoading | kStale).Local().Tips("request_policy:all_nodes response_policy:agg_sum nondeterministic_output"),
    Row("slowlog|reset", 2, kAdmin | kLoading | kStale).Local().Tips("request_policy:all_nodes response_policy:all_succeeded"),
    // Shards would swap one after the other, and clients see a mixture.
    Row("swapdb", 3, kWrite | kFast).NotServed(kForSwapDb).Acl(kAclDangerous | kAclKeyspace),
    Row("sync", 1, kAdmin | kNoScript | kNoAsyncLoading | kNoMulti).NotServed(kForReplication),
    Row("time", 1, kLoading | kStale | kFast).Local().Tips("nondeterministic_output"),
};

// clang-format on
}  // namespace ringway::protocol::rows
