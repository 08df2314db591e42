// Standard output, drawn over or line by line, and standard error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/reshard/progress_view.h"

namespace ringway::proxy::reshard {

// Thread: one. Owns: nothing; both streams are its alone. Limits: none.
class Screen {
 public:
  Screen();

  // Whether a frame can be drawn over the one before.
  bool is_terminal() const { return terminal_; }
  // Asked anew each time, since people pull at windows. Without a terminal nothing is cut off.
  ViewStyle Style() const;

  // A line of text, below what has been drawn so far.
  void Print(std::string_view line);
  // The same on standard error: what is wrong is to be seen where the figures are not.
  void Complain(std::string_view line);
  // The same without a line end: a question.
  void Ask(std::string_view question);
  // Takes the place of the last frame.
  void Draw(const std::vector<std::string>& frame);

  // Nobody can read any more.
  bool failed() const { return failed_; }

 private:
  void PrintTo(int fd, std::string_view line);
  void Write(int fd, std::string_view text);

  bool dumb_ = false;      // a terminal that knows no escape sequences
  bool terminal_ = false;  // can be drawn on
  bool colour_ = false;
  bool blocks_ = false;
  bool failed_ = false;
  std::vector<std::string>
      frame_;  // on the screen, the cursor below it; empty when something else came after it
};

}  // namespace ringway::proxy::reshard
