// COMMAND: what the proxy's table and the shards' learnt commands say of each command. DOCS goes to a shard.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "protocol/command_info.h"
#include "protocol/command_keys.h"
#include "protocol/error_replies.h"
#include "protocol/glob.h"
#include "proxy/local/entries.h"
#include "proxy/words.h"
#include "proxy/worker.h"

namespace ringway::proxy {
namespace {

using Outcome = RequestHandler::Outcome;
using protocol::CommandRow;

bool IsSubcommand(const CommandRow& row) { return row.name.find('|') != std::string_view::npos; }

// All rows, subcommands included: the table's, then those learnt.
void ForEachRow(const Router& router, const std::function<void(const CommandRow&)>& see) {
  for (const CommandRow& row : protocol::AllCommands()) see(row);
  if (router.learned() == nullptr) return;
  for (const CommandRow& row : router.learned()->rows()) see(row);
}

size_t CountCommands(const Router& router) {
  size_t count = 0;
  ForEachRow(router, [&count](const CommandRow& row) { count += IsSubcommand(row) ? 0 : 1; });
  return count;
}

// The entry of COMMAND INFO. Learnt subcommands stand apart from their container and are gathered for it,
// also for a container of the table that a newer server has more for.
void WriteRow(const Router& router, const CommandRow& row, protocol::ReplyWriter& out) {
  const auto known = protocol::Subcommands(row);
  std::vector<CommandRow> all(known.begin(), known.end());
  if (router.learned() != nullptr && !IsSubcommand(row)) {
    const std::string prefix = std::string(row.name) + "|";
    for (const CommandRow& other : router.learned()->rows()) {
      if (other.name.starts_with(prefix)) all.push_back(other);
    }
  }
  protocol::WriteCommandInfo(row, all, out);
}

void WriteAllRows(const Router& router, protocol::ReplyWriter& out) {
  out.Array(CountCommands(router));
  ForEachRow(router, [&](const CommandRow& row) {
    if (!IsSubcommand(row)) WriteRow(router, row, out);
  });
}

Outcome CommandAll(LocalCall& call) {
  WriteAllRows(call.worker.router(), call.reply);
  return Outcome::kTaken;
}

Outcome CommandCount(LocalCall& call) {
  call.reply.Integer(static_cast<int64_t>(CountCommands(call.worker.router())));
  return Outcome::kTaken;
}

const CommandRow* FindNamed(const Router& router, std::string_view full_name) {
  if (const CommandRow* row = protocol::FindByFullName(full_name)) return row;
  if (router.learned() == nullptr) return nullptr;
  const size_t bar = full_name.find('|');
  if (bar == std::string_view::npos) return router.learned()->Find(full_name);
  const CommandRow* container = FindNamed(router, full_name.substr(0, bar));
  return container == nullptr ? nullptr
                              : router.learned()->FindSubcommand(*container, full_name.substr(bar + 1));
}

Outcome CommandInfo(LocalCall& call) {
  const Router& router = call.worker.router();
  if (call.request.size() == 2) return CommandAll(call);
  call.reply.Array(call.request.size() - 2);
  for (size_t i = 2; i < call.request.size(); ++i) {
    if (const CommandRow* row = FindNamed(router, call.request[i])) {
      WriteRow(router, *row, call.reply);
    } else {
      call.reply.Null();
    }
  }
  return Outcome::kTaken;
}

// Which rows COMMAND LIST names; an unknown category means none.
using RowFilter = std::function<bool(const CommandRow&)>;

RowFilter ByCategory(std::string_view name) {
  const std::optional<uint32_t> bit = protocol::BitOf(protocol::AclCategoryNames(), name);
  return
      [bit](const CommandRow& row) { return bit.has_value() && (protocol::AclCategories(row) & *bit) != 0; };
}

RowFilter ByPattern(std::string_view pattern) {
  return [pattern](const CommandRow& row) {
    return protocol::GlobMatch(pattern, row.name, protocol::GlobCase::kIgnore);
  };
}

Outcome CommandList(LocalCall& call) {
  const protocol::RequestView& request = call.request;
  RowFilter filter = [](const CommandRow&) { return true; };
  if (request.size() == 5 && IsWord(request[2], "filterby")) {
    // Only the shards know which of their commands came with which module.
    if (IsWord(request[3], "module")) return AskAnyShard(call);
    if (IsWord(request[3], "aclcat")) {
      filter = ByCategory(request[4]);
    } else if (IsWord(request[3], "pattern")) {
      filter = ByPattern(request[4]);
    } else {
      call.reply.Error(protocol::kSyntaxError);
      return Outcome::kTaken;
    }
  } else if (request.size() != 2) {
    call.reply.Error(protocol::kSyntaxError);
    return Outcome::kTaken;
  }
  std::vector<std::string_view> names;
  ForEachRow(call.worker.router(), [&](const CommandRow& row) {
    if (filter(row)) names.push_back(row.name);
  });
  call.reply.Array(names.size());
  for (const std::string_view name : names) call.reply.Bulk(name);
  return Outcome::kTaken;
}

bool HasKeys(const CommandRow& row) {
  return std::any_of(row.keys.begin(), row.keys.end(),
                     [](const protocol::KeySpec& spec) { return (spec.flags & protocol::kNotKey) == 0; });
}

Outcome CommandGetKeys(LocalCall& call) {
  // The command behind COMMAND GETKEYS; its frame is not asked for.
  const protocol::RequestView asked(call.request.frame(), call.request.args().subspan(2));
  const CommandRow* row = call.worker.router().FindRow(asked);
  if (row == nullptr) {
    call.reply.Error("ERR Invalid command specified");
    return Outcome::kTaken;
  }
  if (row->key_kind == protocol::KeyKind::kAskServer) return AskAnyShard(call);
  protocol::KeyList keys;
  if (!HasKeys(*row)) {
    call.reply.Error("ERR The command has no key arguments");
  } else if (!protocol::ArityFits(*row, asked.size())) {
    call.reply.Error("ERR Invalid number of arguments specified for command");
  } else if (protocol::FindKeys(*row, asked, &keys) == protocol::KeyStatus::kOk ||
             (row->flags & protocol::kNoMandatoryKeys) != 0) {
    call.reply.Array(keys.size());
    for (const uint32_t index : keys) call.reply.Bulk(asked[index]);
  } else {
    call.reply.Error("ERR Invalid arguments specified for command");
  }
  return Outcome::kTaken;
}

constexpr LocalEntry kEntries[] = {
    {"command", &CommandAll},
    {"command|count", &CommandCount},
    {"command|info", &CommandInfo},
    {"command|list", &CommandList},
    {"command|getkeys", &CommandGetKeys},
    // What a key is used for may hang on further arguments (SET's GET, BITFIELD's operations): any shard
    // knows.
    {"command|getkeysandflags", &AskAnyShard},
    {"command|help", &AskAnyShard},
};

}  // namespace

std::span<const LocalEntry> CommandCommands() { return kEntries; }

}  // namespace ringway::proxy
