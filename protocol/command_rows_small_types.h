// The commands of bitmaps, HyperLogLog and geo sets, one row each; a container's subcommands follow it.
// How to read a row: command_row_source.h.
#pragma once

#include "protocol/command_row_source.h"

namespace ringway::protocol::rows {

// clang-format off

inline constexpr RowSource kBitmapRows[] = {
    Row("bitcount", -2, kReadonly).Keys(Key(1, kReads)),
    Row("bitfield", -2, kWrite | kDenyOom).Keys(Key(1, kRw | kAccess | kUpdate | kVariableFlags)),
    Row("bitfield_ro", -2, kReadonly | kFast).Keys(Key(1, kReads)),
    Row("bitop", -4, kWrite | kDenyOom).Keys(Key(2, kOwUpdate), KeyRange(3, -1, kReads)),
    Row("bitpos", -3, kReadonly).Keys(Key(1, kReads)),
    Row("getbit", 3, kReadonly | kFast).Keys(Key(1, kReads)),
    Row("setbit", 4, kWrite | kDenyOom).Keys(Key(1, kRwAll)),
};

inline constexpr RowSource kHyperloglogRows[] = {
    Row("pfadd", -2, kWrite | kDenyOom | kFast).Keys(Key(1, kRwInsert)),
    Row("pfcount", -2, kReadonly | kMayReplicate).Keys(KeyRange(1, -1, kRw | kAccess)),
    Row("pfdebug", 3, kWrite | kDenyOom | kAdmin).Keys(Key(2, kRw | kAccess)),
    Row("pfmerge", -2, kWrite | kDenyOom).Keys(Key(1, kRw | kAccess | kInsert), KeyRange(2, -1, kReads)),
    Row("pfselftest", 1, kAdmin).AnyShard(),
};

inline constexpr RowSource kGeoRows[] = {
    Row("geoadd", -5, kWrite | kDenyOom).Keys(Key(1, kRwUpdate)),
    Row("geodist", -4, kReadonly).Keys(Key(1, kReads)),
    Row("geohash", -2, kReadonly).Keys(Key(1, kReads)),
    Row("geopos", -2, kReadonly).Keys(Key(1, kReads)),
    Row("georadius", -6, kWrite | kDenyOom | kMovableKeys).Keys(Key(1, kReads), After("STORE", 6, kOwUpdate), After("STOREDIST", 6, kOwUpdate)),
    Row("georadius_ro", -6, kReadonly).Keys(Key(1, kReads)),
    Row("georadiusbymember", -5, kWrite | kDenyOom | kMovableKeys).Keys(Key(1, kReads), After("STORE", 5, kOwUpdate), After("STOREDIST", 5, kOwUpdate)),
    Row("georadiusbymember_ro", -5, kReadonly).Keys(Key(1, kReads)),
    Row("geosearch", -7, kReadonly).Keys(Key(1, kReads)),
    Row("geosearchstore", -8, kWrite | kDenyOom).Keys(Key(1, kOwUpdate), Key(2, kReads)),
};

// clang-format on
}  // namespace ringway::protocol::rows
