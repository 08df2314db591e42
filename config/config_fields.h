// One row for each option: its names, its type and range, whether it can change live. The file reader, the
// flags, CONFIG GET/SET, the diff of a reload and the documentation's test all walk these rows.
#ifndef RINGWAY_CONFIG_CONFIG_FIELDS_H_
#define RINGWAY_CONFIG_CONFIG_FIELDS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/config.h"

namespace ringway::config {

// Where an option lives in a Config. The type decides how text becomes a value.
using FieldSlot =
    std::variant<bool*, int64_t*, uint32_t*, double*, std::string*, std::optional<double>*,
                 std::optional<ListenAddress>*, std::vector<ListenAddress>*, std::vector<std::string>*,
                 ring::Distribution*, ring::HashFunction*, Mover*, LogLevel*, MultiKey*>;

// How an int64_t or a double is written.
enum class Unit {
  kNone,          // not a number
  kCount,         // 10000
  kMilliseconds,  // 500ms, 1s, 2m, 1h, 1d; 0 needs no unit
  kMicroseconds,  // the same and 250us
  kBytes,         // Redis's units: 64kb is 65536, 64k is 64000
  kRatio,         // 0.25
};

enum class When {
  kLive,    // by CONFIG SET and by a reload
  kReload,  // by a reload only
  kStart,   // at the next start
};
enum class Secrecy { kPublic, kSecret };

struct Field {
  std::string_view path;        // "limits.clients"
  std::string_view redis_name;  // "maxclients"; empty where Redis has no such parameter
  FieldSlot (*slot)(Config&);   // constant
  Unit unit = Unit::kNone;
  double min = 0;  // of the stored number; for a list, how many items it needs
  double max = 0;
  std::string_view word = {};  // "auto" or "off", for the number below
  int64_t word_value = 0;
  int64_t redis_divisor = 1;  // stored number per unit of Redis's parameter: timeout is in seconds
  When when = When::kLive;
  Secrecy secrecy = Secrecy::kPublic;

  bool is_live() const { return when == When::kLive; }  // CONFIG SET may change it
  bool is_secret() const { return secrecy == Secrecy::kSecret; }
  bool is_list() const;
  // "a duration from 1ms to 1h", "one of migrate, relay": what a message says was expected.
  std::string Expected() const;
};

// What a secret that is set is shown as. Setting an option to it is refused.
inline constexpr std::string_view kHiddenSecret = "********";

std::span<const Field> Fields();

// By path or Redis's name, letters of either case; null when there is none.
const Field* FindField(std::string_view name);

// As the file writes it; lists are separated by a blank; a secret is empty or kHiddenSecret.
std::string Get(const Config& config, const Field& field);

// Takes what the file takes; lists are separated by blanks. Gives what was expected when the value is
// refused; the configuration is unchanged then. Does not check whether options fit together, nor whether the
// field is live.
std::optional<std::string> Set(Config* config, const Field& field, std::string_view value);

// For list fields: takes the items one by one, so that each can be reported where it stands. ClearList first,
// or the defaults stay; the same errors as Set.
void ClearList(Config* config, const Field& field);
std::optional<std::string> AddItem(Config* config, const Field& field, std::string_view item);

// The same two under the name a client used: under Redis's name a number is in Redis's unit ("timeout" counts
// seconds). Under the path it is as above. CONFIG GET and CONFIG SET.
std::string GetAs(const Config& config, const Field& field, std::string_view name);
std::optional<std::string> SetAs(Config* config, const Field& field, std::string_view name,
                                 std::string_view value);

// True when both configurations hold the same value, secrets included.
bool SameValue(const Config& a, const Config& b, const Field& field);

// Copies one option's value, secrets included.
void CopyValue(const Config& from, const Field& field, Config* to);

}  // namespace ringway::config

#endif  // RINGWAY_CONFIG_CONFIG_FIELDS_H_
