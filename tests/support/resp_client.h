// The client most tests use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/resp_reply.h"
#include "tests/support/resp_socket.h"

namespace ringway::test {

using Command = std::vector<std::string>;

// The client most tests use: commands in, parsed replies out, RESP2 or RESP3.
// Thread: one at a time. Owns: its connection. Limits: a reply that does not come within the patience of a
// test is a Reply of type 0, which no expectation accepts.
class RespClient {
 public:
  RespClient() = default;
  explicit RespClient(const std::string& address) { socket_.Connect(address); }

  Reply Do(const Command& command, milliseconds timeout = kPatience);
  // Sends all commands in one write, then reads as many replies.
  std::vector<Reply> Pipeline(const std::vector<Command>& commands, milliseconds timeout = kPatience);
  // The reply as received; empty when there was none.
  std::string DoRaw(const Command& command, milliseconds timeout = kPatience);

  bool Send(const Command& command) { return socket_.Send(EncodeCommand(command)); }
  Reply Read(milliseconds timeout = kPatience);
  // Sends bytes as they are and reads one reply.
  Reply Raw(std::string_view bytes);

  RespSocket& socket() { return socket_; }

 private:
  RespSocket socket_;
};

// Value of `field` in the text INFO answers; empty when absent.
std::string InfoField(const std::string& info, std::string_view field);

}  // namespace ringway::test
