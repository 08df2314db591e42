#include "proxy/reshard/text_table.h"

#include <algorithm>

#include "proxy/reshard/text_cells.h"

namespace ringway::proxy::reshard {

namespace {

constexpr size_t kIndent = 2;
constexpr size_t kGap = 2;
// A name shorter than this tells nothing, so columns are left out instead.
constexpr size_t kMinNameCells = 8;

size_t TotalWidth(const std::vector<size_t>& widths) {
  size_t total = kIndent;
  for (const size_t width : widths) total += width;
  return total + kGap * (widths.size() - 1);
}

// Takes cells from the widest name until the table fits or all names are short.
void ShortenNames(const std::vector<Column>& columns, size_t width, std::vector<size_t>* widths) {
  while (TotalWidth(*widths) > width) {
    size_t widest = columns.size();
    for (size_t i = 0; i < widths->size(); ++i) {
      if (!columns[i].is_name || (*widths)[i] <= kMinNameCells) continue;
      if (widest == columns.size() || (*widths)[i] > (*widths)[widest]) widest = i;
    }
    if (widest == columns.size()) return;
    --(*widths)[widest];
  }
}

std::string Shortened(const std::string& text, size_t width) {
  if (Cells(text) <= width) return text;
  return ClipCells(text, width - 2) + "..";
}

std::string Line(const std::vector<Column>& columns, const std::vector<std::string>& cells,
                 const std::vector<size_t>& widths) {
  std::string line(kIndent, ' ');
  for (size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) line.append(kGap, ' ');
    line += columns[i].is_name ? PadRight(Shortened(cells[i], widths[i]), widths[i])
                               : PadLeft(cells[i], widths[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::vector<std::string> TableLines(const std::vector<Column>& columns,
                                    const std::vector<std::vector<std::string>>& rows, size_t width) {
  std::vector<std::string> titles;
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns.size(); ++i) {
    titles.push_back(columns[i].title);
    size_t widest = Cells(columns[i].title);
    for (const auto& row : rows) widest = std::max(widest, Cells(row[i]));
    widths.push_back(widest);
  }
  ShortenNames(columns, width, &widths);
  while (widths.size() > 1 && TotalWidth(widths) > width) widths.pop_back();
  std::vector<std::string> lines = {ClipCells(Line(columns, titles, widths), width)};
  for (const auto& row : rows) lines.push_back(ClipCells(Line(columns, row, widths), width));
  return lines;
}

}  // namespace ringway::proxy::reshard
