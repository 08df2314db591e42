// Every bound on what a peer may make the protocol layer read, count or remember, with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringway::protocol {

// The longest line of a request before its line end: an inline command, `*<count>` or `$<length>`.
// Redis's PROTO_INLINE_MAX_SIZE; beyond it a client is cut off.
inline constexpr size_t kMaxInlineBytes = 64 * 1024;

// Arguments of one request. Redis allows 2^31-1, which costs it a pointer each; a million is more
// than any client library sends at once, and bounds the argument table at 8 MiB.
inline constexpr uint32_t kMaxMultibulkCount = 1024 * 1024;

// One argument: Redis's default proto-max-bulk-len, also the longest string it stores.
inline constexpr uint32_t kMaxBulkBytes = 512u * 1024 * 1024;

// A whole request, unless configured otherwise: Redis's default client-query-buffer-limit.
inline constexpr uint32_t kDefaultMaxRequestBytes = 1024u * 1024 * 1024;

// A whole request, whatever is configured: positions within a request are kept in 32 bits.
inline constexpr uint32_t kMaxRequestBytes = 0xffff'ffff;

// What a client may send before it has authenticated, so that strangers cannot make the proxy hold
// much for them. Redis's numbers: enough for HELLO 3 AUTH <user> <password> SETNAME <name>.
inline constexpr uint32_t kMaxUnauthenticatedArgs = 10;
inline constexpr uint32_t kMaxUnauthenticatedBulkBytes = 16384;

// Arguments for which a request parser has room in itself; `SET key value EX 10 NX` needs six.
inline constexpr uint32_t kInlineArgs = 6;

// The argument table a parser keeps between requests (bytes: eight times this); MGET of a hundred
// keys stays free of allocation, while ten thousand idle clients cost ten megabytes at the worst.
inline constexpr uint32_t kKeptArgs = 128;

// Nesting of a reply. A client can have a shard nest as deep as a Lua table converts, which Lua's
// stack ends below 8000 (LUAI_MAXCSTACK). The limit lies just above it, because a refusal costs
// everybody on that shard connection; at 8 bytes a level it is 64 KiB, given back afterwards.
inline constexpr size_t kMaxReplyDepth = 8192;

// Levels of nesting for which a scanner keeps memory between replies.
inline constexpr size_t kKeptReplyDepth = 64;

// The longest length or count a reply may announce. Nothing is allocated for it, so the limit only
// tells a broken stream from a large value: no Redis holds a string of 1 TiB.
inline constexpr int64_t kMaxReplyLength = int64_t{1} << 40;

// The longest name or argument that an error text quotes (Redis: 128).
inline constexpr size_t kMaxQuotedBytes = 128;

// What one client may send; the parser is told at each call, as it changes on AUTH and CONFIG SET.
struct RequestLimits {
  uint32_t max_bulk_bytes = kMaxBulkBytes;               // bytes of one argument
  uint32_t max_request_bytes = kDefaultMaxRequestBytes;  // bytes of the whole frame
  uint32_t max_args = kMaxMultibulkCount;                // arguments, the command's name included
  bool unauthenticated = false;                          // the two limits above apply as well
};

}  // namespace ringway::protocol
