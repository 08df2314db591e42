#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "protocol/limits.h"
#include "protocol/parse_status.h"

namespace ringway::protocol {

// Finds where one reply ends in what a shard sends, and builds nothing: every type of RESP2 and RESP3,
// nested at will. Attributes (`|`) belong to the reply after them. Streamed strings and aggregates
// (`$?`, `*?`), which Redis never sends, are errors.
//
// Thread: one. Owns: a count for each open level of nesting. Limits: kMaxReplyDepth, kMaxReplyLength;
// memory grows with the depth seen, never with an announced length.
class ReplyScanner {
 public:
  struct Result {
    ParseStatus status;
    size_t consumed;  // kComplete: up to the reply's last byte. kNeedMore: all. kError: up to the fault.
  };

  // Reads `bytes`, which follow those of the last call and may be split anywhere. After kComplete the
  // rest of `bytes` is to be passed again, for the next reply. kError is final: where the next reply
  // begins cannot be known.
  Result Scan(std::string_view bytes);

  // The first byte of the reply under way or just completed; '|' while only attributes have arrived.
  char type() const { return type_; }
  bool is_push() const { return type_ == '>'; }

  // Whether a reply has begun and not ended.
  bool in_progress() const { return in_progress_; }

  // At least this many bytes are missing for the reply under way, or for the next one to be one.
  size_t missing_bytes() const;

  // Bytes of memory held beyond the object itself.
  size_t memory_bytes() const { return levels_.capacity() * sizeof(Level); }

 private:
  enum class Stage : uint8_t {
    kType,
    kLine,
    kLineFeed,
    kLength,
    kLengthFeed,
    kPayload,
    kPayloadEnd,
    kFailed
  };
  struct Level {
    int64_t left : 63;  // elements
    bool attribute : 1;
  };

  Result ScanSlowly(std::string_view bytes);
  const char* Step(const char* p, const char* end);
  const char* BeginElement(const char* p);
  const char* ReadLength(const char* p, const char* end);
  bool EndLength();
  bool Open(int64_t elements, bool attribute);
  void EndElement();
  void EndReply();

  Stage stage_ = Stage::kType;
  bool in_progress_ = false;
  char type_ = 0;
  char element_ = 0;       // type of the element under way
  bool negative_ = false;  // in kLength
  uint8_t digits_ = 0;     // in kLength
  int64_t number_ = 0;  // kLength: the value so far; kPayload: bytes left; kPayloadEnd: bytes of "\r\n" seen
  std::vector<Level> levels_;
};

}  // namespace ringway::protocol
