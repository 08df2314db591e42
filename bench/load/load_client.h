#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <sys/socket.h>

#include "bench/load/conversation.h"
#include "bench/load/reply_reader.h"

namespace ringway::bench {

// One connection to the target: sends a batch, reads until all its replies are there, sends the next.
//
// Thread: one.
// Owns: its socket, registered with the epoll instance it was given, and its conversation.
// Limits: one batch in flight.
class LoadClient {
 public:
  enum class State { kClosed, kConnecting, kIdle, kWaiting };

  LoadClient(int epoll, const sockaddr* address, socklen_t address_length, std::size_t pipeline,
             std::unique_ptr<Conversation> conversation);
  ~LoadClient();
  LoadClient(const LoadClient&) = delete;
  LoadClient& operator=(const LoadClient&) = delete;

  // Begins a connection. `source` (IPv4, host order, 0: any) is the address to call from. False when it
  // failed at once.
  bool Connect(uint32_t source, uint64_t now_ns);
  void Close();

  // Sends the next batch, or as much as the socket takes. False when the connection failed.
  bool SendBatch(uint64_t now_ns);

  // Events on the socket that are not about reading: the connection stands, or there is room to send.
  bool OnWritable();

  // Reads once into `buffer`; *replies is the number of replies that became whole. False when the
  // connection ended, the bytes are not RESP, or there are more replies than requests.
  bool OnReadable(char* buffer, std::size_t size, uint64_t* replies);

  State state() const { return state_; }
  uint64_t connect_start_ns() const { return connect_start_ns_; }
  uint64_t batch_start_ns() const { return batch_start_ns_; }
  std::size_t unanswered() const { return due_; }

 private:
  bool Flush();
  bool Watch(bool writable);

  const int epoll_;
  const sockaddr* const address_;
  const socklen_t address_length_;
  const std::size_t pipeline_;
  const std::unique_ptr<Conversation> conversation_;
  ReplyReader reader_;
  int socket_ = -1;
  State state_ = State::kClosed;
  bool watching_writable_ = false;
  std::string_view unsent_;
  std::size_t due_ = 0;  // replies still to come of this batch
  uint64_t connect_start_ns_ = 0;
  uint64_t batch_start_ns_ = 0;
};

}  // namespace ringway::bench
