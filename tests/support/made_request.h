// A request made of arguments, without the parser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protocol/command_writer.h"
#include "protocol/request_view.h"

namespace ringway::test {

// Owns a request's bytes and hands out views of them, for tests of what comes after the parser.
// Thread: any one. Owns: the frame. Limits: the view lives as long as this object.
class MadeRequest {
 public:
  explicit MadeRequest(const std::vector<std::string>& arguments) {
    protocol::AppendHeader(frame_, arguments.size());
    for (const std::string& argument : arguments) {
      protocol::AppendArg(frame_, argument);
      const auto length = static_cast<uint32_t>(argument.size());
      args_.push_back({static_cast<uint32_t>(frame_.size()) - 2 - length, length});
    }
  }

  protocol::RequestView view() const { return {frame_, args_}; }

 private:
  std::string frame_;
  std::vector<protocol::Arg> args_;
};

// "SET k v" as three arguments; '' is an empty one.
inline std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    if (word == "''") {
      words.emplace_back();
    } else if (!word.empty()) {
      words.emplace_back(word);
    }
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
  }
  return words;
}

}  // namespace ringway::test
