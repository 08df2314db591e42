#include "protocol/command_table.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "protocol/command_derive.h"
#include "protocol/command_name.h"
#include "protocol/command_row_source.h"
#include "protocol/command_rows_connection.h"
#include "protocol/command_rows_generic.h"
#include "protocol/command_rows_list_set_hash.h"
#include "protocol/command_rows_scripting.h"
#include "protocol/command_rows_server.h"
#include "protocol/command_rows_small_types.h"
#include "protocol/command_rows_sorted_set.h"
#include "protocol/command_rows_stream.h"
#include "protocol/command_rows_string.h"

namespace ringway::protocol {
namespace {

struct Group {
  CommandGroup group;
  uint32_t category;  // that its commands belong to; 0: none
  std::span<const rows::RowSource> rows;
};

constexpr Group kGroups[] = {
    {CommandGroup::kString, kAclString, rows::kStringRows},
    {CommandGroup::kList, kAclList, rows::kListRows},
    {CommandGroup::kSet, kAclSet, rows::kSetRows},
    {CommandGroup::kHash, kAclHash, rows::kHashRows},
    {CommandGroup::kSortedSet, kAclSortedSet, rows::kSortedSetRows},
    {CommandGroup::kStream, kAclStream, rows::kStreamRows},
    {CommandGroup::kBitmap, kAclBitmap, rows::kBitmapRows},
    {CommandGroup::kHyperLogLog, kAclHyperLogLog, rows::kHyperloglogRows},
    {CommandGroup::kGeo, kAclGeo, rows::kGeoRows},
    {CommandGroup::kGeneric, kAclKeyspace, rows::kGenericRows},
    {CommandGroup::kScripting, kAclScripting, rows::kScriptingRows},
    {CommandGroup::kTransactions, kAclTransaction, rows::kTransactionsRows},
    {CommandGroup::kPubSub, kAclPubSub, rows::kPubsubRows},
    {CommandGroup::kConnection, kAclConnection, rows::kConnectionRows},
    {CommandGroup::kCluster, 0, rows::kClusterRows},
    {CommandGroup::kServer, 0, rows::kServerRows},
};

constexpr size_t CountRows() {
  size_t count = 0;
  for (const Group& group : kGroups) count += group.rows.size();
  return count;
}
static_assert(CountRows() == kCommandCount, "kCommandCount and the row files differ");

constexpr size_t CountSpecs() {
  size_t count = 0;
  for (const Group& group : kGroups) {
    for (const rows::RowSource& row : group.rows) count += row.key_count;
  }
  return count;
}

// All key specifications in one array, in the order of the rows, so that a row is small.
constexpr std::array<KeySpec, CountSpecs()> MakeSpecs() {
  std::array<KeySpec, CountSpecs()> specs = {};
  size_t next = 0;
  for (const Group& group : kGroups) {
    for (const rows::RowSource& row : group.rows) {
      for (size_t i = 0; i < row.key_count; ++i) specs[next++] = row.keys[i];
    }
  }
  return specs;
}
constexpr auto kSpecs = MakeSpecs();

// Commands whose specifications do not say, or say less well than their options do, where keys are.
struct KindOfItsOwn {
  std::string_view name;
  KeyKind kind;
};
constexpr KindOfItsOwn kKindsOfTheirOwn[] = {
    {"georadius", KeyKind::kStore}, {"georadiusbymember", KeyKind::kStore},
    {"xread", KeyKind::kStreams},   {"xreadgroup", KeyKind::kStreams},
    {"sort", KeyKind::kSort},       {"sort_ro", KeyKind::kFirst},
    {"migrate", KeyKind::kMigrate},
};

constexpr CommandRow MakeRow(const Group& group, const rows::RowSource& source,
                             std::span<const KeySpec> specs) {
  CommandRow row;
  row.name = source.name;
  row.flags = source.flags;
  row.arity = source.arity;
  row.request = source.request;
  row.response = source.response;
  row.unserved = source.unserved;
  row.group = group.group;
  row.acl = WithImplicitAcl(source.acl | (source.in_group_category ? group.category : 0), source.flags);
  row.keys = specs;
  row.tips = source.tips;
  const LegacyRange range = LegacyRangeOf(specs);
  row.first_key = range.first;
  row.last_key = range.last;
  row.key_step = range.step;
  row.key_kind = KeyKindOf(specs, range, source.flags);
  for (const KindOfItsOwn& own : kKindsOfTheirOwn) {
    if (own.name == row.name) row.key_kind = own.kind;
  }
  return row;
}

constexpr std::array<CommandRow, kCommandCount> MakeRows() {
  std::array<CommandRow, kCommandCount> table = {};
  size_t next_row = 0;
  size_t next_spec = 0;
  uint16_t container = CommandRow::kNoRow;
  for (const Group& group : kGroups) {
    for (const rows::RowSource& source : group.rows) {
      CommandRow row = MakeRow(group, source, std::span(kSpecs).subspan(next_spec, source.key_count));
      next_spec += source.key_count;
      row.id = static_cast<uint16_t>(next_row);
      if (row.name.find('|') == std::string_view::npos) {
        container = row.id;
      } else {
        row.parent = container;
        ++table[container].subcommands;
      }
      table[next_row++] = row;
    }
  }
  return table;
}
constexpr auto kRows = MakeRows();

constexpr std::string_view OwnName(const CommandRow& row) {
  return row.parent == CommandRow::kNoRow ? row.name : row.name.substr(kRows[row.parent].name.size() + 1);
}

// An open-addressing hash of all names, subcommands with their container's id, built by the
// compiler.
struct Slot {
  std::array<uint64_t, 3> words = {};
  uint32_t owner_and_length = 0;
  uint16_t row = CommandRow::kNoRow;
};
constexpr unsigned kSlotBits = 10;
constexpr size_t kSlotMask = (size_t{1} << kSlotBits) - 1;
static_assert(sizeof(Slot) == 32, "two slots to a cache line");
static_assert(kCommandCount * 5 < (kSlotMask + 1) * 2,
              "at most 40 % full, so a look-up seldom sees a second slot");

constexpr uint32_t OwnerAndLength(uint16_t parent, size_t length) {
  return uint32_t{parent} << 8 | static_cast<uint32_t>(length);
}

constexpr size_t HashName(const std::array<uint64_t, 3>& words, uint32_t owner_and_length) {
  // Odd constants with well-mixed bits: the golden ratio's and those of SplitMix64.
  uint64_t hash = (words[0] + owner_and_length) * 0x9e3779b97f4a7c15u;
  hash ^= words[1] * 0xbf58476d1ce4e5b9u ^ words[2] * 0x94d049bb133111ebu;
  hash ^= hash >> 32;
  return (hash * 0x9e3779b97f4a7c15u) >> (64 - kSlotBits);
}

constexpr std::array<Slot, kSlotMask + 1> MakeSlots() {
  std::array<Slot, kSlotMask + 1> slots = {};
  for (const CommandRow& row : kRows) {
    const FoldedName name = FoldName(OwnName(row));
    const uint32_t owner_and_length = OwnerAndLength(row.parent, name.length);
    size_t at = HashName(name.words, owner_and_length);
    while (slots[at].row != CommandRow::kNoRow) at = (at + 1) & kSlotMask;
    slots[at] = {name.words, owner_and_length, row.id};
  }
  return slots;
}
constexpr auto kSlots = MakeSlots();

template <typename IsName>
const CommandRow* Probe(size_t at, IsName is_name) {
  for (;; at = (at + 1) & kSlotMask) {
    const Slot& slot = kSlots[at];
    if (slot.row == CommandRow::kNoRow) return nullptr;
    if (is_name(slot)) return &kRows[slot.row];
  }
}

const CommandRow* Find(std::string_view name, uint16_t parent) {
  if (name.size() > FoldedName::kMaxLength) return nullptr;
  const uint32_t key = OwnerAndLength(parent, name.size());
  if (name.size() <= 8) {  // nearly all requests: one word is the whole name
    const uint64_t word = LowerEight(internal::LoadUpToEight(name.data(), name.size()));
    return Probe(HashName({word, 0, 0}, key),
                 [&](const Slot& slot) { return slot.words[0] == word && slot.owner_and_length == key; });
  }
  const FoldedName folded = FoldName(name);
  return Probe(HashName(folded.words, key),
               [&](const Slot& slot) { return slot.words == folded.words && slot.owner_and_length == key; });
}

std::string_view UnservedText(Unserved reason) {
  switch (reason) {
    case Unserved::kNone:
      return "it is not served";
    case Unserved::kForBlocking:
      return "commands of modules that wait at their server are not served";
    case Unserved::kForPubSub:
      return "pub/sub is not served";
    case Unserved::kForMonitor:
      return "a monitor of all shards is not served, ask a shard itself";
    case Unserved::kForTracking:
      return "client-side caching is not served";
    case Unserved::kForReplication:
      return "replication is set up at the shards themselves";
    case Unserved::kForUsers:
      return "users are set up in the configuration";
    case Unserved::kForModules:
      return "modules are loaded at the shards themselves";
    case Unserved::kForMigrate:
      return "keys are moved between shards by RING";
    case Unserved::kForPerShard:
      return "it describes a single server, ask a shard itself";
    case Unserved::kForSwapDb:
      return "shards cannot swap databases at one moment";
    case Unserved::kForDebug:
      return "debugging is done at a shard itself";
    case Unserved::kForShutdown:
      return "servers are stopped where they run";
    case Unserved::kForUnknownKeys:
      return "no shard tells which of its arguments are keys";
  }
  return "it is not served";
}

}  // namespace

std::span<const CommandRow> AllCommands() { return kRows; }

const CommandRow* FindCommand(std::string_view name) { return Find(name, CommandRow::kNoRow); }

const CommandRow* FindSubcommand(const CommandRow& container, std::string_view name) {
  return container.subcommands == 0 ? nullptr : Find(name, container.id);
}

const CommandRow* FindByFullName(std::string_view full_name) {
  const size_t bar = full_name.find('|');
  const CommandRow* row = FindCommand(full_name.substr(0, bar));
  if (row == nullptr || bar == std::string_view::npos) return row;
  return FindSubcommand(*row, full_name.substr(bar + 1));
}

std::span<const CommandRow> Subcommands(const CommandRow& container) {
  if (container.subcommands == 0 || container.group == CommandGroup::kLearned) return {};
  return std::span(kRows).subspan(container.id + 1, container.subcommands);
}

std::string UnsupportedText(const CommandRow& row) {
  std::string text = "ERR ";
  for (const char c : row.name) {
    text += c == '|' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  text += " is not available: ";
  text += UnservedText(row.unserved);
  return text;
}

}  // namespace ringway::protocol
