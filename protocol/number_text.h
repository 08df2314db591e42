// Numbers as Redis reads and prints them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ringway::protocol {

// A decimal integer in its only spelling, as Redis's string2ll: an optional '-', no '+', no spaces,
// no leading zeros, no "-0". Nothing for any other text or beyond 64 bits.
std::optional<int64_t> ParseInt64(std::string_view text);

// A decimal number as Redis's string2d reads it: what strtod takes (exponents, hexadecimal, "inf"),
// but the whole text, no leading space, no NaN, and neither overflow nor underflow to zero.
std::optional<double> ParseDouble(std::string_view text);

// `value` with 17 significant digits (printf's %.17g), "inf", "-inf" or "nan", as Redis replies.
std::string FormatDouble(double value);

}  // namespace ringway::protocol
