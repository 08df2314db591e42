// Looks into complete replies, each given as one contiguous piece of memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "protocol/reply_scanner.h"

namespace ringway::protocol {

// Walks the elements of an aggregate reply, for merging. Attributes before the reply are passed over;
// those before an element are part of it.
// Thread: one. Owns: nothing; the reply must outlive it. Limits: those of ReplyScanner.
class ReplyCursor {
 public:
  explicit ReplyCursor(std::string_view reply);

  // The reply's first byte behind its attributes; 0 if there is no reply.
  char type() const { return type_; }

  // Elements of an aggregate (a map's keys and values each count as one); -1 for a null (`*-1`, `$-1`,
  // `_`); 0 for every other type.
  int64_t length() const { return length_; }

  // Gives the next element, with its type and line ends. False behind the last one, or where the reply
  // is not whole.
  bool Next(std::string_view* element);

  // The bytes not yet walked over.
  std::string_view rest() const { return rest_; }

 private:
  char type_ = 0;
  int64_t length_ = 0;
  int64_t left_ = 0;
  std::string_view rest_;
  ReplyScanner scanner_;
};

// The reply proper, behind its attributes; empty if it is not whole.
std::string_view WithoutAttributes(std::string_view reply);

// Whether the reply is `*-1`, `$-1` or `_`.
bool IsNull(std::string_view reply);

// The value of an integer reply (`:`), or nothing.
std::optional<int64_t> IntegerOf(std::string_view reply);

// The text of a bulk (`$`), status (`+`) or verbatim (`=`, behind its "txt:") reply, or nothing.
std::optional<std::string_view> BulkOf(std::string_view reply);

// Whether the reply is an error (`-` or `!`).
bool IsError(std::string_view reply);

// An error's text, from its code word on; empty if the reply is no error.
std::string_view ErrorText(std::string_view reply);

// The first word of an error's text ("MOVED", "ERR"); empty if the reply is no error.
std::string_view ErrorCode(std::string_view reply);

}  // namespace ringway::protocol
