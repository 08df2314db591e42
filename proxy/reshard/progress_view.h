// A move drawn for people.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proxy/reshard/move_snapshot.h"

namespace ringway::proxy::reshard {

struct ViewStyle {
  size_t width = 80;   // columns; no line is wider
  size_t height = 24;  // lines; a frame has fewer, so that the terminal does not scroll
  bool colour = false;
  bool blocks = false;  // UTF-8's block characters in the bar
};

// The frame that a terminal shows while the move goes on: what moves, the bar, figures, and a line for each
// pair as far as they fit. `trouble` is what keeps the figures from being fresh, or empty.
std::vector<std::string> DrawFrame(const MoveSnapshot& snapshot, const std::string& trouble,
                                   const ViewStyle& style);

// One line for a log.
std::string DrawLine(const MoveSnapshot& snapshot);

// The last line, about a move that has ended.
std::string DescribeEnd(const MoveSnapshot& snapshot);

}  // namespace ringway::proxy::reshard
