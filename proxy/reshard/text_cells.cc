#include "proxy/reshard/text_cells.h"

namespace ringway::proxy::reshard {

namespace {

constexpr char kEscape = '\x1b';

// Length of the escape sequence at the start of `text`: ESC [ parameters, then a letter.
size_t EscapeLength(std::string_view text) {
  size_t length = 1;
  if (length < text.size() && text[length] == '[') ++length;
  while (length < text.size() && (text[length] < '@' || text[length] > '~')) ++length;
  return length < text.size() ? length + 1 : length;
}

size_t CharacterLength(std::string_view text) {
  size_t length = 1;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) ++length;
  return length;
}

}  // namespace

size_t Cells(std::string_view line) {
  size_t cells = 0;
  while (!line.empty()) {
    const bool escape = line.front() == kEscape;
    if (!escape) ++cells;
    line.remove_prefix(escape ? EscapeLength(line) : CharacterLength(line));
  }
  return cells;
}

std::string ClipCells(std::string_view line, size_t width) {
  std::string clipped;
  size_t cells = 0;
  while (!line.empty()) {
    const bool escape = line.front() == kEscape;
    const size_t length = escape ? EscapeLength(line) : CharacterLength(line);
    if (escape || cells < width) clipped.append(line.substr(0, length));
    if (!escape) ++cells;
    line.remove_prefix(length);
  }
  return clipped;
}

std::string PadRight(std::string text, size_t width) {
  const size_t cells = Cells(text);
  if (cells < width) text.append(width - cells, ' ');
  return text;
}

std::string PadLeft(const std::string& text, size_t width) {
  const size_t cells = Cells(text);
  return cells < width ? std::string(width - cells, ' ') + text : text;
}

}  // namespace ringway::proxy::reshard
