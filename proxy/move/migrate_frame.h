#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "config/config.h"

namespace ringway::proxy {

// Moving keys from one server to another, as a transaction on the source:
//
//   MULTI / EXISTS k.. / [MEMORY USAGE k].. / MIGRATE target "" db timeout REPLACE .. KEYS k.. / EXISTS k.. /
//   EXEC
//
// Nothing can come between its commands, so what MIGRATE moved is exactly the difference of the two counts,
// even when it failed half way. REPLACE, because what the source still holds is the truth. MIGRATE is atomic
// on both servers and may be repeated: whoever comes second finds no key.

// Appends the transaction. `keys`: at least one, none twice, all of database `db`, which the connection has
// selected. `timeout_ms` above 0: the longest that the source waits for the target in one step. `with_sizes`:
// asks for the memory of each key.
void AppendMigrateBatch(std::string& out, const config::ShardConfig& target, uint32_t db, int64_t timeout_ms,
                        std::span<const std::string_view> keys, bool with_sizes);

// How many replies the source gives to that. EXEC's is the last; those before it matter only if they are
// errors.
size_t MigrateBatchReplies(size_t keys, bool with_sizes);

struct MigrateBatchResult {
  enum class Verdict : uint8_t {
    kMoved,              // none of the keys is at the source any more, but for what has just expired
    kTargetUnreachable,  // for the source; it keeps its keys, and the target may have copies
    kTargetRefused,      // the target's own error: out of memory, read-only, wrong password, ...
    kSourceFailed,       // everything else
  };
  Verdict verdict = Verdict::kMoved;
  uint64_t found = 0;  // of the keys, before
  uint64_t moved = 0;  // also when others failed
  uint64_t bytes = 0;  // the memory of those found; 0 if it was not asked for
  std::string error;   // unless kMoved: what the server said, without secrets
};

// Reads EXEC's reply to a batch of `keys` keys. A reply that is an error (EXEC's own, or that of a command
// before it, which says more) gives kSourceFailed with its text.
MigrateBatchResult ReadMigrateBatch(std::string_view exec_reply, size_t keys, bool with_sizes);

// A server's error, without the arguments that it may quote: these can hold a password.
std::string ErrorWithoutArguments(std::string_view error_text);

// Why no server can be told to MIGRATE to this one, to follow its name; empty if it can.
std::string_view WhyUnmigratable(const config::ShardConfig& target);

}  // namespace ringway::proxy
