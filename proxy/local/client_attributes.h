#pragma once

#include <algorithm>
#include <string_view>

namespace ringway::proxy {

// Whether a client's name or library can stand in CLIENT LIST, whose fields are parted by blanks.
inline bool IsPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '!' && c <= '~'; });
}

inline constexpr std::string_view kBadClientName =
    "ERR Client names cannot contain spaces, newlines or special characters.";

}  // namespace ringway::proxy
