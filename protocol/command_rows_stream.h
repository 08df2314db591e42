// The commands of streams, one row each; a container's subcommands follow it.
// How to read a row: command_row_source.h.
#pragma once

#include "protocol/command_row_source.h"

namespace ringway::protocol::rows {

// clang-format off

inline constexpr RowSource kStreamRows[] = {
    Row("xack", -4, kWrite | kFast).Keys(Key(1, kRwUpdate)),
    Row("xadd", -5, kWrite | kDenyOom | kFast).Keys(Key(1, kRwUpdate)).Tips("nondeterministic_output"),
    Row("xautoclaim", -6, kWrite | kFast).Keys(Key(1, kRwDelete)).Tips("nondeterministic_output"),
    Row("xclaim", -6, kWrite | kFast).Keys(Key(1, kRwUpdate)).Tips("nondeterministic_output"),
    Row("xdel", -3, kWrite | kFast).Keys(Key(1, kRwDelete)),
    Row("xgroup", -2, 0).Local().NotInGroupCategory(),
    Row("xgroup|create", -5, kWrite | kDenyOom).Keys(Key(2, kRwInsert)),
    Row("xgroup|createconsumer", 5, kWrite | kDenyOom).Keys(Key(2, kRwInsert)),
    Row("xgroup|delconsumer", 5, kWrite).Keys(Key(2, kRwDelete)),
    Row("xgroup|destroy", 4, kWrite).Keys(Key(2, kRwDelete)),
    Row("xgroup|help", 2, kLoading | kStale).AnyShard(),
    Row("xgroup|setid", -5, kWrite).Keys(Key(2, kRwUpdate)),
    Row("xinfo", -2, 0).Local().NotInGroupCategory(),
    Row("xinfo|consumers", 4, kReadonly | kNotByCopy).Keys(Key(2, kReads)).Tips("nondeterministic_output"),
    Row("xinfo|groups", 3, kReadonly | kNotByCopy).Keys(Key(2, kReads)),
    Row("xinfo|help", 2, kLoading | kStale).AnyShard(),
    Row("xinfo|stream", -3, kReadonly | kNotByCopy).Keys(Key(2, kReads)),
    Row("xlen", 2, kReadonly | kFast).Keys(Key(1, kRo)),
    Row("xpending", -3, kReadonly).Keys(Key(1, kReads)).Tips("nondeterministic_output"),
    Row("xrange", -4, kReadonly).Keys(Key(1, kReads)),
    // Reads at once unless BLOCK is given, which the router looks for.
    Row("xread", -4, kReadonly | kBlocking | kMovableKeys).Keys(After("STREAMS", 1, kReads, -1, 2)),
    Row("xreadgroup", -7, kWrite | kBlocking | kMovableKeys).Keys(After("STREAMS", 4, kReads, -1, 2)),
    Row("xrevrange", -4, kReadonly).Keys(Key(1, kReads)),
    Row("xsetid", -3, kWrite | kDenyOom | kFast).Keys(Key(1, kRwUpdate)),
    Row("xtrim", -4, kWrite).Keys(Key(1, kRwDelete)).Tips("nondeterministic_output"),
};

// clang-format on
}  // namespace ringway::protocol::rows
