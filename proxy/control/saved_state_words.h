#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_fields.h"
#include "proxy/control/saved_state.h"

namespace ringway::proxy {

// The words of the state file, for its writer and its reader. One row for each figure of a report.

inline constexpr std::string_view kStateKey = "ringway_state";  // opens the file
inline constexpr int kStateVersion = 1;
inline constexpr std::string_view kEndKey = "end";  // ends it

struct NumberWord {
  std::string_view key;
  uint64_t MigrationReport::*number;
};
inline constexpr NumberWord kNumberWords[] = {
    {"id", &MigrationReport::id},
    {"keys_given_up", &MigrationReport::keys_given_up},
    {"big_keys", &MigrationReport::big_keys},
};

struct TimeWord {
  std::string_view key;
  int64_t MigrationReport::*usec;
};
inline constexpr TimeWord kTimeWords[] = {
    {"started_usec", &MigrationReport::started_usec},
    {"finished_usec", &MigrationReport::finished_usec},
    {"hold_usec", &MigrationReport::hold_usec},
};

struct TextWord {
  std::string_view key;
  std::string MigrationReport::*text;
};
inline constexpr TextWord kTextWords[] = {
    {"change", &MigrationReport::change},
    {"result", &MigrationReport::result},
    {"error", &MigrationReport::error},
    {"pause_reason", &MigrationReport::pause_reason},
};

struct CountWord {
  std::string_view key;
  uint64_t MoveCounts::*count;
};
inline constexpr CountWord kCountWords[] = {
    {"keys_on_access", &MoveCounts::keys_on_access},
    {"keys_background", &MoveCounts::keys_background},
    {"keys_absent", &MoveCounts::keys_absent},
    {"bytes", &MoveCounts::bytes},
    {"errors", &MoveCounts::errors},
    {"remaining", &MoveCounts::remaining},
};

std::string_view PhaseWord(SavedMove::Phase phase);

// The options that decide where a key is placed; multi_key, of the same section, does not.
inline constexpr std::string_view kPlacementSection = "ring.";
std::vector<const config::Field*> PlacementFields();
std::string_view PlacementWord(const config::Field& field);

}  // namespace ringway::proxy
