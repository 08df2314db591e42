// Shard bytes: whatever they are, the scanner must not read beyond them, must find the same replies
// however they are split, and looking into a reply it found must be safe.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/reply_cursor.h"
#include "protocol/reply_scanner.h"

namespace {

using ringway::protocol::ParseStatus;
using ringway::protocol::ReplyCursor;
using ringway::protocol::ReplyScanner;

void Require(bool condition) {
  if (!condition) std::abort();
}

// Where the replies of a stream end, their types, and what stood behind them.
std::string Take(std::string_view stream, size_t piece) {
  ReplyScanner scanner;
  std::string log;
  size_t begin = 0;
  while (begin < stream.size()) {
    const size_t size = std::min(piece, stream.size() - begin);
    std::unique_ptr<char[]> memory(new char[size]);
    std::memcpy(memory.get(), stream.data() + begin, size);
    const ReplyScanner::Result result = scanner.Scan({memory.get(), size});
    Require(result.consumed <= size);
    begin += result.consumed;
    if (result.status == ParseStatus::kError) return log.append("error");
    if (result.status == ParseStatus::kNeedMore) {
      Require(result.consumed == size && scanner.missing_bytes() >= 1);
      continue;
    }
    Require(result.consumed >= 1 && !scanner.in_progress());
    log.append(std::to_string(begin)).push_back(scanner.type());
  }
  return log.append(scanner.in_progress() ? "more" : "end");
}

// Walks a whole reply down to its leaves.
void Walk(std::string_view reply, int depth) {
  (void)ringway::protocol::IntegerOf(reply);
  (void)ringway::protocol::BulkOf(reply);
  (void)ringway::protocol::ErrorCode(reply);
  ReplyCursor cursor(reply);
  int64_t elements = 0;
  for (std::string_view element; cursor.Next(&element); ++elements) {
    if (depth < 20) Walk(element, depth + 1);
  }
  if (cursor.length() > 0) Require(elements == cursor.length());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = Take(stream, stream.size());
  Require(Take(stream, 1) == whole);
  Require(Take(stream, size_t{2} + data[0] % 32) == whole);

  ReplyScanner scanner;
  for (std::string_view rest = stream; !rest.empty();) {
    const ReplyScanner::Result result = scanner.Scan(rest);
    if (result.status != ParseStatus::kComplete) break;
    Walk(rest.substr(0, result.consumed), 0);
    rest.remove_prefix(result.consumed);
  }
  ReplyCursor cursor(stream);
  for (std::string_view element; cursor.Next(&element);) continue;
  return 0;
}
