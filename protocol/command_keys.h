// Which arguments of a request are keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/command_table.h"
#include "protocol/request_view.h"

namespace ringway::protocol {

// Indices of arguments, in the order in which the server names the keys. Reuse one object: it keeps
// its memory, so that nothing is allocated once it has seen the longest request.
// Thread: any one at a time. Owns: its memory. Limits: as many as a request has arguments.
class KeyList {
 public:
  void Clear() { indices_.clear(); }
  void Add(size_t index) { indices_.push_back(static_cast<uint32_t>(index)); }

  size_t size() const { return indices_.size(); }
  bool empty() const { return indices_.empty(); }
  uint32_t operator[](size_t i) const { return indices_[i]; }
  const uint32_t* begin() const { return indices_.data(); }
  const uint32_t* end() const { return indices_.data() + indices_.size(); }

 private:
  std::vector<uint32_t> indices_;
};

enum class KeyStatus : uint8_t {
  kOk,         // at least one key
  kNoKeys,     // rightly none: the command has no keys, or EVAL's count of them is 0
  kInvalid,    // no keys can be made out, since the arguments are wrong: any shard will say how
  kAskServer,  // only COMMAND GETKEYS of a shard can tell (learnt commands alone)
};

namespace internal {
KeyStatus FindKeysSlowly(const CommandRow& row, const RequestView& request, KeyList* keys);
}

// Finds the keys of `request`, whose command is `row` (the subcommand's row if it is one). `keys` is
// cleared first, and empty unless the answer is kOk. The result is that of Redis's COMMAND GETKEYS;
// where that strays from what the command then executes on, the latter: see command_keys.cc.
// The request need not have passed ArityFits.
inline KeyStatus FindKeys(const CommandRow& row, const RequestView& request, KeyList* keys) {
  keys->Clear();
  if (row.key_kind == KeyKind::kFirst && request.size() > 1) {
    keys->Add(1);
    return KeyStatus::kOk;
  }
  return internal::FindKeysSlowly(row, request, keys);
}

// Arguments of a SORT or SORT_RO that are patterns of further keys: BY and GET with a '*'. Which keys
// the server then reads depends on what it sorts, so it finds only those that its own shard holds.
void FindSortPatterns(const RequestView& request, KeyList* patterns);

// Whether a command of this row may keep its connection waiting: those flagged kBlocking, of XREAD and
// XREADGROUP only such as say BLOCK.
bool MayBlock(const CommandRow& row, const RequestView& request);

}  // namespace ringway::protocol
