// Commands that a shard knows and the table does not: modules, newer servers.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "protocol/command_table.h"

namespace ringway::protocol {

// Rows made from a shard's own answer to COMMAND. What the table knows is left out, so ask the table
// first. A learnt command is served
//   - by its keys on one shard, if it has keys. They must share a tag even if its tips allow splitting:
//     how to cut such a request and join its replies is not told;
//   - on all shards, if its tips say so, with the tips' way to join the replies (none: arrays, joined);
//   - on any shard, if it has no keys and is an ordinary command;
//   - not at all, if it blocks, subscribes, administers one server, or its tips ask for special care.
// A new subcommand of a container in the table is learnt if it has keys: all others belong to what the
// proxy answers itself.
//
// Thread: any, it never changes. Owns: its rows; they live as long as it does.
// Limits: kMaxRows commands, names of kMaxNameBytes, kMaxKeySpecs each; what is beyond is not learnt.
class LearnedCommands {
 public:
  static constexpr size_t kMaxRows = 10000;  // the largest module sets have some hundreds
  static constexpr size_t kMaxNameBytes = 128;
  static constexpr size_t kMaxKeySpecs = 32;
  static constexpr uint16_t kId = kCommandCount;  // of every learnt row: one more place in arrays of figures

  // `command_reply` is the whole answer to COMMAND, in RESP2 or RESP3, of any server version (those
  // before 7.0 tell no key specifications, and the first, last and step are taken instead). Null if
  // it is no array. Entries that make no sense are skipped.
  static std::unique_ptr<const LearnedCommands> FromReply(std::string_view command_reply);

  // A command's row by its name in any case, or null.
  const CommandRow* Find(std::string_view name) const;
  // A subcommand of a container in the table or a learnt one.
  const CommandRow* FindSubcommand(const CommandRow& container, std::string_view name) const;

  size_t size() const { return rows_.size(); }
  const std::deque<CommandRow>& rows() const { return rows_; }

 private:
  LearnedCommands() = default;

  const CommandRow* FindByFullName(std::string_view full_name) const;
  void LearnEntry(std::string_view entry, const CommandRow* container);
  void Add(CommandRow row, std::string name, std::string tips, std::vector<KeySpec> specs);

  // Deques, since rows point at texts and specifications, and clients of Find at rows.
  std::deque<CommandRow> rows_;
  std::deque<std::string> texts_;
  std::deque<std::vector<KeySpec>> specs_;
  std::unordered_map<std::string_view, const CommandRow*> by_name_;
};

}  // namespace ringway::protocol
