#include "protocol/command_info.h"

#include <algorithm>
#include <bit>
#include <string>

#include "protocol/command_name.h"

namespace ringway::protocol {
namespace {

constexpr std::string_view kCommandFlagNames[] = {
    "write",
    "readonly",
    "denyoom",
    "module",
    "admin",
    "pubsub",
    "noscript",
    "blocking",
    "loading",
    "stale",
    "skip_monitor",
    "skip_slowlog",
    "asking",
    "fast",
    "no_auth",
    "no_mandatory_keys",
    "no_async_loading",
    "no_multi",
    "movablekeys",
    "allow_busy",
};
static_assert(kAllowBusy == 1u << (std::size(kCommandFlagNames) - 1));

constexpr std::string_view kAclCategoryNames[] = {
    "keyspace", "read",   "write",       "set",       "sortedset",  "list",        "hash",
    "string",   "bitmap", "hyperloglog", "geo",       "stream",     "pubsub",      "admin",
    "fast",     "slow",   "blocking",    "dangerous", "connection", "transaction", "scripting",
};
static_assert(kAclScripting == 1u << (std::size(kAclCategoryNames) - 1));

constexpr std::string_view kKeyFlagNames[] = {
    "RO", "RW", "OW", "RM", "access", "update", "insert", "delete", "not_key", "incomplete", "variable_flags",
};
static_assert(kVariableFlags == 1u << (std::size(kKeyFlagNames) - 1));

void WriteNames(uint32_t bits, std::span<const std::string_view> names, std::string_view prefix,
                ReplyWriter& out) {
  const uint32_t shown = bits & ((1u << names.size()) - 1);
  out.Set(static_cast<size_t>(std::popcount(shown)));
  for (size_t i = 0; i < names.size(); ++i) {
    if (shown & (1u << i)) out.Simple(std::string(prefix) + std::string(names[i]));
  }
}

void WriteNumber(std::string_view name, int64_t value, ReplyWriter& out) {
  out.Bulk(name);
  out.Integer(value);
}

void WriteType(std::string_view type, size_t spec_fields, ReplyWriter& out) {
  out.Map(2);
  out.Bulk("type");
  out.Bulk(type);
  out.Bulk("spec");
  out.Map(spec_fields);
}

void WriteBegin(const KeySpec& spec, ReplyWriter& out) {
  switch (spec.begin) {
    case KeySpec::Begin::kUnknown:
      WriteType("unknown", 0, out);
      break;
    case KeySpec::Begin::kIndex:
      WriteType("index", 1, out);
      WriteNumber("index", spec.position, out);
      break;
    case KeySpec::Begin::kKeyword:
      WriteType("keyword", 2, out);
      out.Bulk("keyword");
      out.Bulk(spec.keyword);
      WriteNumber("startfrom", spec.position, out);
      break;
  }
}

void WriteFind(const KeySpec& spec, ReplyWriter& out) {
  switch (spec.find) {
    case KeySpec::Find::kUnknown:
      WriteType("unknown", 0, out);
      break;
    case KeySpec::Find::kRange:
      WriteType("range", 3, out);
      WriteNumber("lastkey", spec.last, out);
      WriteNumber("keystep", spec.step, out);
      WriteNumber("limit", spec.limit, out);
      break;
    case KeySpec::Find::kKeynum:
      WriteType("keynum", 3, out);
      WriteNumber("keynumidx", spec.number_index, out);
      WriteNumber("firstkey", spec.first_key, out);
      WriteNumber("keystep", spec.step, out);
      break;
  }
}

void WriteKeySpecs(std::span<const KeySpec> specs, ReplyWriter& out) {
  out.Set(specs.size());
  for (const KeySpec& spec : specs) {
    out.Map(3);
    out.Bulk("flags");
    WriteNames(spec.flags, kKeyFlagNames, "", out);
    out.Bulk("begin_search");
    WriteBegin(spec, out);
    out.Bulk("find_keys");
    WriteFind(spec, out);
  }
}

void WriteTips(std::string_view tips, ReplyWriter& out) {
  out.Set(tips.empty() ? 0 : static_cast<size_t>(std::count(tips.begin(), tips.end(), ' ')) + 1);
  while (!tips.empty()) {
    const size_t space = tips.find(' ');
    out.Bulk(tips.substr(0, space));
    tips = space == std::string_view::npos ? std::string_view() : tips.substr(space + 1);
  }
}

}  // namespace

std::span<const std::string_view> CommandFlagNames() { return kCommandFlagNames; }
std::span<const std::string_view> AclCategoryNames() { return kAclCategoryNames; }
std::span<const std::string_view> KeyFlagNames() { return kKeyFlagNames; }

std::optional<uint32_t> BitOf(std::span<const std::string_view> names, std::string_view name) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (EqualsIgnoringCase(names[i], name)) return 1u << i;
  }
  return std::nullopt;
}

void WriteCommandInfo(const CommandRow& row, ReplyWriter& out) {
  WriteCommandInfo(row, Subcommands(row), out);
}

void WriteCommandInfo(const CommandRow& row, std::span<const CommandRow> subcommands, ReplyWriter& out) {
  out.Array(10);
  out.Bulk(row.name);
  out.Integer(row.arity);
  WriteNames(row.flags, kCommandFlagNames, "", out);
  out.Integer(row.first_key);
  out.Integer(row.last_key);
  out.Integer(row.key_step);
  WriteNames(row.acl, kAclCategoryNames, "@", out);
  WriteTips(row.tips, out);
  WriteKeySpecs(row.keys, out);
  if (subcommands.empty()) {
    out.Set(0);
    return;
  }
  out.Array(subcommands.size());
  for (const CommandRow& subcommand : subcommands) WriteCommandInfo(subcommand, out);
}

}  // namespace ringway::protocol
