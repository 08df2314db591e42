// Widths of lines that hold colours and UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ringway::proxy::reshard {

// Columns that a line takes on a terminal: escape sequences take none, a character of UTF-8 one. (Of UTF-8
// there are only the blocks of the bar.)
size_t Cells(std::string_view line);

// The start of `line` that fits `width` columns, with all of its escape sequences, so that colours end.
std::string ClipCells(std::string_view line, size_t width);

// Fills up with blanks; a text that is as wide already stays as it is.
std::string PadRight(std::string text, size_t width);
std::string PadLeft(const std::string& text, size_t width);

}  // namespace ringway::proxy::reshard
