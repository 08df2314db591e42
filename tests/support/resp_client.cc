#include "tests/support/resp_client.h"

namespace ringway::test {

Reply RespClient::Do(const Command& command, milliseconds timeout) {
  Send(command);
  return Read(timeout);
}

std::vector<Reply> RespClient::Pipeline(const std::vector<Command>& commands, milliseconds timeout) {
  std::string bytes;
  for (const Command& command : commands) bytes += EncodeCommand(command);
  socket_.Send(bytes, timeout);
  std::vector<Reply> replies;
  for (size_t i = 0; i < commands.size(); ++i) {
    replies.push_back(Read(timeout));
    // After one missing reply the others would each wait in vain.
    if (replies.back().type == 0) timeout = milliseconds(0);
  }
  return replies;
}

std::string RespClient::DoRaw(const Command& command, milliseconds timeout) {
  Send(command);
  return socket_.ReadReply(timeout).value_or("");
}

Reply RespClient::Read(milliseconds timeout) {
  const auto bytes = socket_.ReadReply(timeout);
  if (bytes) return ParseReply(*bytes);
  Reply none;
  none.text = socket_.LastError();
  return none;
}

Reply RespClient::Raw(std::string_view bytes) {
  socket_.Send(bytes);
  return Read();
}

std::string InfoField(const std::string& info, std::string_view field) {
  const std::string wanted = std::string(field) + ":";
  size_t start = 0;
  while (start < info.size()) {
    size_t end = info.find('\n', start);
    if (end == std::string::npos) end = info.size();
    std::string_view line = std::string_view(info).substr(start, end - start);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with(wanted)) return std::string(line.substr(wanted.size()));
    start = end + 1;
  }
  return "";
}

}  // namespace ringway::test
