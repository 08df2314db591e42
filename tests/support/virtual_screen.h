// What a terminal would show.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ringway::test {

// As much of a VT100 as progress bars need: carriage return, line feed, cursor up, erase to the end of the
// line and of the screen; colours are skipped, long lines are broken, and it scrolls. Thread: one. Owns: its
// lines. Limits: one column for each character of UTF-8.
class VirtualScreen {
 public:
  VirtualScreen(size_t width, size_t height) : width_(width), height_(height), lines_(1) {}

  // The output of a program, in pieces of any size.
  void Feed(std::string_view bytes);

  // All lines, those that have scrolled out included, without blanks at their ends.
  std::vector<std::string> Lines() const;
  // The same as one text.
  std::string Text() const;

 private:
  using Line = std::vector<std::string>;  // a character each

  // Takes one character or escape sequence off the start of `pending_`; false when more bytes are needed.
  bool Step();
  bool StepEscape();
  void LineFeed();
  void Put(std::string character);

  const size_t width_;
  const size_t height_;
  std::string pending_;
  std::vector<Line> lines_;
  size_t row_ = 0;
  size_t column_ = 0;
};

}  // namespace ringway::test
