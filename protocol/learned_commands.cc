#include "protocol/learned_commands.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "protocol/command_derive.h"
#include "protocol/command_info.h"
#include "protocol/command_name.h"
#include "protocol/reply_cursor.h"

namespace ringway::protocol {
namespace {

constexpr size_t kMaxFields = 10;
enum Field : size_t {
  kName,
  kArity,
  kFlags,
  kFirst,
  kLast,
  kStep,
  kCategories,
  kTips,
  kKeySpecs,
  kSubcommands
};

std::string Lowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = LowerLetter(c);
  return lower;
}

std::optional<int16_t> SmallIntegerOf(std::string_view reply) {
  const std::optional<int64_t> value = IntegerOf(reply);
  if (!value || *value < std::numeric_limits<int16_t>::min() ||
      *value > std::numeric_limits<int16_t>::max()) {
    return std::nullopt;
  }
  return static_cast<int16_t>(*value);
}

// The bits of the names in an array or set; names that are not known are passed over.
uint32_t BitsOf(std::string_view reply, std::span<const std::string_view> names) {
  uint32_t bits = 0;
  ReplyCursor cursor(reply);
  for (std::string_view element; cursor.Next(&element);) {
    std::string_view name = BulkOf(element).value_or(std::string_view());
    if (name.starts_with('@')) name.remove_prefix(1);
    bits |= BitOf(names, name).value_or(0);
  }
  return bits;
}

// The value of `name` in a map, or in RESP2's flat array of names and values; empty if it is not there.
std::string_view ValueOf(std::string_view map, std::string_view name) {
  ReplyCursor cursor(map);
  for (std::string_view key, value; cursor.Next(&key) && cursor.Next(&value);) {
    if (BulkOf(key) == name) return value;
  }
  return {};
}

// Sets `number` from the field of a map; false if it is missing or out of range.
bool Read(std::string_view map, std::string_view name, int16_t* number) {
  const std::optional<int16_t> value = SmallIntegerOf(ValueOf(map, name));
  if (value) *number = *value;
  return value.has_value();
}

// One key specification. Types of search that are not known stay kUnknown.
KeySpec ParseKeySpec(std::string_view entry, std::deque<std::string>* texts) {
  KeySpec spec;
  spec.flags = static_cast<uint16_t>(BitsOf(ValueOf(entry, "flags"), KeyFlagNames()));
  const std::string_view begin = ValueOf(entry, "begin_search");
  const std::string_view where = ValueOf(begin, "spec");
  const std::optional<std::string_view> begin_type = BulkOf(ValueOf(begin, "type"));
  if (begin_type == "index" && Read(where, "index", &spec.position)) {
    spec.begin = KeySpec::Begin::kIndex;
  } else if (begin_type == "keyword" && Read(where, "startfrom", &spec.position)) {
    spec.begin = KeySpec::Begin::kKeyword;
    spec.keyword = texts->emplace_back(BulkOf(ValueOf(where, "keyword")).value_or(std::string_view()));
  }
  const std::string_view find = ValueOf(entry, "find_keys");
  const std::string_view what = ValueOf(find, "spec");
  const std::optional<std::string_view> find_type = BulkOf(ValueOf(find, "type"));
  if (!Read(what, "keystep", &spec.step)) return spec;
  if (find_type == "range" && Read(what, "lastkey", &spec.last) && Read(what, "limit", &spec.limit)) {
    // 1 means the same as 0, and a limit below that has no meaning.
    if (spec.limit >= 0) spec.find = KeySpec::Find::kRange;
  } else if (find_type == "keynum" && Read(what, "keynumidx", &spec.number_index) &&
             Read(what, "firstkey", &spec.first_key)) {
    spec.find = KeySpec::Find::kKeynum;
  }
  return spec;
}

std::vector<KeySpec> ParseKeySpecs(std::string_view reply, std::deque<std::string>* texts) {
  std::vector<KeySpec> specs;
  ReplyCursor cursor(reply);
  for (std::string_view entry; specs.size() < LearnedCommands::kMaxKeySpecs && cursor.Next(&entry);) {
    specs.push_back(ParseKeySpec(entry, texts));
  }
  return specs;
}

std::string ParseTips(std::string_view reply) {
  std::string tips;
  ReplyCursor cursor(reply);
  for (std::string_view element; cursor.Next(&element);) {
    if (!tips.empty()) tips += ' ';
    tips += BulkOf(element).value_or(std::string_view());
  }
  return tips;
}

// The value of "name:value" among the tips; empty if it is not there.
std::string_view TipValue(std::string_view tips, std::string_view name) {
  const size_t at = tips.find(name);
  if (at == std::string_view::npos) return {};
  const std::string_view value = tips.substr(at + name.size());
  return value.substr(0, value.find(' '));
}

ResponsePolicy ResponseOf(std::string_view tip) {
  constexpr std::pair<std::string_view, ResponsePolicy> kTips[] = {
      {"one_succeeded", ResponsePolicy::kOneSucceeded},
      {"all_succeeded", ResponsePolicy::kAllSucceeded},
      {"agg_logical_and", ResponsePolicy::kLogicalAnd},
      {"agg_logical_or", ResponsePolicy::kLogicalOr},
      {"agg_min", ResponsePolicy::kMin},
      {"agg_max", ResponsePolicy::kMax},
      {"agg_sum", ResponsePolicy::kSum},
      {"", ResponsePolicy::kConcatenate},
  };
  for (const auto& [name, policy] : kTips) {
    if (name == tip) return policy;
  }
  return ResponsePolicy::kSpecial;
}

void Refuse(CommandRow* row, Unserved reason) {
  row->request = RequestPolicy::kUnsupported;
  row->response = ResponsePolicy::kPass;
  row->unserved = reason;
}

void Decide(CommandRow* row) {
  const std::string_view request = TipValue(row->tips, "request_policy:");
  row->response = ResponsePolicy::kPass;
  if (row->flags & kBlocking) return Refuse(row, Unserved::kForBlocking);
  if (row->flags & kPubSub) return Refuse(row, Unserved::kForPubSub);
  if (row->key_kind != KeyKind::kNone) {
    row->request = RequestPolicy::kOneShard;
  } else if (request == "all_shards" || request == "all_nodes") {
    row->request = RequestPolicy::kAllShards;
    row->response = ResponseOf(TipValue(row->tips, "response_policy:"));
    if (row->response == ResponsePolicy::kSpecial) Refuse(row, Unserved::kForPerShard);
  } else if (request == "special" || (row->flags & kAdmin)) {
    Refuse(row, Unserved::kForPerShard);
  } else {
    row->request = RequestPolicy::kAnyShard;
  }
}

// Where the keys are, or that only the server can tell.
KeyKind KindOf(const CommandRow& row, std::span<const KeySpec> specs) {
  if (specs.empty()) {
    if (row.flags & kMovableKeys) return KeyKind::kAskServer;
    if (row.first_key <= 0 || row.key_step <= 0) return KeyKind::kNone;
    return row.first_key == 1 && row.last_key == 1 ? KeyKind::kFirst : KeyKind::kRange;
  }
  for (const KeySpec& spec : specs) {
    const bool vague = spec.begin == KeySpec::Begin::kUnknown || spec.find == KeySpec::Find::kUnknown ||
                       (spec.flags & kIncomplete);
    if (vague && !(spec.flags & kNotKey)) return KeyKind::kAskServer;
  }
  return KeyKindOf(specs, {row.first_key, row.last_key, row.key_step}, row.flags);
}

}  // namespace

std::unique_ptr<const LearnedCommands> LearnedCommands::FromReply(std::string_view command_reply) {
  ReplyCursor cursor(command_reply);
  if (cursor.type() != '*' || cursor.length() < 0) return nullptr;
  std::unique_ptr<LearnedCommands> learned(new LearnedCommands);
  for (std::string_view entry; cursor.Next(&entry);) learned->LearnEntry(entry, nullptr);
  return learned;
}

// `container` is the entry's container, of the table or learnt, or null.
void LearnedCommands::LearnEntry(std::string_view entry, const CommandRow* container) {
  std::array<std::string_view, kMaxFields> fields;
  size_t count = 0;
  ReplyCursor cursor(entry);
  while (count < kMaxFields && cursor.Next(&fields[count])) ++count;
  const std::string_view own_name = BulkOf(fields[kName]).value_or(std::string_view());
  if (count <= kStep || own_name.empty() || own_name.size() > kMaxNameBytes || rows_.size() >= kMaxRows)
    return;

  const CommandRow* known = container == nullptr ? FindCommand(own_name) : protocol::FindByFullName(own_name);
  if (known == nullptr) {
    CommandRow row;
    const std::optional<int16_t> arity = SmallIntegerOf(fields[kArity]);
    if (!arity) return;
    row.arity = *arity;
    row.flags = BitsOf(fields[kFlags], CommandFlagNames());
    row.first_key = SmallIntegerOf(fields[kFirst]).value_or(0);
    row.last_key = SmallIntegerOf(fields[kLast]).value_or(0);
    row.key_step = SmallIntegerOf(fields[kStep]).value_or(0);
    row.acl = BitsOf(fields[kCategories], AclCategoryNames());
    const ReplyCursor subcommands(fields[kSubcommands]);
    row.subcommands = static_cast<uint16_t>(std::clamp<int64_t>(subcommands.length(), 0, kMaxRows));
    if (container != nullptr) row.parent = container->id;
    std::vector<KeySpec> specs = ParseKeySpecs(fields[kKeySpecs], &texts_);
    row.key_kind = KindOf(row, specs);
    // See the class comment: the rest of a known container's subcommands is the proxy's own affair.
    const bool of_table = container != nullptr && container->group != CommandGroup::kLearned;
    if (of_table && row.key_kind == KeyKind::kNone) return;
    Add(row, Lowered(own_name), ParseTips(fields[kTips]), std::move(specs));
    known = &rows_.back();
  }
  if (container != nullptr) return;  // containers do not nest
  ReplyCursor subcommands(fields[kSubcommands]);
  for (std::string_view subcommand; subcommands.Next(&subcommand);) LearnEntry(subcommand, known);
}

void LearnedCommands::Add(CommandRow row, std::string name, std::string tips, std::vector<KeySpec> specs) {
  if (by_name_.contains(name)) return;
  row.name = texts_.emplace_back(std::move(name));
  row.tips = texts_.emplace_back(std::move(tips));
  row.keys = specs_.emplace_back(std::move(specs));
  row.id = kId;
  row.group = CommandGroup::kLearned;
  Decide(&row);
  by_name_.emplace(row.name, &rows_.emplace_back(row));
}

const CommandRow* LearnedCommands::Find(std::string_view name) const {
  // A client that sends "OBJECT|NEW" as one word does not call the subcommand.
  return name.find('|') == std::string_view::npos ? FindByFullName(name) : nullptr;
}

const CommandRow* LearnedCommands::FindByFullName(std::string_view name) const {
  std::array<char, kMaxNameBytes> lower;
  if (name.size() > lower.size()) return nullptr;
  std::transform(name.begin(), name.end(), lower.begin(), LowerLetter);
  const auto found = by_name_.find(std::string_view(lower.data(), name.size()));
  return found == by_name_.end() ? nullptr : found->second;
}

const CommandRow* LearnedCommands::FindSubcommand(const CommandRow& container, std::string_view name) const {
  std::array<char, kMaxNameBytes> full;
  const size_t size = container.name.size() + 1 + name.size();
  if (size > full.size()) return nullptr;
  char* end = std::copy(container.name.begin(), container.name.end(), full.begin());
  *end++ = '|';
  std::copy(name.begin(), name.end(), end);
  return FindByFullName({full.data(), size});
}

}  // namespace ringway::protocol
