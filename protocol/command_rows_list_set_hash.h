// The commands of lists, sets and hashes, one row each; a container's subcommands follow it.
// How to read a row: command_row_source.h.
#pragma once

#include "protocol/command_row_source.h"

namespace ringway::protocol::rows {

// clang-format off

inline constexpr RowSource kListRows[] = {
    Row("blmove", 6, kWrite | kDenyOom | kNoScript | kBlocking).Keys(Key(1, kTakes), Key(2, kRwInsert)),
    Row("blmpop", -5, kWrite | kBlocking | kMovableKeys).Keys(Counted(2, kTakes)),
    Row("blpop", -3, kWrite | kNoScript | kBlocking).Keys(KeyRange(1, -2, kTakes)),
    Row("brpop", -3, kWrite | kNoScript | kBlocking).Keys(KeyRange(1, -2, kTakes)),
    Row("brpoplpush", 4, kWrite | kDenyOom | kNoScript | kBlocking).Keys(Key(1, kTakes), Key(2, kRwInsert)),
    Row("lindex", 3, kReadonly).Keys(Key(1, kReads)),
    Row("linsert", 5, kWrite | kDenyOom).Keys(Key(1, kRwInsert)),
    Row("llen", 2, kReadonly | kFast).Keys(Key(1, kRo)),
    Row("lmove", 5, kWrite | kDenyOom).Keys(Key(1, kTakes), Key(2, kRwInsert)),
    Row("lmpop", -4, kWrite | kMovableKeys).Keys(Counted(1, kTakes)),
    Row("lpop", -2, kWrite | kFast).Keys(Key(1, kTakes)),
    Row("lpos", -3, kReadonly).Keys(Key(1, kReads)),
    Row("lpush", -3, kWrite | kDenyOom | kFast).Keys(Key(1, kRwInsert)),
    Row("lpushx", -3, kWrite | kDenyOom | kFast).Keys(Key(1, kRwInsert)),
    Row("lrange", 4, kReadonly).Keys(Key(1, kReads)),
    Row("lrem", 4, kWrite).Keys(Key(1, kRwDelete)),
    Row("lset", 4, kWrite | kDenyOom).Keys(Key(1, kRwUpdate)),
    Row("ltrim", 4, kWrite).Keys(Key(1, kRwDelete)),
    Row("rpop", -2, kWrite | kFast).Keys(Key(1, kTakes)),
    Row("rpoplpush", 3, kWrite | kDenyOom).Keys(Key(1, kTakes), Key(2, kRwInsert)),
    Row("rpush", -3, kWrite | kDenyOom | kFast).Keys(Key(1, kRwInsert)),
    Row("rpushx", -3, kWrite | kDenyOom | kFast).Keys(Key(1, kRwInsert)),
};

inline constexpr RowSource kSetRows[] = {
    Row("sadd", -3, kWrite | kDenyOom | kFast).Keys(Key(1, kRwInsert)),
    Row("scard", 2, kReadonly | kFast).Keys(Key(1, kRo)),
    Row("sdiff", -2, kReadonly).Keys(KeyRange(1, -1, kReads)).Tips("nondeterministic_output_order"),
    Row("sdiffstore", -3, kWrite | kDenyOom).Keys(Key(1, kOwUpdate), KeyRange(2, -1, kReads)),
    Row("sinter", -2, kReadonly).Keys(KeyRange(1, -1, kReads)).Tips("nondeterministic_output_order"),
    Row("sintercard", -3, kReadonly | kMovableKeys).Keys(Counted(1, kReads)),
    Row("sinterstore", -3, kWrite | kDenyOom).Keys(Key(1, kRwUpdate), KeyRange(2, -1, kReads)),
    Row("sismember", 3, kReadonly | kFast).Keys(Key(1, kRo)),
    Row("smembers", 2, kReadonly).Keys(Key(1, kReads)).Tips("nondeterministic_output_order"),
    Row("smismember", -3, kReadonly | kFast).Keys(Key(1, kReads)),
    Row("smove", 4, kWrite | kFast).Keys(Key(1, kTakes), Key(2, kRwInsert)),
    Row("spop", -2, kWrite | kFast).Keys(Key(1, kTakes)).Tips("nondeterministic_output"),
    Row("srandmember", -2, kReadonly).Keys(Key(1, kReads)).Tips("nondeterministic_output"),
    Row("srem", -3, kWrite | kFast).Keys(Key(1, kRwDelete)),
    Row("sscan", -3, kReadonly | kNotByCopy).Keys(Key(1, kReads)).Tips("nondeterministic_output"),
    Row("sunion", -2, kReadonly).Keys(KeyRange(1, -1, kReads)).Tips("nondeterministic_output_order"),
    Row("sunionstore", -3, kWrite | kDenyOom).Keys(Key(1, kOwUpdate), KeyRange(2, -1, kReads)),
};

inline constexpr RowSource kHashRows[] = {
    Row("hdel", -3, kWrite | kFast).Keys(Key(1, kRwDelete)),
    Row("hexists", 3, kReadonly | kFast).Keys(Key(1, kRo)),
    Row("hget", 3, kReadonly | kFast).Keys(Key(1, kReads)),
    Row("hgetall", 2, kReadonly).Keys(Key(1, kReads)).Tips("nondeterministic_output_order"),
    Row("hincrby", 4, kWrite | kDenyOom | kFast).Keys(Key(1, kRwAll)),
    Row("hincrbyfloat", 4, kWrite | kDenyOom | kFast).Keys(Key(1, kRwAll)),
    Row("hkeys", 2, kReadonly).Keys(Key(1, kReads)).Tips("nondeterministic_output_order"),
    Row("hlen", 2, kReadonly | kFast).Keys(Key(1, kRo)),
    Row("hmget", -3, kReadonly | kFast).Keys(Key(1, kReads)),
    Row("hmset", -4, kWrite | kDenyOom | kFast).Keys(Key(1, kRwUpdate)),
    Row("hrandfield", -2, kReadonly).Keys(Key(1, kReads)).Tips("nondeterministic_output"),
    Row("hscan", -3, kReadonly | kNotByCopy).Keys(Key(1, kReads)).Tips("nondeterministic_output"),
    Row("hset", -4, kWrite | kDenyOom | kFast).Keys(Key(1, kRwUpdate)),
    Row("hsetnx", 4, kWrite | kDenyOom | kFast).Keys(Key(1, kRwInsert)),
    Row("hstrlen", 3, kReadonly | kFast).Keys(Key(1, kRo)),
    Row("hvals", 2, kReadonly).Keys(Key(1, kReads)).Tips("nondeterministic_output_order"),
};

// clang-format on
}  // namespace ringway::protocol::rows
