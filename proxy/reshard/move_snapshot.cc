#include "proxy/reshard/move_snapshot.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "config/values.h"

namespace ringway::proxy::reshard {

namespace {

double ToDouble(std::string_view text) { return config::ParseDecimal(text).value_or(0); }

// Estimates may be written with a fraction or fall below 0; what is no number counts as 0.
uint64_t ToCount(std::string_view text) {
  uint64_t exact = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exact);
  if (error == std::errc() && end == text.data() + text.size()) return exact;
  const double value = ToDouble(text);
  return value > 0 && value < 1.8e19 ? static_cast<uint64_t>(value) : 0;
}

template <class T>
void Assign(std::string_view text, T* field) {
  if constexpr (std::is_same_v<T, std::string>) {
    *field = text;
  } else if constexpr (std::is_same_v<T, double>) {
    *field = ToDouble(text);
  } else {
    *field = ToCount(text);
  }
}

// One row for each figure; a reader for each type of field.
template <class Owner>
struct FieldRow {
  std::string_view name;
  void (*read)(std::string_view text, Owner* owner);
};

template <auto kMember, class Owner>
void ReadField(std::string_view text, Owner* owner) {
  Assign(text, &(owner->*kMember));
}

using Snapshot = MoveSnapshot;
using Pair = MoveSnapshot::Pair;

constexpr FieldRow<Snapshot> kFields[] = {
    {"migration_state", &ReadField<&Snapshot::state>},
    {"migration_id", &ReadField<&Snapshot::id>},
    {"migration_change", &ReadField<&Snapshot::change>},
    {"migration_result", &ReadField<&Snapshot::result>},
    {"migration_error", &ReadField<&Snapshot::error>},
    {"migration_pause_reason", &ReadField<&Snapshot::pause_reason>},
    {"migration_ring_share_moving", &ReadField<&Snapshot::share_moving>},
    {"migration_progress", &ReadField<&Snapshot::progress>},
    {"migration_keys_moved", &ReadField<&Snapshot::keys_moved>},
    {"migration_keys_moved_on_access", &ReadField<&Snapshot::keys_on_access>},
    {"migration_keys_remaining", &ReadField<&Snapshot::keys_remaining>},
    {"migration_keys_given_up", &ReadField<&Snapshot::keys_given_up>},
    {"migration_keys_per_second", &ReadField<&Snapshot::keys_per_second>},
    {"migration_bytes_moved", &ReadField<&Snapshot::bytes_moved>},
    {"migration_big_keys", &ReadField<&Snapshot::big_keys>},
    {"migration_errors", &ReadField<&Snapshot::errors>},
    {"migration_hold_usec", &ReadField<&Snapshot::hold_usec>},
    {"migration_started", &ReadField<&Snapshot::started>},
    {"migration_finished", &ReadField<&Snapshot::finished>},
};

constexpr FieldRow<Pair> kPairFields[] = {
    {"from", &ReadField<&Pair::from>},           {"to", &ReadField<&Pair::to>},
    {"share", &ReadField<&Pair::share>},         {"keys", &ReadField<&Pair::keys>},
    {"bytes", &ReadField<&Pair::bytes>},         {"on_access", &ReadField<&Pair::on_access>},
    {"remaining", &ReadField<&Pair::remaining>}, {"errors", &ReadField<&Pair::errors>},
};

template <class Owner, size_t kCount>
void ReadInto(const FieldRow<Owner> (&rows)[kCount], std::string_view name, std::string_view value,
              Owner* owner) {
  const auto* row = std::find_if(std::begin(rows), std::end(rows),
                                 [&](const FieldRow<Owner>& candidate) { return candidate.name == name; });
  if (row != std::end(rows)) row->read(value, owner);
}

// Cuts `text` behind the first `separator` and gives what stood before it.
std::string_view TakeUntil(char separator, std::string_view* text) {
  const size_t at = text->find(separator);
  const std::string_view head = text->substr(0, at);
  text->remove_prefix(at == std::string_view::npos ? text->size() : at + 1);
  return head;
}

bool IsPairName(std::string_view name) {
  constexpr std::string_view kStart = "move";
  return name.starts_with(kStart) && name.size() > kStart.size() &&
         std::all_of(name.begin() + kStart.size(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Pair ReadPair(std::string_view figures) {
  Pair pair;
  while (!figures.empty()) {
    std::string_view figure = TakeUntil(',', &figures);
    const std::string_view name = TakeUntil('=', &figure);
    ReadInto(kPairFields, name, figure, &pair);
  }
  return pair;
}

}  // namespace

MoveOutcome OutcomeOf(const MoveSnapshot& snapshot) {
  if (snapshot.result == "settled") return MoveOutcome::kSettled;
  if (snapshot.result == "aborted") return MoveOutcome::kAborted;
  if (snapshot.result == "failed" || !snapshot.error.empty()) return MoveOutcome::kFailed;
  return snapshot.change.starts_with("abort") ? MoveOutcome::kAborted : MoveOutcome::kSettled;
}

std::optional<MoveSnapshot> ParseMoveSnapshot(std::string_view info) {
  Snapshot snapshot;
  while (!info.empty()) {
    std::string_view line = TakeUntil('\n', &info);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view name = TakeUntil(':', &line);
    if (IsPairName(name)) {
      snapshot.pairs.push_back(ReadPair(line));
    } else if (name == "migration_eta_seconds") {
      if (const auto eta = config::ParseDecimal(line); eta && *eta >= 0) snapshot.eta_seconds = *eta;
    } else {
      ReadInto(kFields, name, line, &snapshot);
    }
  }
  if (snapshot.state.empty()) return std::nullopt;
  snapshot.progress = std::clamp(snapshot.progress, 0.0, 1.0);
  return snapshot;
}

}  // namespace ringway::proxy::reshard
