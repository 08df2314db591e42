// The commands of sorted sets, one row each; a container's subcommands follow it.
// How to read a row: command_row_source.h.
#pragma once

#include "protocol/command_row_source.h"

namespace ringway::protocol::rows {

// clang-format off

inline constexpr RowSource kSortedSetRows[] = {
    Row("bzmpop", -5, kWrite | kBlocking | kMovableKeys).Keys(Counted(2, kTakes)),
    Row("bzpopmax", -3, kWrite | kNoScript | kBlocking | kFast).Keys(KeyRange(1, -2, kTakes)),
    Row("bzpopmin", -3, kWrite | kNoScript | kBlocking | kFast).Keys(KeyRange(1, -2, kTakes)),
    Row("zadd", -4, kWrite | kDenyOom | kFast).Keys(Key(1, kRwUpdate)),
    Row("zcard", 2, kReadonly | kFast).Keys(Key(1, kRo)),
    Row("zcount", 4, kReadonly | kFast).Keys(Key(1, kReads)),
    Row("zdiff", -3, kReadonly | kMovableKeys).Keys(Counted(1, kReads)),
    Row("zdiffstore", -4, kWrite | kDenyOom | kMovableKeys).Keys(Key(1, kOwUpdate), Counted(2, kReads)),
    Row("zincrby", 4, kWrite | kDenyOom | kFast).Keys(Key(1, kRwAll)),
    Row("zinter", -3, kReadonly | kMovableKeys).Keys(Counted(1, kReads)),
    Row("zintercard", -3, kReadonly | kMovableKeys).Keys(Counted(1, kReads)),
    Row("zinterstore", -4, kWrite | kDenyOom | kMovableKeys).Keys(Key(1, kOwUpdate), Counted(2, kReads)),
    Row("zlexcount", 4, kReadonly | kFast).Keys(Key(1, kReads)),
    Row("zmpop", -4, kWrite | kMovableKeys).Keys(Counted(1, kTakes)),
    Row("zmscore", -3, kReadonly | kFast).Keys(Key(1, kReads)),
    Row("zpopmax", -2, kWrite | kFast).Keys(Key(1, kTakes)),
    Row("zpopmin", -2, kWrite | kFast).Keys(Key(1, kTakes)),
    Row("zrandmember", -2, kReadonly).Keys(Key(1, kReads)).Tips("nondeterministic_output"),
    Row("zrange", -4, kReadonly).Keys(Key(1, kReads)),
    Row("zrangebylex", -4, kReadonly).Keys(Key(1, kReads)),
    Row("zrangebyscore", -4, kReadonly).Keys(Key(1, kReads)),
    Row("zrangestore", -5, kWrite | kDenyOom).Keys(Key(1, kOwUpdate), Key(2, kReads)),
    Row("zrank", 3, kReadonly | kFast).Keys(Key(1, kReads)),
    Row("zrem", -3, kWrite | kFast).Keys(Key(1, kRwDelete)),
    Row("zremrangebylex", 4, kWrite).Keys(Key(1, kRwDelete)),
    Row("zremrangebyrank", 4, kWrite).Keys(Key(1, kRwDelete)),
    Row("zremrangebyscore", 4, kWrite).Keys(Key(1, kRwDelete)),
    Row("zrevrange", -4, kReadonly).Keys(Key(1, kReads)),
    Row("zrevrangebylex", -4, kReadonly).Keys(Key(1, kReads)),
    Row("zrevrangebyscore", -4, kReadonly).Keys(Key(1, kReads)),
    Row("zrevrank", 3, kReadonly | kFast).Keys(Key(1, kReads)),
    Row("zscan", -3, kReadonly | kNotByCopy).Keys(Key(1, kReads)).Tips("nondeterministic_output"),
    Row("zscore", 3, kReadonly | kFast).Keys(Key(1, kReads)),
    Row("zunion", -3, kReadonly | kMovableKeys).Keys(Counted(1, kReads)),
    Row("zunionstore", -4, kWrite | kDenyOom | kMovableKeys).Keys(Key(1, kOwUpdate), Counted(2, kReads)),
};

// clang-format on
}  // namespace ringway::protocol::rows
