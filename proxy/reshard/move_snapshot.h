// What a proxy says about its move.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringway::proxy::reshard {

// The section `# Migration` of INFO, read. Names and texts are as the proxy gave them: Printable before they
// are shown.
struct MoveSnapshot {
  struct Pair {
    std::string from;
    std::string to;
    double share = 0;  // of the ring
    uint64_t keys = 0;
    uint64_t bytes = 0;
    uint64_t on_access = 0;  // of keys
    uint64_t remaining = 0;
    uint64_t errors = 0;
  };

  std::string state;  // idle, holding, moving, paused, settling or aborting
  uint64_t id = 0;    // 0: there has been no move
  std::string change;
  std::string
      result;  // of a move that has ended: settled, aborted or failed; empty where the proxy does not say
  std::string error;         // why it failed
  std::string pause_reason;  // why the proxy paused it by itself
  double share_moving = 0;   // of the ring
  double progress = 0;       // 0 to 1
  uint64_t keys_moved = 0;
  uint64_t keys_on_access = 0;
  uint64_t keys_remaining = 0;
  uint64_t keys_given_up = 0;
  uint64_t keys_per_second = 0;
  uint64_t bytes_moved = 0;
  uint64_t big_keys = 0;
  uint64_t errors = 0;
  uint64_t hold_usec = 0;
  std::optional<double> eta_seconds;  // nothing while it cannot be told
  double started = 0;                 // seconds of the wall clock; 0: not
  double finished = 0;
  std::vector<Pair> pairs;

  bool under_way() const { return state != "idle"; }
};

enum class MoveOutcome { kSettled, kAborted, kFailed };

// How the move ended. Only when it is not under way and there has been one.
MoveOutcome OutcomeOf(const MoveSnapshot& snapshot);

// Reads what INFO migration answers. Fields it does not know are skipped and fields that are missing stay at
// their defaults, so that a newer or older proxy can be watched; nothing when there is no migration_state at
// all.
std::optional<MoveSnapshot> ParseMoveSnapshot(std::string_view info);

}  // namespace ringway::proxy::reshard
