// The data path must not allocate for ordinary traffic: operator new is counted here.
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "protocol/command_writer.h"
#include "protocol/reply_scanner.h"
#include "protocol/reply_writer.h"
#include "protocol/request_parser.h"

namespace {
std::atomic<size_t> allocations{0};
}  // namespace

void* operator new(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  std::abort();
}
void* operator new[](size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace ringway::protocol {
namespace {

// Parses all of `bytes` in reads of `piece` bytes; the number of requests found.
size_t ParseInPieces(RequestParser& parser, std::string_view bytes, size_t piece) {
  const RequestLimits limits;
  size_t requests = 0;
  size_t begin = 0;
  for (size_t end = piece; begin < bytes.size(); end += piece) {
    std::string_view data = bytes.substr(begin, std::min(end, bytes.size()) - begin);
    while (!data.empty() && parser.Parse(data, limits) == ParseStatus::kComplete) {
      ++requests;
      begin += parser.consumed();
      data.remove_prefix(parser.consumed());
    }
  }
  return requests;
}

TEST(ProtocolAllocation, CountingSeesAllocations) {
  const size_t before = allocations;
  const std::string long_text(1000, 'x');
  EXPECT_EQ(allocations, before + 1);
}

TEST(ProtocolAllocation, SmallRequestsAllocateNothingEver) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) {
    AppendCommand(bytes, {"GET", "key"});
    AppendCommand(bytes, {"SET", "key", std::string(5000, 'v'), "EX", "60", "NX"});
    bytes += "*0\r\n";
  }
  for (size_t piece : {size_t{1}, size_t{7}, size_t{4096}, bytes.size()}) {
    RequestParser parser;
    const size_t before = allocations;
    const size_t requests = ParseInPieces(parser, bytes, piece);
    const size_t after = allocations;
    EXPECT_EQ(requests, 300u);
    EXPECT_EQ(after, before) << "in pieces of " << piece;
  }
}

TEST(ProtocolAllocation, LargerAndInlineRequestsAllocateOnlyTheFirstTime) {
  std::string bytes;
  for (int i = 0; i < 50; ++i) {
    AppendHeader(bytes, 101);
    for (int j = 0; j < 101; ++j) AppendArg(bytes, j);
    bytes += "SET key \"a value\"\r\n";
  }
  RequestParser parser;
  ParseInPieces(parser, bytes, 4096);
  const size_t before = allocations;
  const size_t requests = ParseInPieces(parser, bytes, 4096);
  const size_t after = allocations;
  EXPECT_EQ(requests, 100u);
  EXPECT_EQ(after, before);
}

TEST(ProtocolAllocation, ScanningRepliesAllocatesOnlyForNewDepth) {
  std::string flat;
  ReplyWriter writer(flat, 3);
  writer.Bulk("value");
  writer.Ok();
  writer.Integer(5);
  writer.Null();
  writer.Error("ERR x");
  std::string nested = flat + "*2\r\n*1\r\n:1\r\n%1\r\n+a\r\n$3\r\nabc\r\n";
  for (size_t piece : {size_t{1}, size_t{5}, nested.size()}) {
    ReplyScanner scanner;
    const auto scan = [&](std::string_view stream) {
      for (size_t begin = 0; begin < stream.size();) {
        const ReplyScanner::Result result = scanner.Scan(stream.substr(begin, piece));
        ASSERT_NE(result.status, ParseStatus::kError);
        begin += result.consumed;
      }
    };
    size_t before = allocations;
    scan(flat);
    EXPECT_EQ(allocations, before) << "in pieces of " << piece;
    scan(nested);
    before = allocations;
    scan(nested);
    EXPECT_EQ(allocations, before) << "in pieces of " << piece;
  }
}

}  // namespace
}  // namespace ringway::protocol
