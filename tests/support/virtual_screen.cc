#include "tests/support/virtual_screen.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace ringway::test {

void VirtualScreen::Feed(std::string_view bytes) {
  pending_ += bytes;
  while (!pending_.empty() && Step()) {
  }
}

bool VirtualScreen::Step() {
  const char first = pending_.front();
  if (first == '\x1b') return StepEscape();
  size_t length = 1;
  if ((static_cast<unsigned char>(first) & 0xe0) == 0xc0) length = 2;
  if ((static_cast<unsigned char>(first) & 0xf0) == 0xe0) length = 3;
  if ((static_cast<unsigned char>(first) & 0xf8) == 0xf0) length = 4;
  if (pending_.size() < length) return false;
  std::string character = pending_.substr(0, length);
  pending_.erase(0, length);
  if (first == '\r') {
    column_ = 0;
  } else if (first == '\n') {
    LineFeed();
  } else {
    Put(std::move(character));
  }
  return true;
}

bool VirtualScreen::StepEscape() {
  const size_t end = pending_.find_first_not_of("0123456789;[", 1);
  if (end == std::string::npos) return false;
  const auto number = static_cast<size_t>(std::atoi(pending_.substr(std::min<size_t>(2, end)).c_str()));
  const char letter = pending_[end];
  pending_.erase(0, end + 1);
  Line& line = lines_[row_];
  const size_t top = lines_.size() > height_ ? lines_.size() - height_ : 0;
  if (letter == 'A') row_ = std::max(top, row_ - std::min(row_, std::max<size_t>(number, 1)));
  if (letter == 'K' || letter == 'J') line.resize(std::min(line.size(), column_));
  if (letter == 'J') lines_.resize(row_ + 1);
  return true;
}

void VirtualScreen::LineFeed() {
  if (++row_ == lines_.size()) lines_.emplace_back();
}

void VirtualScreen::Put(std::string character) {
  if (column_ == width_) {
    LineFeed();
    column_ = 0;
  }
  Line& line = lines_[row_];
  if (line.size() <= column_) line.resize(column_ + 1, " ");
  line[column_++] = std::move(character);
}

std::vector<std::string> VirtualScreen::Lines() const {
  std::vector<std::string> lines;
  for (const Line& line : lines_) {
    std::string text;
    for (const std::string& character : line) text += character;
    text.erase(text.find_last_not_of(' ') + 1);
    lines.push_back(std::move(text));
  }
  return lines;
}

std::string VirtualScreen::Text() const {
  std::string text;
  for (const std::string& line : Lines()) text += line + "\n";
  return text;
}

}  // namespace ringway::test
