// What follows from a command's stated facts: shared by the table, which derives at compile time,
// and by what is learnt from a server that does not say it all.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "protocol/command_table.h"

namespace ringway::protocol {

// The ACL categories that Redis adds to the stated ones for a command's flags.
constexpr uint32_t WithImplicitAcl(uint32_t stated, uint32_t flags) {
  uint32_t acl = stated;
  if (flags & kWrite) acl |= kAclWrite;
  if ((flags & kReadonly) && !(stated & kAclScripting)) acl |= kAclRead;
  if (flags & kAdmin) acl |= kAclAdmin | kAclDangerous;
  if (flags & kPubSub) acl |= kAclPubSub;
  if (flags & kFast) acl |= kAclFast;
  if (flags & kBlocking) acl |= kAclBlocking;
  if (!(acl & kAclFast)) acl |= kAclSlow;
  return acl;
}

// first, last and step as servers before 7.0 described keys: the specifications which are plain
// ranges that join end to end, taken as one. 0 0 0 where none is.
struct LegacyRange {
  int16_t first = 0;
  int16_t last = 0;
  int16_t step = 0;
};

constexpr bool IsPlainRange(const KeySpec& spec) {
  return spec.begin == KeySpec::Begin::kIndex && spec.find == KeySpec::Find::kRange;
}

constexpr int16_t AbsoluteLast(const KeySpec& spec) {
  return static_cast<int16_t>(spec.last >= 0 ? spec.position + spec.last : spec.last);
}

constexpr LegacyRange LegacyRangeOf(std::span<const KeySpec> specs) {
  if (specs.size() == 1 && IsPlainRange(specs[0]))
    return {specs[0].position, AbsoluteLast(specs[0]), specs[0].step};
  LegacyRange range;
  for (const KeySpec& spec : specs) {
    const bool joins = range.last == 0 || range.last == spec.position - 1;
    if (!IsPlainRange(spec) || spec.step != 1 || !joins) continue;
    if (range.first == 0) range.first = spec.position;
    // A last key counted from the end is beyond any counted from the beginning.
    const int16_t last = AbsoluteLast(spec);
    if (range.last >= 0 && (last < 0 || last > range.last)) range.last = last;
    range.step = 1;
  }
  return range;
}

// The way for FindKeys where the facts alone decide it; the table names the few exceptions.
constexpr KeyKind KeyKindOf(std::span<const KeySpec> specs, const LegacyRange& range, uint32_t flags) {
  bool any = false;
  for (const KeySpec& spec : specs) any = any || !(spec.flags & kNotKey);
  if (!any) return KeyKind::kNone;
  if (flags & kMovableKeys) return KeyKind::kSpecs;
  if (range.first == 1 && range.last == 1) return KeyKind::kFirst;
  return range.first != 0 ? KeyKind::kRange : KeyKind::kSpecs;
}

}  // namespace ringway::protocol
