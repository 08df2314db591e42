// The form in which the command_rows_*.h files state one command on one line. Read a row as a
// sentence: name, arity, flags, then what differs from the rule:
//
//   Row("get", 2, kReadonly | kFast).Keys(Key(1, kReads))
//   Row("keys", 2, kReadonly).AllShards(kConcatenate).Acl(kAclDangerous).Tips("request_policy:all_shards")
//
// The rule is one shard, by keys, whose reply is passed on. Subcommands ("client|list") follow
// their container. Everything else of a CommandRow is derived in command_table.cc.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "protocol/command_table.h"

namespace ringway::protocol::rows {

using enum ResponsePolicy;
using enum Unserved;

// What commands commonly do to a key.
inline constexpr uint16_t kReads = kRo | kAccess;
inline constexpr uint16_t kTakes = kRw | kAccess | kDelete;
inline constexpr uint16_t kRwUpdate = kRw | kUpdate;
inline constexpr uint16_t kRwInsert = kRw | kInsert;
inline constexpr uint16_t kRwDelete = kRw | kDelete;
inline constexpr uint16_t kRwAll = kRw | kAccess | kUpdate;
inline constexpr uint16_t kOwUpdate = kOw | kUpdate;

constexpr KeySpec Key(int16_t index, uint16_t flags) {
  return {.begin = KeySpec::Begin::kIndex,
          .find = KeySpec::Find::kRange,
          .flags = flags,
          .position = index,
          .keyword = {}};
}

// Every `step`-th argument from `index` to `last` (below 0: counted from the end).
constexpr KeySpec KeyRange(int16_t index, int16_t last, uint16_t flags, int16_t step = 1) {
  KeySpec spec = Key(index, flags);
  spec.last = last;
  spec.step = step;
  return spec;
}

// Argument `index` says how many keys follow it.
constexpr KeySpec Counted(int16_t index, uint16_t flags) {
  KeySpec spec = Key(index, flags);
  spec.find = KeySpec::Find::kKeynum;
  spec.first_key = 1;
  return spec;
}

// Behind `keyword`, which is looked for from argument `start` on.
constexpr KeySpec After(std::string_view keyword, int16_t start, uint16_t flags, int16_t last = 0,
                        int16_t limit = 0) {
  KeySpec spec = Key(start, flags);
  spec.begin = KeySpec::Begin::kKeyword;
  spec.keyword = keyword;
  spec.last = last;
  spec.limit = limit;
  return spec;
}

// Keys of which Redis itself cannot say where they stand.
constexpr KeySpec Unknown(uint16_t flags) { return {.flags = flags, .keyword = {}}; }

inline constexpr size_t kMaxKeySpecs = 3;

struct RowSource {
  std::string_view name;
  int16_t arity = 0;
  uint32_t flags = 0;
  std::array<KeySpec, kMaxKeySpecs> keys = {};
  size_t key_count = 0;
  RequestPolicy request = RequestPolicy::kOneShard;
  ResponsePolicy response = ResponsePolicy::kPass;
  Unserved unserved = Unserved::kNone;
  bool in_group_category = true;
  uint32_t acl = 0;
  std::string_view tips;

  template <typename... Specs>
  constexpr RowSource Keys(Specs... specs) const {
    RowSource row = *this;
    ((row.keys[row.key_count++] = specs), ...);
    return row;
  }
  constexpr RowSource Split(ResponsePolicy how) const { return With(RequestPolicy::kSplit, how); }
  constexpr RowSource AllShards(ResponsePolicy how) const { return With(RequestPolicy::kAllShards, how); }
  constexpr RowSource AnyShard() const { return With(RequestPolicy::kAnyShard, kPass); }
  constexpr RowSource Local() const { return With(RequestPolicy::kLocal, kPass); }
  constexpr RowSource Special(ResponsePolicy how = ResponsePolicy::kSpecial) const {
    return With(RequestPolicy::kSpecial, how);
  }
  constexpr RowSource NotServed(Unserved reason) const {
    RowSource row = With(RequestPolicy::kUnsupported, kPass);
    row.unserved = reason;
    return row;
  }
  // ACL categories beyond the group's own and those that follow from the flags.
  constexpr RowSource Acl(uint32_t categories) const {
    RowSource row = *this;
    row.acl = categories;
    return row;
  }
  // Containers and some others lack the category that goes with their group.
  constexpr RowSource NotInGroupCategory() const {
    RowSource row = *this;
    row.in_group_category = false;
    return row;
  }
  // Redis's own tips, which COMMAND INFO shows; the policies above are what counts here.
  constexpr RowSource Tips(std::string_view text) const {
    RowSource row = *this;
    row.tips = text;
    return row;
  }

  constexpr RowSource With(RequestPolicy which, ResponsePolicy how) const {
    RowSource row = *this;
    row.request = which;
    row.response = how;
    return row;
  }
};

constexpr RowSource Row(std::string_view name, int16_t arity, uint32_t flags) {
  RowSource row;
  row.name = name;
  row.arity = arity;
  row.flags = flags;
  return row;
}

}  // namespace ringway::protocol::rows
