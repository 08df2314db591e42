#include "proxy/reshard/screen.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

#include "proxy/reshard/text_cells.h"

namespace ringway::proxy::reshard {

namespace {

constexpr std::string_view kEndOfLine = "\x1b[K";
constexpr std::string_view kClearBelow = "\x1b[J";
constexpr size_t kNoLimit = 100'000;
// A terminal that does not know its size says 0.
constexpr size_t kUsualWidth = 80;
constexpr size_t kUsualHeight = 24;

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The first of these that is set decides, as in setlocale.
bool LocaleIsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = Environment(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string_view::npos || value.find("utf8") != std::string_view::npos;
  }
  return false;
}

// Lines that the frame takes: those that are wider than the terminal, which may have become narrower, are
// broken.
size_t Height(const std::vector<std::string>& frame, size_t width) {
  size_t height = 0;
  for (const std::string& line : frame) height += std::max<size_t>((Cells(line) + width - 1) / width, 1);
  return height;
}

}  // namespace

Screen::Screen()
    : dumb_(Environment("TERM") == "dumb"),
      terminal_(isatty(STDOUT_FILENO) != 0 && !dumb_),
      colour_(terminal_ && Environment("NO_COLOR").empty()),
      blocks_(LocaleIsUtf8()) {}

ViewStyle Screen::Style() const {
  if (!terminal_) return {kNoLimit, kNoLimit, false, false};
  winsize size{};
  ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
  return {size.ws_col > 0 ? size.ws_col : kUsualWidth, size.ws_row > 0 ? size.ws_row : kUsualHeight, colour_,
          blocks_};
}

void Screen::Print(std::string_view line) { PrintTo(STDOUT_FILENO, line); }

void Screen::Complain(std::string_view line) { PrintTo(STDERR_FILENO, line); }

void Screen::PrintTo(int fd, std::string_view line) {
  frame_.clear();
  std::string text;
  // Whatever a terminal has echoed since ("^C") goes.
  if (!dumb_ && isatty(fd) != 0) text.append("\r").append(kEndOfLine);
  Write(fd, text.append(line).append("\n"));
}

void Screen::Ask(std::string_view question) {
  frame_.clear();
  Write(STDOUT_FILENO, question);
}

void Screen::Draw(const std::vector<std::string>& frame) {
  std::string text = "\r";
  if (!frame_.empty()) text += "\x1b[" + std::to_string(Height(frame_, Style().width)) + "A";
  for (const std::string& line : frame) text += line + std::string(kEndOfLine) + "\n";
  text += kClearBelow;
  Write(STDOUT_FILENO, text);
  frame_ = frame;
}

void Screen::Write(int fd, std::string_view text) {
  while (!text.empty() && !failed_) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      failed_ = true;
    }
  }
}

}  // namespace ringway::proxy::reshard
