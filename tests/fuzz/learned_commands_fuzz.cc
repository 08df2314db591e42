// A shard's answer to COMMAND: whatever it says, learning from it must not read beyond it, and what was
// learnt must find keys among the arguments only.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "protocol/command_keys.h"
#include "protocol/learned_commands.h"

namespace {

using ringway::protocol::Arg;
using ringway::protocol::CommandRow;
using ringway::protocol::KeyList;
using ringway::protocol::LearnedCommands;
using ringway::protocol::RequestView;

void Require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::unique_ptr<char[]> bytes(new char[size]);
  if (size != 0) std::memcpy(bytes.get(), data, size);
  const auto learned = LearnedCommands::FromReply({bytes.get(), size});
  bytes.reset();  // rows must not point into the reply
  if (learned == nullptr) return 0;
  const std::string_view text = "x 2 a STORE STREAMS 1 b";
  std::vector<Arg> args;
  for (uint32_t i = 0; i < text.size(); i = static_cast<uint32_t>(text.find(' ', i) + 1)) {
    const size_t end = text.find(' ', i);
    args.push_back({i, static_cast<uint32_t>((end == text.npos ? text.size() : end) - i)});
    if (end == text.npos) break;
  }
  KeyList keys;
  for (const CommandRow& row : learned->rows()) {
    Require(row.id == LearnedCommands::kId && !row.name.empty());
    Require(row.name.find('|') != row.name.npos || learned->Find(row.name) == &row);
    for (size_t count = 1; count <= args.size(); ++count) {
      FindKeys(row, RequestView(text, std::span(args).first(count)), &keys);
      for (const uint32_t index : keys) Require(index >= 1 && index < count);
    }
  }
  return 0;
}
