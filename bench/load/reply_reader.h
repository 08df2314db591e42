#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ringway::bench {

// Is told what a ReplyReader finds.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  virtual void OnScalar(char type, std::string_view text) = 0;  // '+', '-' or ':'
  virtual void OnNull() = 0;                                    // $-1 or *-1
  virtual void OnArray(uint64_t elements) = 0;
  virtual void OnBulkBegin(uint64_t length) = 0;
  virtual void OnBulkBytes(std::string_view part) = 0;
  virtual void OnBulkEnd() = 0;
  virtual void OnReplyEnd() = 0;  // a whole reply, with all that is nested in it
};

// Cuts a stream of RESP2 replies. Bulks are handed on as they arrive and never kept, so replies of any
// size cost no memory. It is written apart from the proxy's own scanner on purpose: the measure and
// the judge must not share a mistake with what they measure.
//
// Thread: one.
// Owns: at most one unfinished line.
// Limits: lines of 64 KiB (kMaxLine).
class ReplyReader {
 public:
  static constexpr std::size_t kMaxLine = 64 * 1024;

  // `sink` must outlive the reader.
  explicit ReplyReader(ReplySink* sink) : sink_(sink) {}

  // False when the bytes are not RESP2; the connection is then of no more use until Reset.
  bool Feed(std::string_view data);
  void Reset();

  // Whole replies since construction.
  uint64_t replies() const { return replies_; }

 private:
  bool TakeBulk(std::string_view* data);
  bool TakeLine(std::string_view line);
  bool TakeHeader(char type, std::string_view text);
  void ElementDone();

  ReplySink* const sink_;
  uint64_t replies_ = 0;
  std::string partial_line_;
  uint64_t elements_left_ = 0;    // of the reply being read, itself included; 0 between replies
  uint64_t bulk_left_ = 0;        // bytes of payload
  unsigned terminator_left_ = 0;  // 2 while payload remains, 0 outside a bulk
};

}  // namespace ringway::bench
