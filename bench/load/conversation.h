#pragma once

#include <string>
#include <string_view>

#include "bench/load/reply_reader.h"

namespace ringway::bench {

// What one client says, a batch of requests at a time, and what it makes of the replies.
//
// Thread: one.
class Conversation : public ReplySink {
 public:
  // The next --pipeline requests, rendered. Valid until the next call; called only when all replies to
  // the batch before have been read, or after ConnectionLost.
  virtual std::string_view NextBatch() = 0;

  // Replies that are still due will never come.
  virtual void ConnectionLost() = 0;
};

// Appends one part of a request as RESP sends it: $length, CRLF, bytes, CRLF.
inline void AppendBulk(std::string_view text, std::string* out) {
  out->append("$").append(std::to_string(text.size())).append("\r\n").append(text).append("\r\n");
}

inline void AppendArray(std::size_t parts, std::string* out) {
  out->append("*").append(std::to_string(parts)).append("\r\n");
}

}  // namespace ringway::bench
