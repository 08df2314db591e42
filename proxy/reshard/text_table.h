// Tables for people.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ringway::proxy::reshard {

struct Column {
  std::string title;
  bool is_name = false;  // to the left, and shortened where the table is too wide; figures stand to the right
};

// The title line and one line for each row, indented, none wider than `width`: names are shortened first,
// then the last columns left out. Each row has as many cells as there are columns, at least one.
std::vector<std::string> TableLines(const std::vector<Column>& columns,
                                    const std::vector<std::vector<std::string>>& rows, size_t width);

}  // namespace ringway::proxy::reshard
