#include "protocol/glob.h"

#include <algorithm>

namespace ringway::protocol {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Matches the parts of a pattern that stand for one character each.
class PatternReader {
 public:
  PatternReader(std::string_view pattern, GlobCase mind)
      : pattern_(pattern), ignore_case_(mind == GlobCase::kIgnore) {}

  bool at_end() const { return position_ == pattern_.size(); }
  size_t position() const { return position_; }
  void set_position(size_t position) { position_ = position; }

  // Passes over all `*` at the present position; false if there are none.
  bool SkipStars() {
    const size_t begin = position_;
    while (!at_end() && pattern_[position_] == '*') ++position_;
    return position_ != begin;
  }

  // Passes over the next part, which exists and is no `*`; whether it matches c.
  bool Take(char c) {
    switch (pattern_[position_]) {
      case '?':
        ++position_;
        return true;
      case '[':
        ++position_;
        return TakeClass(c);
      case '\\':
        if (position_ + 1 < pattern_.size()) ++position_;
        break;
      default:
        break;
    }
    return Same(pattern_[position_++], c);
  }

 private:
  bool Same(char a, char b) const { return ignore_case_ ? Lower(a) == Lower(b) : a == b; }

  bool TakeClass(char c) {
    const bool negated = !at_end() && pattern_[position_] == '^';
    if (negated) ++position_;
    bool match = false;
    while (!at_end() && pattern_[position_] != ']') {
      const size_t left = pattern_.size() - position_;
      const char* p = pattern_.data() + position_;
      if (p[0] == '\\' && left >= 2) {
        match |= p[1] == c;
        position_ += 2;
      } else if (left >= 3 && p[1] == '-') {
        match |= InRange(p[0], p[2], c);
        position_ += 3;
      } else {
        match |= Same(p[0], c);
        position_ += 1;
      }
    }
    if (!at_end()) ++position_;
    return match != negated;
  }

  bool InRange(char first, char last, char c) const {
    auto low = static_cast<signed char>(std::min<signed char>(first, last));
    auto high = static_cast<signed char>(std::max<signed char>(first, last));
    if (ignore_case_) {
      low = Lower(low);
      high = Lower(high);
      c = Lower(c);
    }
    const auto value = static_cast<signed char>(c);
    return low <= value && value <= high;
  }

  const std::string_view pattern_;
  const bool ignore_case_;
  size_t position_ = 0;
};

}  // namespace

bool GlobMatch(std::string_view pattern, std::string_view text, GlobCase mind) {
  if (text.empty()) return pattern.empty();
  PatternReader reader(pattern, mind);
  // Where to go on when a part does not match: behind the last star, which takes one character more.
  // An earlier star need not be tried again, since whatever it could leave to the last one, the last
  // one can take itself.
  bool seen_star = false;
  size_t after_star = 0;
  size_t star_end = 0;
  size_t i = 0;
  while (i < text.size()) {
    if (reader.SkipStars()) {
      if (reader.at_end()) return true;
      seen_star = true;
      after_star = reader.position();
      star_end = i;
    }
    if (!reader.at_end() && reader.Take(text[i])) {
      ++i;
    } else if (seen_star) {
      reader.set_position(after_star);
      i = ++star_end;
    } else {
      return false;
    }
  }
  reader.SkipStars();
  return reader.at_end();
}

}  // namespace ringway::protocol
