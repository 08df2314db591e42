// What Redis would answer: a small model of its values, for the checker of moves.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/resp_client.h"

namespace ringway::test {

// When something happened, as far as a client can know: between these two, in microseconds of a steady clock.
struct Moment {
  int64_t sent = 0;
  int64_t answered = 0;
};

// Microseconds of the steady clock.
int64_t NowUsec();

// A value as Redis would hold it.
struct ModelValue {
  std::string text;                          // strings and counters
  std::vector<std::string> list;             // lists
  std::map<std::string, std::string> pairs;  // hashes, sets (without values), sorted sets (scores)
  std::optional<Moment> end;                 // between these it expires
  bool operator==(const ModelValue& other) const {
    return text == other.text && list == other.list && pairs == other.pairs &&
           end.has_value() == other.end.has_value() &&
           (!end || (end->sent == other.end->sent && end->answered == other.end->answered));
  }
};

using ModelStore = std::map<std::string, ModelValue>;

// What a command has to be answered: this text (in the notation of CanonicalReply), or a number in a range.
struct ExpectedReply {
  std::string text;
  bool is_range = false;
  int64_t least = 0;
  int64_t most = 0;
};

// Carries out the command, which is one of those that MoveWork makes, and returns what Redis answers. Keys
// that may have expired must have been decided before. `transit_usec`: what a move may add to a lifetime.
ExpectedReply ApplyCommand(ModelStore* store, const Command& command, const Moment& moment,
                           int64_t transit_usec);

// A reply without its order where the command promises none (SMEMBERS, HGETALL).
std::string CanonicalReply(const Command& command, const Reply& reply);
bool Matches(const ExpectedReply& expected, const Command& command, const Reply& reply);

// True when the command changes nothing, whatever it finds.
bool IsRead(const Command& command);

// Scripts that the model knows.
extern const char kAppendScript[];    // KEYS: one; ARGV: text. Returns the new value.
extern const char kTransferScript[];  // KEYS: two counters; ARGV: amount. Returns both values.

}  // namespace ringway::test
