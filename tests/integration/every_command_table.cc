#include "tests/integration/every_command_table.h"

#include <sstream>
#include <utility>

#include "tests/support/test_environment.h"

namespace ringway::test {

std::vector<std::string> SplitWords(std::string_view line) {
  std::vector<std::string> words;
  bool quoted = false;
  bool in_word = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == ' ' && !quoted) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == '"') {
      quoted = !quoted;
    } else if (c == '\\' && quoted && line.substr(i).starts_with("\\n")) {
      words.back() += '\n';
      ++i;
    } else {
      words.back() += c;
    }
  }
  return words;
}

std::vector<Invocation> EveryInvocation() {
  std::vector<Invocation> all;
  std::istringstream lines(ReadFile(RINGWAY_EVERY_COMMAND_FILE));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    Invocation invocation;
    invocation.only_to_proxy = line[0] == '-';
    if (line[0] == '~') invocation.compare = Compare::kAnyOrder;
    if (line[0] == '?') invocation.compare = Compare::kShape;
    if (line[0] == '!' || line[0] == '-') invocation.compare = Compare::kErrorOrEqual;
    invocation.arguments = SplitWords(std::string_view(line).substr(2));
    all.push_back(std::move(invocation));
  }
  return all;
}

}  // namespace ringway::test
