// A raw client: any bytes in, raw replies out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tests/support/test_environment.h"

namespace ringway::test {

// A socket that sends whatever bytes a test wants and hands back raw replies.
// Thread: one at a time. Owns: the descriptor. Limits: every call ends within its timeout.
class RespSocket {
 public:
  RespSocket() = default;
  ~RespSocket() { Close(); }
  RespSocket(RespSocket&& other) noexcept;
  RespSocket& operator=(RespSocket&& other) noexcept;

  // Connects to "HOST:PORT", "[HOST6]:PORT" (numeric hosts) or "unix:PATH". A `receive_buffer` above 0 is set
  // before connecting, in bytes: with a small one the peer soon feels that this side does not read.
  bool Connect(const std::string& address, int receive_buffer = 0, milliseconds timeout = kPatience);
  // Returns once the system has taken all of `bytes`; false when the connection broke or time ran out.
  bool Send(std::string_view bytes, milliseconds timeout = kPatience);

  // The next complete reply, as received. Nothing when it did not come, or the bytes are no RESP, or the
  // connection ended before it was complete: LastError() says which.
  std::optional<std::string> ReadReply(milliseconds timeout = kPatience);
  // The next `size` bytes.
  std::optional<std::string> ReadBytes(size_t size, milliseconds timeout = kPatience);
  // Reads and forgets `size` bytes, for values too large to keep; calls `see` with each piece.
  bool SkimBytes(size_t size, const std::function<void(std::string_view)>& see,
                 milliseconds timeout = kPatience);
  // All that is still to come when the peer closes within `timeout`; nothing when it does not.
  std::optional<std::string> ReadUntilClosed(milliseconds timeout = kPatience);
  // True when bytes (or the end) are there to be read within `timeout`.
  bool ReadableWithin(milliseconds timeout);

  // Ends the sending direction; replies can still be read.
  void HalfClose();
  void Close();
  // Closes so that the peer sees a reset rather than an orderly end.
  void Abort();

  bool open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  const std::string& LastError() const { return error_; }
  // Address of this end, as CLIENT LIST names it.
  std::string LocalAddress() const;

 private:
  // Waits for `events`; false and an error when the deadline passes.
  bool WaitFor(short events, std::chrono::steady_clock::time_point deadline);
  // Adds what can be read to input_: 1 read something, 0 the peer closed, -1 error or timeout.
  int Fill(std::chrono::steady_clock::time_point deadline);

  int fd_ = -1;
  std::string input_;
  std::string error_;
};

}  // namespace ringway::test
