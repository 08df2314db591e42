#include "protocol/command_writer.h"

#include "protocol/length_line.h"

namespace ringway::protocol {

void AppendHeader(std::string& out, size_t args) { AppendLengthLine(out, '*', static_cast<int64_t>(args)); }

void AppendArg(std::string& out, std::string_view arg) {
  AppendLengthLine(out, '$', static_cast<int64_t>(arg.size()));
  out.append(arg);
  out.append("\r\n", 2);
}

void AppendArg(std::string& out, int64_t number) {
  char text[24];
  const auto [end, error] = std::to_chars(text, text + sizeof text, number);
  AppendArg(out, std::string_view(text, static_cast<size_t>(end - text)));
}

void AppendCommand(std::string& out, std::initializer_list<std::string_view> args) {
  AppendCommand(out, std::span<const std::string_view>(args.begin(), args.size()));
}

void AppendCommand(std::string& out, std::span<const std::string_view> args) {
  AppendHeader(out, args.size());
  for (std::string_view arg : args) AppendArg(out, arg);
}

size_t CommandBytes(std::span<const std::string_view> args) {
  size_t bytes = LengthLineBytes(args.size());
  for (std::string_view arg : args) bytes += LengthLineBytes(arg.size()) + arg.size() + 2;
  return bytes;
}

}  // namespace ringway::protocol
