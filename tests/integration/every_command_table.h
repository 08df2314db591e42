// Reads every_command.txt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringway::test {

// How the answers of two servers that were sent the same are compared.
enum class Compare {
  kEqual,        // byte for byte
  kAnyOrder,     // the same elements
  kShape,        // the same kind of answer: text, number, array ...: the content is that of the moment or the
                 // process
  kErrorOrEqual  // sent on a fresh connection; the proxy may refuse, but answers once
};

struct Invocation {
  Compare compare = Compare::kEqual;
  bool only_to_proxy = false;  // it would harm the plain server, or the comparison
  std::vector<std::string> arguments;
};

// All lines of the file, in order.
std::vector<Invocation> EveryInvocation();

// Splits a line at blanks; "double quotes" keep them in.
std::vector<std::string> SplitWords(std::string_view line);

}  // namespace ringway::test
