// The line that begins nearly everything in RESP: a type, a number, a line end.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

namespace ringway::protocol {

// `<type><number>\r\n`.
inline void AppendLengthLine(std::string& out, char type, int64_t number) {
  char line[24];
  line[0] = type;
  char* end = std::to_chars(line + 1, line + sizeof line, number).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out.append(line, static_cast<size_t>(end - line));
}

// The bytes of such a line for a number that is not negative.
inline size_t LengthLineBytes(size_t number) {
  size_t bytes = 4;
  while (number >= 10) {
    number /= 10;
    ++bytes;
  }
  return bytes;
}

}  // namespace ringway::protocol
