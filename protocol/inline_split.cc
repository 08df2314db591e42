#include "protocol/inline_split.h"

namespace ringway::protocol {
namespace {

constexpr std::string_view kUnbalanced = "ERR Protocol error: unbalanced quotes in request";
// Redis takes a NUL for the end of its buffer and waits for a line end that never counts.
constexpr std::string_view kNul = "ERR Protocol error: NUL byte in inline request";

// The C locale's isspace.
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Vertical tabs and form feeds are skipped between words but do not end one.
bool EndsWord(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// The value of a hexadecimal digit, -1 for any other character.
int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

char Unescape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return c;
  }
}

}  // namespace

bool InlineSplitter::Next(std::string* words) {
  if (position_ == 0 && line_.find('\0') != std::string_view::npos) error_ = kNul;
  if (failed()) return false;
  while (position_ < line_.size() && IsSpace(line_[position_])) ++position_;
  if (position_ == line_.size()) return false;
  while (position_ < line_.size() && !EndsWord(line_[position_])) {
    const char c = line_[position_++];
    if (c == '"' || c == '\'') return TakeQuoted(c, words);
    words->push_back(c);
  }
  return true;
}

// Takes the rest of a word whose quote has just been opened.
bool InlineSplitter::TakeQuoted(char quote, std::string* words) {
  while (position_ < line_.size()) {
    const char c = line_[position_++];
    if (c == quote) {
      if (position_ < line_.size() && !IsSpace(line_[position_])) break;
      return true;
    }
    if (c == '\\' && quote == '"' && TakeEscape(words)) continue;
    if (c == '\\' && quote == '\'' && line_.substr(position_).starts_with('\'')) {
      words->push_back(line_[position_++]);
      continue;
    }
    words->push_back(c);
  }
  error_ = kUnbalanced;
  return false;
}

// Takes what follows a backslash between double quotes; false if nothing does.
bool InlineSplitter::TakeEscape(std::string* words) {
  if (position_ == line_.size()) return false;
  if (line_[position_] == 'x' && position_ + 2 < line_.size()) {
    const int high = HexDigit(line_[position_ + 1]);
    const int low = HexDigit(line_[position_ + 2]);
    if (high >= 0 && low >= 0) {
      words->push_back(static_cast<char>(high * 16 + low));
      position_ += 3;
      return true;
    }
  }
  words->push_back(Unescape(line_[position_++]));
  return true;
}

}  // namespace ringway::protocol
