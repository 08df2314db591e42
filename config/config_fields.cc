#include "config/config_fields.h"

#include <algorithm>
#include <array>

#include "config/field_values.h"
#include "config/values.h"
#include "ring/ring_check.h"

namespace ringway::config {

namespace {

constexpr double kHour = 3600.0 * 1000;
constexpr double kYear = 365.0 * 24 * kHour;
constexpr double kKiB = 1024;
constexpr double kTiB = kKiB * kKiB * kKiB * kKiB;
constexpr double kMillion = 1e6;
constexpr double kBillion = 1e9;

#define RINGWAY_SLOT(member) [](Config& config) -> FieldSlot { return &config.member; }

constexpr Field kFields[] = {
    {.path = "listen", .redis_name = "", .slot = RINGWAY_SLOT(listen), .min = 1, .when = When::kStart},
    {.path = "threads",
     .redis_name = "",
     .slot = RINGWAY_SLOT(threads),
     .unit = Unit::kCount,
     .min = 1,
     .max = 256,
     .word = "auto",
     .word_value = 0,
     .when = When::kStart},
    {.path = "http", .redis_name = "", .slot = RINGWAY_SLOT(http), .when = When::kStart},
    {.path = "state_file", .redis_name = "", .slot = RINGWAY_SLOT(state_file), .when = When::kStart},
    {.path = "databases",
     .redis_name = "databases",
     .slot = RINGWAY_SLOT(databases),
     .unit = Unit::kCount,
     .min = 1,
     .max = 10000,
     .when = When::kStart},
    {.path = "requirepass",
     .redis_name = "requirepass",
     .slot = RINGWAY_SLOT(requirepass),
     .secrecy = Secrecy::kSecret},
    {.path = "dev_shards",
     .redis_name = "",
     .slot = RINGWAY_SLOT(dev_shards),
     .unit = Unit::kCount,
     .min = 0,
     .max = 64,
     .when = When::kStart},

    {.path = "ring.distribution",
     .redis_name = "",
     .slot = RINGWAY_SLOT(ring.distribution),
     .when = When::kStart},
    {.path = "ring.hash", .redis_name = "", .slot = RINGWAY_SLOT(ring.hash), .when = When::kStart},
    {.path = "ring.virtual_nodes",
     .redis_name = "",
     .slot = RINGWAY_SLOT(ring.virtual_nodes),
     .unit = Unit::kCount,
     .min = 1,
     .max = ring::kMaxVirtualNodes,
     .when = When::kStart},
    {.path = "ring.balance_cap",
     .redis_name = "",
     .slot = RINGWAY_SLOT(ring.balance_cap),
     .unit = Unit::kRatio,
     .min = 0,
     .max = 1,
     .word = "off",
     .when = When::kStart},
    {.path = "ring.hash_tag", .redis_name = "", .slot = RINGWAY_SLOT(ring.hash_tag), .when = When::kStart},
    {.path = "ring.multi_key", .redis_name = "", .slot = RINGWAY_SLOT(multi_key)},

    {.path = "shard_auth.user",
     .redis_name = "",
     .slot = RINGWAY_SLOT(shard_auth.user),
     .when = When::kReload},
    {.path = "shard_auth.password",
     .redis_name = "",
     .slot = RINGWAY_SLOT(shard_auth.password),
     .when = When::kReload,
     .secrecy = Secrecy::kSecret},

    {.path = "timeouts.connect",
     .redis_name = "",
     .slot = RINGWAY_SLOT(timeouts.connect_ms),
     .unit = Unit::kMilliseconds,
     .min = 1,
     .max = kHour},
    {.path = "timeouts.request",
     .redis_name = "",
     .slot = RINGWAY_SLOT(timeouts.request_ms),
     .unit = Unit::kMilliseconds,
     .min = 1,
     .max = kHour,
     .word = "off",
     .word_value = 0},
    {.path = "timeouts.idle_client",
     .redis_name = "timeout",
     .slot = RINGWAY_SLOT(timeouts.idle_client_ms),
     .unit = Unit::kMilliseconds,
     .min = 0,
     .max = kYear,
     .redis_divisor = 1000},
    {.path = "timeouts.drain",
     .redis_name = "",
     .slot = RINGWAY_SLOT(timeouts.drain_ms),
     .unit = Unit::kMilliseconds,
     .min = 0,
     .max = kHour},

    {.path = "limits.clients",
     .redis_name = "maxclients",
     .slot = RINGWAY_SLOT(limits.clients),
     .unit = Unit::kCount,
     .min = 1,
     .max = kMillion},
    {.path = "limits.request_bytes",
     .redis_name = "proto-max-bulk-len",
     .slot = RINGWAY_SLOT(limits.request_bytes),
     .unit = Unit::kBytes,
     .min = kKiB * kKiB,
     .max = kTiB},
    {.path = "limits.client_output",
     .redis_name = "",
     .slot = RINGWAY_SLOT(limits.client_output_bytes),
     .unit = Unit::kBytes,
     .min = 64 * kKiB,
     .max = kTiB},
    {.path = "limits.pipeline",
     .redis_name = "",
     .slot = RINGWAY_SLOT(limits.pipeline),
     .unit = Unit::kCount,
     .min = 1,
     .max = kMillion},
    {.path = "limits.in_flight_per_shard",
     .redis_name = "",
     .slot = RINGWAY_SLOT(limits.in_flight_per_shard),
     .unit = Unit::kCount,
     .min = 1,
     .max = 16 * kMillion},
    {.path = "limits.own_connections",
     .redis_name = "",
     .slot = RINGWAY_SLOT(limits.own_connections),
     .unit = Unit::kCount,
     .min = 1,
     .max = kMillion},

    {.path = "hot_keys.detect", .redis_name = "", .slot = RINGWAY_SLOT(hot_keys.detect)},
    {.path = "hot_keys.buckets",
     .redis_name = "",
     .slot = RINGWAY_SLOT(hot_keys.buckets),
     .unit = Unit::kCount,
     .min = 2,
     .max = 64,
     .word = "auto",
     .word_value = 0},
    {.path = "hot_keys.threshold",
     .redis_name = "",
     .slot = RINGWAY_SLOT(hot_keys.threshold),
     .unit = Unit::kRatio,
     .min = 0.001,
     .max = 1},
    {.path = "hot_keys.min_rate",
     .redis_name = "",
     .slot = RINGWAY_SLOT(hot_keys.min_rate),
     .unit = Unit::kCount,
     .min = 1,
     .max = kBillion},
    {.path = "hot_keys.max_staleness",
     .redis_name = "",
     .slot = RINGWAY_SLOT(hot_keys.max_staleness_ms),
     .unit = Unit::kMilliseconds,
     .min = 1,
     .max = kHour},
    {.path = "hot_keys.patterns", .redis_name = "", .slot = RINGWAY_SLOT(hot_keys.patterns)},
    {.path = "hot_keys.never", .redis_name = "", .slot = RINGWAY_SLOT(hot_keys.never)},
    {.path = "hot_keys.max_bytes",
     .redis_name = "",
     .slot = RINGWAY_SLOT(hot_keys.max_bytes),
     .unit = Unit::kBytes,
     .min = kKiB,
     .max = 512 * kKiB * kKiB},

    {.path = "migration.mover", .redis_name = "", .slot = RINGWAY_SLOT(migration.mover)},
    {.path = "migration.keys_per_second",
     .redis_name = "",
     .slot = RINGWAY_SLOT(migration.keys_per_second),
     .unit = Unit::kCount,
     .min = 0,
     .max = kBillion},
    {.path = "migration.max_source_busy",
     .redis_name = "",
     .slot = RINGWAY_SLOT(migration.max_source_busy),
     .unit = Unit::kRatio,
     .min = 0.01,
     .max = 1},
    {.path = "migration.purge_target", .redis_name = "", .slot = RINGWAY_SLOT(migration.purge_target)},

    {.path = "slowlog.log_slower_than",
     .redis_name = "slowlog-log-slower-than",
     .slot = RINGWAY_SLOT(slowlog.log_slower_than_usec),
     .unit = Unit::kMicroseconds,
     .min = 0,
     .max = kHour * 1000,
     .word = "off",
     .word_value = -1},
    {.path = "slowlog.max_len",
     .redis_name = "slowlog-max-len",
     .slot = RINGWAY_SLOT(slowlog.max_len),
     .unit = Unit::kCount,
     .min = 0,
     .max = kMillion},

    {.path = "log.level", .redis_name = "", .slot = RINGWAY_SLOT(log.level)},
    {.path = "log.file", .redis_name = "logfile", .slot = RINGWAY_SLOT(log.file), .when = When::kStart},
};

#undef RINGWAY_SLOT

// Reading through a slot needs a Config that is not const; nothing is written through it.
FieldSlot SlotOf(const Config& config, const Field& field) { return field.slot(const_cast<Config&>(config)); }

bool IsNumber(const Field& field) { return field.unit != Unit::kNone && field.unit != Unit::kRatio; }

bool IsRedisName(const Field& field, std::string_view name) {
  return !field.redis_name.empty() && name != field.path && Lower(name) == field.redis_name;
}

}  // namespace

std::span<const Field> Fields() { return kFields; }

const Field* FindField(std::string_view name) {
  const std::string lower = Lower(name);
  const auto found = std::find_if(std::begin(kFields), std::end(kFields), [&lower](const Field& field) {
    return field.path == lower || (!field.redis_name.empty() && field.redis_name == lower);
  });
  return found == std::end(kFields) ? nullptr : found;
}

bool Field::is_list() const {
  Config config;
  const FieldSlot value = slot(config);
  return std::holds_alternative<std::vector<ListenAddress>*>(value) ||
         std::holds_alternative<std::vector<std::string>*>(value);
}

std::string Field::Expected() const {
  Config config;
  return ExpectedValue(*this, slot(config));
}

std::string Get(const Config& config, const Field& field) {
  return std::visit(
      [&field](const auto* value) {
        std::string text = FormatValue(field, *value);
        return field.is_secret() && !text.empty() ? std::string(kHiddenSecret) : text;
      },
      SlotOf(config, field));
}

std::optional<std::string> Set(Config* config, const Field& field, std::string_view value) {
  if (field.is_secret() && value == kHiddenSecret)
    return "this is how a hidden password is shown, not a password";
  if (!field.is_list()) {
    return std::visit([&](auto* slot) { return ParseValue(field, value, slot); }, field.slot(*config));
  }
  const std::vector<std::string> items = SplitAtBlanks(value);
  if (items.empty() && field.min > 0) return "expected " + field.Expected();
  Config changed = *config;
  ClearList(&changed, field);
  for (const std::string& item : items) {
    if (auto error = AddItem(&changed, field, item)) return error;
  }
  CopyValue(changed, field, config);
  return std::nullopt;
}

void ClearList(Config* config, const Field& field) {
  const FieldSlot slot = field.slot(*config);
  if (auto* const* listeners = std::get_if<Listeners*>(&slot)) (*listeners)->clear();
  if (auto* const* texts = std::get_if<Texts*>(&slot)) (*texts)->clear();
}

std::optional<std::string> AddItem(Config* config, const Field& field, std::string_view item) {
  return std::visit([&](auto* slot) { return ParseValue(field, item, slot); }, field.slot(*config));
}

std::string GetAs(const Config& config, const Field& field, std::string_view name) {
  if (!IsRedisName(field, name) || !IsNumber(field)) return Get(config, field);
  const int64_t stored = *std::get<int64_t*>(SlotOf(config, field));
  // Rounded up, so that a timeout of half a second does not read as none.
  if (stored <= 0) return std::to_string(stored);
  return std::to_string((stored + field.redis_divisor - 1) / field.redis_divisor);
}

std::optional<std::string> SetAs(Config* config, const Field& field, std::string_view name,
                                 std::string_view value) {
  if (!IsRedisName(field, name) || !IsNumber(field)) return Set(config, field, value);
  const auto number = field.unit == Unit::kBytes ? ParseBytes(value) : ParseInteger(value);
  const double divisor = static_cast<double>(field.redis_divisor);
  const bool is_word = !field.word.empty() && number == field.word_value;
  if (!number || (!is_word && (static_cast<double>(*number) * divisor < field.min ||
                               static_cast<double>(*number) * divisor > field.max))) {
    return "expected a number from " + FormatDecimal(field.min / divisor) + " to " +
           FormatDecimal(field.max / divisor);
  }
  *std::get<int64_t*>(field.slot(*config)) = is_word ? field.word_value : *number * field.redis_divisor;
  return std::nullopt;
}

bool SameValue(const Config& a, const Config& b, const Field& field) {
  return std::visit(
      [&](const auto* left) {
        using Pointer = std::remove_const_t<std::remove_pointer_t<decltype(left)>>*;
        return *left == *std::get<Pointer>(SlotOf(b, field));
      },
      SlotOf(a, field));
}

void CopyValue(const Config& from, const Field& field, Config* to) {
  std::visit([&](auto* target) { *target = *std::get<decltype(target)>(SlotOf(from, field)); },
             field.slot(*to));
}

}  // namespace ringway::config
