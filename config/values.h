// How single values are written in the configuration. All pure; nothing here throws.
#ifndef RINGWAY_CONFIG_VALUES_H_
#define RINGWAY_CONFIG_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringway::config {

// Decimal with an optional minus; nothing else, no blanks, no overflow.
std::optional<int64_t> ParseInteger(std::string_view text);

// Decimal, finite, with an optional fraction and exponent; no hexadecimal, no blanks.
std::optional<double> ParseDecimal(std::string_view text);

// "250us", "500ms", "1s", "2m", "1h", "1d" in microseconds, or "0". A number without a unit says too little,
// so it is refused. Units of either case. No fractions; nothing over 100 years.
std::optional<int64_t> ParseDurationUsec(std::string_view text);

// Redis's units, of either case: b, k 1000, kb 1024, m, mb, g, gb; or plain bytes. Under 2^62.
std::optional<int64_t> ParseBytes(std::string_view text);

// true/false, yes/no, on/off of either case: YAML 1.1's words, which Redis shares in part.
std::optional<bool> ParseBool(std::string_view text);

// The shortest text that is read back as the same value: the largest unit that divides it.
std::string FormatDurationUsec(int64_t usec);
std::string FormatBytes(int64_t bytes);
// Shortest decimal that is read back as the same double.
std::string FormatDecimal(double value);

std::string Lower(std::string_view text);

// Split at blanks and tabs; empty parts are dropped.
std::vector<std::string> SplitAtBlanks(std::string_view text);

// For messages: in quotes, control characters replaced, cut after 60 bytes.
std::string Quoted(std::string_view text);

// The candidate with the fewest edits from `name` when these are few enough for a slip of the hand, else
// empty.
std::string_view Nearest(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace ringway::config

#endif  // RINGWAY_CONFIG_VALUES_H_
