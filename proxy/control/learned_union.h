#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/learned_commands.h"

namespace ringway::proxy {

// The commands that any shard knows and the table does not. Where two shards describe a command differently,
// the shard of the lower id is believed. Of each answer only what teaches something is kept. Thread: one.
// Owns: those entries, as bytes. Limits: LearnedCommands::kMaxRows for each shard.
class LearnedUnion {
 public:
  // `command_reply` is a shard's whole answer to COMMAND. True if learned() is another one now.
  bool Take(uint32_t shard_id, std::string_view command_reply);
  // The shard has left. True as above.
  bool Forget(uint32_t shard_id);

  // Null until something was learnt.
  std::shared_ptr<const protocol::LearnedCommands> learned() const { return learned_; }

 private:
  bool Rebuild();

  std::map<uint32_t, std::vector<std::string>> entries_;  // by shard, sorted: servers give them in any order
  std::string joined_;
  std::shared_ptr<const protocol::LearnedCommands> learned_;
};

}  // namespace ringway::proxy
