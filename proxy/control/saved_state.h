#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/result.h"
#include "proxy/control/migration_board.h"
#include "ring/member.h"

namespace ringway::proxy {

// A shard as the state remembers it. Users and passwords come from the configuration at each start.
struct SavedShard {
  std::string name;
  std::string address;
  double weight = 1;

  bool operator==(const SavedShard&) const = default;
};

std::vector<SavedShard> ToSaved(std::span<const config::ShardConfig> shards);

// A move under way. A start goes on with it in its direction, whatever its phase: kHolding promises only that
// it was going to begin. So kMoving may be saved when keys move already, and no command waits for the disk.
struct SavedMove {
  enum class Phase : uint8_t { kHolding, kMoving, kAborting, kSettling };

  Phase phase = Phase::kHolding;
  bool paused = false;  // by RING PAUSE
  // Keys go from these shards to those; for kAborting, back: from what was wanted to what was before.
  std::vector<SavedShard> from;
  std::vector<SavedShard> to;
  std::vector<std::string> given_up;  // names of `from` whose keys are not fetched
  std::vector<std::string> replaced;  // names in both lists that stand for two servers
  MigrationReport report;             // so far; its state is not kept
};

// What a proxy has to know about its shards when it starts again. A value.
struct SavedState {
  std::string proxy_id;            // 40 hexadecimal digits
  std::string run_id;              // of the run that wrote it
  ring::RingOptions ring;          // by which the keys were placed
  std::vector<SavedShard> shards;  // the fact: where the keys are; until a move has settled, where they were
  // What the configuration file said when it was last taken: with it a changed file can be told from a ring
  // that was changed by commands.
  std::vector<SavedShard> configured;
  std::optional<SavedMove> move;
  std::optional<MigrationReport> last;  // the last move that ended; its state is not kept
  uint64_t next_move_id = 1;
};

// Of a move's pairs so many are kept; the rest are added up in one more, named kOtherShards.
inline constexpr size_t kMaxSavedPairs = 256;
inline constexpr std::string_view kOtherShards = "others";

// YAML that is read back as the same state. Its last line says that it is the last, so that no part of it
// passes for the whole.
std::string WriteState(const SavedState& state);

// Every mistake with its line, `file_name` first. What it lets through can be served: names, addresses,
// weights and rings are checked as the configuration's are.
config::Result<SavedState> ReadState(std::string_view text, std::string_view file_name);

}  // namespace ringway::proxy
