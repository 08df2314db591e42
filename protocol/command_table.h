// What is known of each Redis command before a request of it is served: how many arguments it
// takes, what it does to keys and where they stand, which shards must see it, and how their
// replies become one. The facts are those of Redis 7.0.15 and a test compares every row with a
// server's COMMAND; the policies are Redis's tips unless the row says why not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ringway::protocol {

// Redis's command flags. The order is the one in which COMMAND INFO lists them.
enum CommandFlag : uint32_t {
  kWrite = 1u << 0,
  kReadonly = 1u << 1,
  kDenyOom = 1u << 2,
  kModule = 1u << 3,
  kAdmin = 1u << 4,
  kPubSub = 1u << 5,
  kNoScript = 1u << 6,
  kBlocking = 1u << 7,
  kLoading = 1u << 8,
  kStale = 1u << 9,
  kSkipMonitor = 1u << 10,
  kSkipSlowlog = 1u << 11,
  kAsking = 1u << 12,
  kFast = 1u << 13,
  kNoAuth = 1u << 14,
  kNoMandatoryKeys = 1u << 15,
  kNoAsyncLoading = 1u << 16,
  kNoMulti = 1u << 17,
  kMovableKeys = 1u << 18,  // first, last and step do not tell all keys
  kAllowBusy = 1u << 19,
  // Redis keeps the following to itself: COMMAND does not show them.
  kMayReplicate = 1u << 20,  // may write although it is not flagged kWrite: EVAL, FCALL, PFCOUNT
  kProtected = 1u << 21,     // refused unless the configuration enables it
  // And this is Ringway's own: tells of the key rather than of its value (TTL, OBJECT), keeps a place in it
  // (HSCAN), or runs code that sees its name.
  kNotByCopy = 1u << 22,
};

// ACL categories, in the order in which COMMAND INFO lists them.
enum AclCategory : uint32_t {
  kAclKeyspace = 1u << 0,
  kAclRead = 1u << 1,
  kAclWrite = 1u << 2,
  kAclSet = 1u << 3,
  kAclSortedSet = 1u << 4,
  kAclList = 1u << 5,
  kAclHash = 1u << 6,
  kAclString = 1u << 7,
  kAclBitmap = 1u << 8,
  kAclHyperLogLog = 1u << 9,
  kAclGeo = 1u << 10,
  kAclStream = 1u << 11,
  kAclPubSub = 1u << 12,
  kAclAdmin = 1u << 13,
  kAclFast = 1u << 14,
  kAclSlow = 1u << 15,
  kAclBlocking = 1u << 16,
  kAclDangerous = 1u << 17,
  kAclConnection = 1u << 18,
  kAclTransaction = 1u << 19,
  kAclScripting = 1u << 20,
};

enum class CommandGroup : uint8_t {
  kString,
  kList,
  kSet,
  kHash,
  kSortedSet,
  kStream,
  kBitmap,
  kHyperLogLog,
  kGeo,
  kGeneric,
  kScripting,
  kTransactions,
  kPubSub,
  kConnection,
  kCluster,
  kServer,
  kLearned,  // not of the table: told by a shard
};

// Which shards must see a request.
enum class RequestPolicy : uint8_t {
  kOneShard,     // the shard of its keys, which must share it by hash tag; any shard if it has no key
  kSplit,        // keys on any shards, each shard gets its part: MGET MSET DEL UNLINK EXISTS TOUCH
  kAllShards,    // every shard
  kAnyShard,     // any one shard: all would answer alike
  kLocal,        // none, the proxy answers
  kSpecial,      // a handler of its own: SCAN RANDOMKEY WAIT
  kUnsupported,  // none: an error that says why, see UnsupportedText
};

// How the replies of several shards become one.
enum class ResponsePolicy : uint8_t {
  kPass,          // the one shard's own reply
  kFirst,         // the first to arrive
  kSum,           // integers, added
  kMin,           // integers, the least
  kMax,           // integers, the greatest
  kAllSucceeded,  // an error if any shard gave one, else the first shard's reply (they are alike)
  kOneSucceeded,  // a reply that is no error if any shard gave one, else an error
  kLogicalAnd,    // arrays of 0 and 1 of one length, element by element
  kLogicalOr,
  kConcatenate,  // arrays, joined
  kKeyOrder,     // arrays, their elements put back into the order of the request's keys
  kSpecial,      // a handler of its own
};

// Why a command is not served.
enum class Unserved : uint8_t {
  kNone,
  kForBlocking,
  kForPubSub,
  kForMonitor,
  kForTracking,
  kForReplication,
  kForUsers,
  kForModules,
  kForMigrate,
  kForPerShard,
  kForSwapDb,
  kForDebug,
  kForShutdown,
  kForUnknownKeys,
};

// Redis's flags of a key specification, in COMMAND INFO's order.
enum KeyFlag : uint16_t {
  kRo = 1u << 0,
  kRw = 1u << 1,
  kOw = 1u << 2,
  kRm = 1u << 3,
  kAccess = 1u << 4,
  kUpdate = 1u << 5,
  kInsert = 1u << 6,
  kDelete = 1u << 7,
  kNotKey = 1u << 8,  // routed like a key, yet none: the channels of sharded pub/sub
  kIncomplete = 1u << 9,
  kVariableFlags = 1u << 10,
};

// Where some of a command's keys stand. Redis describes it in two steps: where to begin
// (an argument index, or behind a keyword), and what to take from there.
struct KeySpec {
  enum class Begin : uint8_t { kUnknown, kIndex, kKeyword };
  enum class Find : uint8_t { kUnknown, kRange, kKeynum };

  Begin begin = Begin::kUnknown;
  Find find = Find::kUnknown;
  uint16_t flags = 0;
  int16_t position = 0;  // kIndex: the argument; kKeyword: where the search starts, below 0 from the end
  int16_t last = 0;      // kRange: last key, relative to the first; below 0 counted from the last argument
  int16_t step = 1;
  int16_t limit = 0;         // kRange with last -1: keys end after 1/limit of the arguments left
  int16_t number_index = 0;  // kKeynum: the argument with the count, relative to the beginning
  int16_t first_key = 0;     // kKeynum: the first key, relative to the beginning
  std::string_view keyword;
};

// How FindKeys goes about a command: the shortest way that is right for it.
enum class KeyKind : uint8_t {
  kNone,       // no argument is a key
  kFirst,      // argument 1 and no other
  kRange,      // first_key, last_key, key_step
  kSpecs,      // the key specifications
  kStore,      // GEORADIUS: argument 1 and what follows STORE and STOREDIST
  kStreams,    // XREAD, XREADGROUP: the first half of what follows STREAMS
  kSort,       // SORT: argument 1 and what follows the last STORE
  kMigrate,    // MIGRATE: argument 3, or what follows KEYS
  kAskServer,  // only the server's COMMAND GETKEYS can tell (learnt commands alone)
};

struct CommandRow {
  std::string_view name;  // lower case; a subcommand is "client|list"
  uint32_t flags = 0;
  int16_t arity = 0;  // arguments with the name (and the container's); below 0: at least
  uint16_t id = 0;    // index into AllCommands, for arrays of figures
  KeyKind key_kind = KeyKind::kNone;
  RequestPolicy request = RequestPolicy::kOneShard;
  ResponsePolicy response = ResponsePolicy::kPass;
  Unserved unserved = Unserved::kNone;
  int16_t first_key = 0;  // as COMMAND gives them; 0 0 0 where they cannot tell
  int16_t last_key = 0;
  int16_t key_step = 0;
  uint16_t subcommands = 0;  // how many; their rows follow this one
  uint16_t parent = kNoRow;  // of a subcommand: its container's id
  CommandGroup group = CommandGroup::kServer;
  uint32_t acl = 0;  // AclCategory bits
  std::span<const KeySpec> keys;
  std::string_view tips;  // Redis's command tips, parted by one space

  static constexpr uint16_t kNoRow = 0xffff;
};

inline constexpr size_t kCommandCount = 366;  // 240 commands and 126 subcommands

// Every row, group by group, subcommands behind their container.
// A row stands at its id.
std::span<const CommandRow> AllCommands();

// The row of a command by its name in any case, null if the table has none. A container's
// subcommands are not found here. About 5 ns, no allocation.
const CommandRow* FindCommand(std::string_view name);

// The row of `container`'s subcommand by its own name ("list") in any case, or null.
const CommandRow* FindSubcommand(const CommandRow& container, std::string_view name);

// The row by its full name, "get" or "client|list", as COMMAND INFO takes it; null if there is none.
const CommandRow* FindByFullName(std::string_view full_name);

inline bool HasSubcommands(const CommandRow& row) { return row.subcommands != 0; }

// The container's subcommands; none for a row of LearnedCommands.
std::span<const CommandRow> Subcommands(const CommandRow& container);

// Whether a request of `argc` arguments (names included) has as many as the command takes.
inline bool ArityFits(const CommandRow& row, size_t argc) {
  return row.arity >= 0 ? argc == static_cast<size_t>(row.arity) : argc >= static_cast<size_t>(-row.arity);
}

// Whether a copy of the key under another name gives the same answer, for a request of one key (of each of
// its keys, if it is split). On a key that is missing such commands answer as IsHollowReply says. Of learnt
// commands nobody knows.
inline bool CopyCanAnswer(const CommandRow& row) {
  return (row.flags & (kReadonly | kWrite | kNotByCopy)) == kReadonly && row.key_kind != KeyKind::kNone &&
         row.group != CommandGroup::kLearned;
}

// AclCategory bits of the row.
inline uint32_t AclCategories(const CommandRow& row) { return row.acl; }

// The error for a command that is not served, without '-' and CRLF:
// "ERR MULTI is not available: transactions are not served". For rows of kUnsupported.
std::string UnsupportedText(const CommandRow& row);

}  // namespace ringway::protocol
