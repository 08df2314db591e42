// Arguments, one to a line: whatever they are, finding their command and their keys must not read beyond
// them, and must name arguments that exist.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "protocol/command_keys.h"

namespace {

using ringway::protocol::Arg;
using ringway::protocol::CommandRow;
using ringway::protocol::FindCommand;
using ringway::protocol::FindKeys;
using ringway::protocol::FindSubcommand;
using ringway::protocol::KeyList;
using ringway::protocol::KeyStatus;
using ringway::protocol::RequestView;

void Require(bool condition) {
  if (!condition) std::abort();
}

void Check(const CommandRow& row, const RequestView& request, KeyList* keys) {
  const KeyStatus status = FindKeys(row, request, keys);
  Require((status == KeyStatus::kOk) == !keys->empty());
  Require(status != KeyStatus::kAskServer);
  for (const uint32_t index : *keys) Require(index >= 1 && index < request.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4096) return 0;
  // Memory of its own and of the exact size, so that the sanitizer sees any reading on.
  std::unique_ptr<char[]> bytes(new char[size]);
  if (size != 0) std::memcpy(bytes.get(), data, size);
  const std::string_view text(bytes.get(), size);
  std::vector<Arg> args;
  for (size_t begin = 0; begin <= size;) {
    size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) end = size;
    args.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end - begin)});
    begin = end + 1;
  }
  const RequestView request(text, args);
  KeyList keys;
  const CommandRow* row = FindCommand(request[0]);
  if (row != nullptr && request.size() > 1) {
    if (const CommandRow* subcommand = FindSubcommand(*row, request[1])) row = subcommand;
  }
  if (row != nullptr) Check(*row, request, &keys);
  // The same arguments as any other command's that has its own way with keys.
  for (const char* name :
       {"sort", "migrate", "georadius", "xreadgroup", "eval", "zunionstore", "bitop", "mset"}) {
    Check(*FindCommand(name), request, &keys);
  }
  FindSortPatterns(request, &keys);
  for (const uint32_t index : keys) Require(index < request.size());
  return 0;
}
