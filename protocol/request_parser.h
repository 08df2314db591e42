#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "protocol/limits.h"
#include "protocol/parse_status.h"
#include "protocol/request_view.h"

namespace ringway::protocol {

// Finds one request at a time in what a client has sent: a multibulk frame (`*2\r\n$3\r\nGET...`), of
// which it notes where the arguments lie, or an inline command (`GET key\r\n`), which it rewrites as a
// multibulk frame. Stricter than Redis in one thing: the line end after an argument must be there,
// since the frame is passed on to a connection that others share.
//
// Thread: one. Owns: the argument table (in itself for small requests), the rewritten inline command.
// Limits: RequestLimits; memory grows with bytes received, never with what a header announces.
class RequestParser {
 public:
  RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;
  ~RequestParser();

  // `data` begins at the first byte of the current frame and holds all that has been received of it,
  // and perhaps more. After kNeedMore, call again with the same bytes and more (the address may have
  // changed): parsing goes on where it stopped. After kComplete the next call begins a new frame;
  // request() stays valid until then, or until `data` moves. kError is final.
  ParseStatus Parse(std::string_view data, const RequestLimits& limits);

  // After kComplete: the bytes of `data` that the frame took.
  size_t consumed() const { return position_; }

  // After kComplete. No arguments for a blank line, `*0` and `*-1`: to be ignored, as Redis does.
  RequestView request() const { return RequestView({frame_, frame_size_}, {args(), count_}); }

  // After kComplete: whether the request came as an inline command.
  bool is_inline() const { return is_inline_; }

  // After kError: the text for an error reply, in Redis's words where Redis has any.
  std::string_view error() const { return error_; }

  // After kNeedMore: at least this many bytes are missing; the rest of an argument where its length is
  // known, else 1.
  size_t missing_bytes() const { return missing_; }

  // Between requests: gives back what an unusually large request has left; request() is void then.
  void ReleaseMemory();

  // Bytes of memory held beyond the object itself.
  size_t memory_bytes() const;

 private:
  // Where in a frame parsing stopped.
  enum class Stage : uint8_t { kStart, kCountLine, kLengthLine, kArgument, kInlineLine, kFailed };
  struct Inline;

  ParseStatus Continue(std::string_view data, const RequestLimits& limits);
  ParseStatus ParseCount(std::string_view data, const RequestLimits& limits);
  ParseStatus ParseArguments(std::string_view data, const RequestLimits& limits);
  void TakeSmallArguments(std::string_view data, const RequestLimits& limits);
  ParseStatus TakeArgument(std::string_view data, const RequestLimits& limits);
  ParseStatus ParseLength(std::string_view data, const RequestLimits& limits);
  ParseStatus FindLineEnd(std::string_view data, std::string_view too_long, size_t* end);
  ParseStatus ParseInline(std::string_view data, const RequestLimits& limits);
  ParseStatus RewriteInline(std::string_view line, const RequestLimits& limits);

  ParseStatus Complete(const char* frame);
  ParseStatus NeedMore(std::string_view data, size_t missing, const RequestLimits& limits);
  ParseStatus Fail(std::string_view error);
  ParseStatus FailExpectedDollar(char got);

  const Arg* args() const { return heap_args_ ? heap_args_.get() : inline_args_; }
  Arg* args() { return heap_args_ ? heap_args_.get() : inline_args_; }
  void AddArg(size_t offset, size_t length);
  void GrowArgs();
  Inline& inline_memory();

  Stage stage_ = Stage::kStart;
  bool is_inline_ = false;
  uint32_t position_ = 0;         // bytes of the frame done with; a line or an argument begins here
  uint32_t searched_ = 0;         // bytes of the frame already searched for a line end
  uint32_t argument_length_ = 0;  // in kArgument
  uint32_t wanted_ = 0;           // arguments announced
  uint32_t count_ = 0;            // arguments found
  uint32_t capacity_ = kInlineArgs;
  uint32_t frame_size_ = 0;
  size_t missing_ = 0;
  const char* frame_ = nullptr;
  std::string_view error_;
  std::unique_ptr<Inline> inline_;    // made by the first inline command
  std::unique_ptr<Arg[]> heap_args_;  // made by the first request of more than kInlineArgs
  Arg inline_args_[kInlineArgs];
};

}  // namespace ringway::protocol
