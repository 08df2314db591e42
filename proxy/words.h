#pragma once

#include <string>
#include <string_view>

#include "protocol/command_name.h"

namespace ringway::proxy {

// Keywords in requests are taken in any case.
inline bool IsWord(std::string_view text, std::string_view word) {
  return protocol::EqualsIgnoringCase(text, word);
}

inline std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = protocol::LowerLetter(c);
  return lower;
}

// What C's "%s" would print of a client's bytes: error texts quote them so.
inline std::string_view UpToNul(std::string_view bytes) { return bytes.substr(0, bytes.find('\0')); }

}  // namespace ringway::proxy
