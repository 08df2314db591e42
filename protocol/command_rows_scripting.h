// The commands of scripts, transactions and pub/sub, one row each; a container's subcommands follow it.
// How to read a row: command_row_source.h.
#pragma once

#include "protocol/command_row_source.h"

namespace ringway::protocol::rows {

// clang-format off

inline constexpr RowSource kScriptingRows[] = {
    // Without keys the router sends it to any shard: a script that declares no key can rely on none.
    Row("eval", -3, kNoScript | kStale | kSkipMonitor | kNoMandatoryKeys | kMovableKeys | kMayReplicate).Keys(Counted(2, kRwAll)),
    Row("eval_ro", -3, kReadonly | kNotByCopy | kNoScript | kStale | kSkipMonitor | kNoMandatoryKeys | kMovableKeys).Keys(Counted(2, kReads)),
    Row("evalsha", -3, kNoScript | kStale | kSkipMonitor | kNoMandatoryKeys | kMovableKeys | kMayReplicate).Keys(Counted(2, kRwAll)),
    Row("evalsha_ro", -3, kReadonly | kNotByCopy | kNoScript | kStale | kSkipMonitor | kNoMandatoryKeys | kMovableKeys).Keys(Counted(2, kReads)),
    Row("fcall", -3, kNoScript | kStale | kSkipMonitor | kNoMandatoryKeys | kMovableKeys | kMayReplicate).Keys(Counted(2, kRwAll)),
    Row("fcall_ro", -3, kReadonly | kNotByCopy | kNoScript | kStale | kSkipMonitor | kNoMandatoryKeys | kMovableKeys).Keys(Counted(2, kReads)),
    Row("function", -2, 0).Local().NotInGroupCategory(),
    Row("function|delete", 3, kWrite | kNoScript).AllShards(kAllSucceeded).Tips("request_policy:all_shards response_policy:all_succeeded"),
    Row("function|dump", 2, kNoScript).AnyShard(),
    Row("function|flush", -2, kWrite | kNoScript).AllShards(kAllSucceeded).Tips("request_policy:all_shards response_policy:all_succeeded"),
    Row("function|help", 2, kLoading | kStale).AnyShard(),
    // As SCRIPT KILL.
    Row("function|kill", 2, kNoScript | kAllowBusy).AllShards(kOneSucceeded).Tips("request_policy:all_shards response_policy:one_succeeded"),
    // Libraries are equal on all shards, so any one can tell.
    Row("function|list", -2, kNoScript).AnyShard().Tips("nondeterministic_output_order"),
    Row("function|load", -3, kWrite | kDenyOom | kNoScript).AllShards(kAllSucceeded).Tips("request_policy:all_shards response_policy:all_succeeded"),
    Row("function|restore", -3, kWrite | kDenyOom | kNoScript).AllShards(kAllSucceeded).Tips("request_policy:all_shards response_policy:all_succeeded"),
    // Engines and their counts are equal on all shards; a running function is seen if the asked shard runs it.
    Row("function|stats", 2, kNoScript | kAllowBusy).AnyShard().Tips("nondeterministic_output request_policy:all_shards response_policy:special"),
    Row("script", -2, 0).Local().NotInGroupCategory(),
    Row("script|debug", 3, kNoScript).NotServed(kForDebug),
    Row("script|exists", -3, kNoScript).AllShards(kLogicalAnd).Tips("request_policy:all_shards response_policy:agg_logical_and"),
    Row("script|flush", -2, kNoScript).AllShards(kAllSucceeded).Tips("request_policy:all_nodes response_policy:all_succeeded"),
    Row("script|help", 2, kLoading | kStale).AnyShard(),
    // The script runs on one shard only; NOTBUSY from the others is no failure.
    Row("script|kill", 2, kNoScript | kAllowBusy).AllShards(kOneSucceeded).Tips("request_policy:all_shards response_policy:one_succeeded"),
    // Every shard must know the script, since its keys may live on any; all answer the same SHA1.
    Row("script|load", 3, kNoScript | kStale).AllShards(kAllSucceeded).Tips("request_policy:all_nodes response_policy:all_succeeded"),
};

inline constexpr RowSource kTransactionsRows[] = {
    Row("discard", 1, kNoScript | kLoading | kStale | kFast | kAllowBusy).Special(kPass),
    Row("exec", 1, kNoScript | kLoading | kStale | kSkipSlowlog).Special(kPass),
    Row("multi", 1, kNoScript | kLoading | kStale | kFast | kAllowBusy).Special(kPass),
    Row("unwatch", 1, kNoScript | kLoading | kStale | kFast | kAllowBusy).Special(kPass),
    Row("watch", -2, kNoScript | kLoading | kStale | kFast | kAllowBusy).Keys(KeyRange(1, -1, kRo)).Special(kPass),
};

inline constexpr RowSource kPubsubRows[] = {
    Row("psubscribe", -2, kPubSub | kNoScript | kLoading | kStale).NotServed(kForPubSub),
    Row("publish", 3, kPubSub | kLoading | kStale | kFast | kMayReplicate).NotServed(kForPubSub),
    Row("pubsub", -2, 0).NotServed(kForPubSub).NotInGroupCategory(),
    Row("pubsub|channels", -2, kPubSub | kLoading | kStale).NotServed(kForPubSub),
    Row("pubsub|help", 2, kLoading | kStale).NotServed(kForPubSub).NotInGroupCategory(),
    Row("pubsub|numpat", 2, kPubSub | kLoading | kStale).NotServed(kForPubSub),
    Row("pubsub|numsub", -2, kPubSub | kLoading | kStale).NotServed(kForPubSub),
    Row("pubsub|shardchannels", -2, kPubSub | kLoading | kStale).NotServed(kForPubSub),
    Row("pubsub|shardnumsub", -2, kPubSub | kLoading | kStale).NotServed(kForPubSub),
    Row("punsubscribe", -1, kPubSub | kNoScript | kLoading | kStale).NotServed(kForPubSub),
    Row("spublish", 3, kPubSub | kLoading | kStale | kFast | kMayReplicate).Keys(Key(1, kNotKey)).NotServed(kForPubSub),
    Row("ssubscribe", -2, kPubSub | kNoScript | kLoading | kStale).Keys(KeyRange(1, -1, kNotKey)).NotServed(kForPubSub),
    Row("subscribe", -2, kPubSub | kNoScript | kLoading | kStale).NotServed(kForPubSub),
    Row("sunsubscribe", -1, kPubSub | kNoScript | kLoading | kStale).Keys(KeyRange(1, -1, kNotKey)).NotServed(kForPubSub),
    Row("unsubscribe", -1, kPubSub | kNoScript | kLoading | kStale).NotServed(kForPubSub),
};

// clang-format on
}  // namespace ringway::protocol::rows
