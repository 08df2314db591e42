// The commands of keys of any type, one row each; a container's subcommands follow it.
// How to read a row: command_row_source.h.
#pragma once

#include "protocol/command_row_source.h"

namespace ringway::protocol::rows {

// clang-format off

inline constexpr RowSource kGenericRows[] = {
    Row("copy", -3, kWrite | kDenyOom).Keys(Key(1, kReads), Key(2, kOwUpdate)),
    Row("del", -2, kWrite).Keys(KeyRange(1, -1, kRm | kDelete)).Split(kSum).Tips("request_policy:multi_shard response_policy:agg_sum"),
    Row("dump", 2, kReadonly | kNotByCopy).Keys(Key(1, kReads)).Tips("nondeterministic_output"),
    Row("exists", -2, kReadonly | kFast).Keys(KeyRange(1, -1, kRo)).Split(kSum).Tips("request_policy:multi_shard response_policy:agg_sum"),
    Row("expire", -3, kWrite | kFast).Keys(Key(1, kRwUpdate)),
    Row("expireat", -3, kWrite | kFast).Keys(Key(1, kRwUpdate)),
    Row("expiretime", 2, kReadonly | kNotByCopy | kFast).Keys(Key(1, kReads)),
    // Each shard holds its own keys only, so the lists are simply joined.
    Row("keys", 2, kReadonly).AllShards(kConcatenate).Acl(kAclDangerous).Tips("request_policy:all_shards nondeterministic_output_order"),
    // It would take the key out of the ring that the proxy answers for.
    Row("migrate", -6, kWrite | kMovableKeys).Keys(Key(3, kTakes), After("KEYS", -2, kRw | kAccess | kDelete | kIncomplete, -1)).NotServed(kForMigrate).Acl(kAclDangerous).Tips("nondeterministic_output"),
    Row("move", 3, kWrite | kFast).Keys(Key(1, kRwAll)),
    Row("object", -2, 0).Local().NotInGroupCategory(),
    Row("object|encoding", 3, kReadonly | kNotByCopy).Keys(Key(2, kRo)).Tips("nondeterministic_output"),
    Row("object|freq", 3, kReadonly | kNotByCopy).Keys(Key(2, kRo)).Tips("nondeterministic_output"),
    Row("object|help", 2, kLoading | kStale).AnyShard(),
    Row("object|idletime", 3, kReadonly | kNotByCopy).Keys(Key(2, kRo)).Tips("nondeterministic_output"),
    Row("object|refcount", 3, kReadonly | kNotByCopy).Keys(Key(2, kRo)).Tips("nondeterministic_output"),
    Row("persist", 2, kWrite | kFast).Keys(Key(1, kRwUpdate)),
    Row("pexpire", -3, kWrite | kFast).Keys(Key(1, kRwUpdate)),
    Row("pexpireat", -3, kWrite | kFast).Keys(Key(1, kRwUpdate)),
    Row("pexpiretime", 2, kReadonly | kNotByCopy | kFast).Keys(Key(1, kReads)),
    Row("pttl", 2, kReadonly | kNotByCopy | kFast).Keys(Key(1, kReads)).Tips("nondeterministic_output"),
    // The shard is drawn by its count of keys, or small shards would show too often.
    Row("randomkey", 1, kReadonly).Special().Tips("request_policy:all_shards nondeterministic_output"),
    Row("rename", 3, kWrite).Keys(Key(1, kTakes), Key(2, kOwUpdate)),
    Row("renamenx", 3, kWrite | kFast).Keys(Key(1, kTakes), Key(2, kOw | kInsert)),
    Row("restore", -4, kWrite | kDenyOom).Keys(Key(1, kOwUpdate)).Acl(kAclDangerous),
    // Walks shard after shard; the cursor says which.
    Row("scan", -2, kReadonly).Special().Tips("nondeterministic_output request_policy:special"),
    // BY and GET patterns name keys that only the server finds out; they must live on the same shard.
    Row("sort", -2, kWrite | kDenyOom | kMovableKeys).Keys(Key(1, kReads), Unknown(kReads), Unknown(kOwUpdate)).NotInGroupCategory().Acl(kAclDangerous | kAclList | kAclSet | kAclSortedSet),
    Row("sort_ro", -2, kReadonly | kNotByCopy | kMovableKeys).Keys(Key(1, kReads), Unknown(kReads)).NotInGroupCategory().Acl(kAclDangerous | kAclList | kAclSet | kAclSortedSet),
    Row("touch", -2, kReadonly | kNotByCopy | kFast).Keys(KeyRange(1, -1, kRo)).Split(kSum).Tips("request_policy:multi_shard response_policy:agg_sum"),
    Row("ttl", 2, kReadonly | kNotByCopy | kFast).Keys(Key(1, kReads)).Tips("nondeterministic_output"),
    Row("type", 2, kReadonly | kFast).Keys(Key(1, kRo)),
    Row("unlink", -2, kWrite | kFast).Keys(KeyRange(1, -1, kRm | kDelete)).Split(kSum).Tips("request_policy:multi_shard response_policy:agg_sum"),
    // Shard connections carry many clients' writes: the least of the answers is what each may rely on.
    Row("wait", 3, kNoScript).Special(kMin).NotInGroupCategory().Acl(kAclConnection).Tips("request_policy:all_shards response_policy:agg_min"),
};

// clang-format on
}  // namespace ringway::protocol::rows
