#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ringway::protocol {

// Splits an inline command into words, by the rules of Redis's sdssplitargs: words are parted by white
// space; "double quotes" know \n \r \t \b \a \xHH and \<any character>, 'single quotes' know \' only;
// after a closing quote there must be white space or the end.
//
// Thread: one. Owns: nothing; the line must outlive it. Limits: none of its own, one pass.
class InlineSplitter {
 public:
  explicit InlineSplitter(std::string_view line) : line_(line) {}

  // Appends the next word to *words. False at the end of the line, or if the line is wrong.
  bool Next(std::string* words);

  bool failed() const { return !error_.empty(); }
  // What to answer to a wrong line.
  std::string_view error() const { return error_; }

 private:
  bool TakeQuoted(char quote, std::string* words);
  bool TakeEscape(std::string* words);

  std::string_view line_;
  size_t position_ = 0;
  std::string_view error_;
};

}  // namespace ringway::protocol
