#include "proxy/control/learned_union.h"

#include <algorithm>
#include <set>
#include <utility>

#include "protocol/reply_cursor.h"

namespace ringway::proxy {
namespace {

bool Teaches(std::string_view entry) {
  const auto learned = protocol::LearnedCommands::FromReply("*1\r\n" + std::string(entry));
  return learned != nullptr && learned->size() > 0;
}

}  // namespace

bool LearnedUnion::Take(uint32_t shard_id, std::string_view command_reply) {
  std::vector<std::string> entries;
  protocol::ReplyCursor cursor(command_reply);
  for (std::string_view entry; entries.size() < protocol::LearnedCommands::kMaxRows && cursor.Next(&entry);) {
    if (Teaches(entry)) entries.emplace_back(entry);
  }
  std::sort(entries.begin(), entries.end());
  if (entries.empty()) return Forget(shard_id);
  auto& known = entries_[shard_id];
  if (known == entries) return false;
  known = std::move(entries);
  return Rebuild();
}

bool LearnedUnion::Forget(uint32_t shard_id) { return entries_.erase(shard_id) > 0 && Rebuild(); }

bool LearnedUnion::Rebuild() {
  std::set<std::string_view> seen;
  std::string bodies;
  for (const auto& [id, entries] : entries_) {
    for (const std::string& entry : entries) {
      if (seen.insert(entry).second) bodies += entry;
    }
  }
  std::string joined = "*" + std::to_string(seen.size()) + "\r\n" + bodies;
  if (joined == joined_) return false;
  joined_ = std::move(joined);
  learned_ = protocol::LearnedCommands::FromReply(joined_);
  return true;
}

}  // namespace ringway::proxy
