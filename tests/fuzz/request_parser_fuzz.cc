// Client bytes: whatever they are, the parser must not read beyond them, must take the same requests
// however they are split, and must hand on frames that parse as what it said they hold.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/request_parser.h"

namespace {

using ringway::protocol::ParseStatus;
using ringway::protocol::RequestLimits;
using ringway::protocol::RequestParser;
using ringway::protocol::RequestView;

void Require(bool condition) {
  if (!condition) std::abort();
}

// All that was taken from a stream, in a form to compare.
std::string Take(std::string_view stream, size_t first_read, size_t next_read, const RequestLimits& limits) {
  RequestParser parser;
  std::string log;
  size_t begin = 0;
  size_t end = std::min(first_read, stream.size());
  while (true) {
    // Exactly the bytes received, at an address of their own: reading on is seen by the sanitizer.
    const size_t size = end - begin;
    std::unique_ptr<char[]> memory(new char[size]);
    std::memcpy(memory.get(), stream.data() + begin, size);
    const ParseStatus status = parser.Parse({memory.get(), size}, limits);
    if (status == ParseStatus::kError) {
      Require(parser.error().starts_with("ERR Protocol error: "));
      return log.append("error ").append(parser.error());
    }
    if (status == ParseStatus::kNeedMore) {
      Require(parser.missing_bytes() >= 1);
      Require(parser.memory_bytes() <= 4096 + 8 * size);
      if (end == stream.size()) return log.append("rest ").append(std::to_string(size));
      end = std::min(end + next_read, stream.size());
      continue;
    }
    Require(parser.consumed() >= 1 && parser.consumed() <= size);
    const RequestView request = parser.request();
    log.append(std::to_string(request.size())).append(":");
    for (size_t i = 0; i < request.size(); ++i) log.append(request[i]).push_back(',');
    if (request.size() > 0) {
      RequestParser again;
      RequestLimits any;
      Require(again.Parse(request.frame(), any) == ParseStatus::kComplete);
      Require(again.consumed() == request.frame().size() && again.request().size() == request.size());
    }
    begin += parser.consumed();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  RequestLimits limits;
  if (data[0] & 1) limits.unauthenticated = true;
  if (data[0] & 2) limits.max_request_bytes = 64;
  if (data[0] & 4) limits.max_args = 3;
  if (data[0] & 8) limits.max_bulk_bytes = 12;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 3, size - 3);
  const std::string whole = Take(stream, stream.size(), 1, limits);
  Require(Take(stream, data[1], size_t{1} + data[2], limits) == whole);
  if (stream.size() < 512) Require(Take(stream, 0, 1, limits) == whole);
  return 0;
}
