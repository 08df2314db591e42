// The commands of strings, one row each; a container's subcommands follow it.
// How to read a row: command_row_source.h.
#pragma once

#include "protocol/command_row_source.h"

namespace ringway::protocol::rows {

// clang-format off

inline constexpr RowSource kStringRows[] = {
    Row("append", 3, kWrite | kDenyOom | kFast).Keys(Key(1, kRwInsert)),
    Row("decr", 2, kWrite | kDenyOom | kFast).Keys(Key(1, kRwAll)),
    Row("decrby", 3, kWrite | kDenyOom | kFast).Keys(Key(1, kRwAll)),
    Row("get", 2, kReadonly | kFast).Keys(Key(1, kReads)),
    Row("getdel", 2, kWrite | kFast).Keys(Key(1, kTakes)),
    Row("getex", -2, kWrite | kFast).Keys(Key(1, kRwAll)),
    Row("getrange", 4, kReadonly).Keys(Key(1, kReads)),
    Row("getset", 3, kWrite | kDenyOom | kFast).Keys(Key(1, kRwAll)),
    Row("incr", 2, kWrite | kDenyOom | kFast).Keys(Key(1, kRwAll)),
    Row("incrby", 3, kWrite | kDenyOom | kFast).Keys(Key(1, kRwAll)),
    Row("incrbyfloat", 3, kWrite | kDenyOom | kFast).Keys(Key(1, kRwAll)),
    Row("lcs", -3, kReadonly).Keys(KeyRange(1, 1, kReads)),
    Row("mget", -2, kReadonly | kFast).Keys(KeyRange(1, -1, kReads)).Split(kKeyOrder).Tips("request_policy:multi_shard"),
    Row("mset", -3, kWrite | kDenyOom).Keys(KeyRange(1, -1, kOwUpdate, 2)).Split(kAllSucceeded).Tips("request_policy:multi_shard response_policy:all_succeeded"),
    // MSETNX is all or nothing, which several shards cannot promise: one tag, not split.
    Row("msetnx", -3, kWrite | kDenyOom).Keys(KeyRange(1, -1, kOw | kInsert, 2)).Tips("request_policy:multi_shard response_policy:agg_min"),
    Row("psetex", 4, kWrite | kDenyOom).Keys(Key(1, kOwUpdate)),
    Row("set", -3, kWrite | kDenyOom).Keys(Key(1, kRw | kAccess | kUpdate | kVariableFlags)),
    Row("setex", 4, kWrite | kDenyOom).Keys(Key(1, kOwUpdate)),
    Row("setnx", 3, kWrite | kDenyOom | kFast).Keys(Key(1, kOw | kInsert)),
    Row("setrange", 4, kWrite | kDenyOom).Keys(Key(1, kRwUpdate)),
    Row("strlen", 2, kReadonly | kFast).Keys(Key(1, kRo)),
    Row("substr", 4, kReadonly).Keys(Key(1, kReads)),
};

// clang-format on
}  // namespace ringway::protocol::rows
