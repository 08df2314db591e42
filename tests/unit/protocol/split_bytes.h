// Feeds bytes to a parser or a scanner in pieces, as a network may.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/reply_scanner.h"
#include "protocol/request_parser.h"

namespace ringway::protocol::testing {

// What a request came to, copied so that it outlives the parser.
struct ParsedRequest {
  ParseStatus status = ParseStatus::kNeedMore;
  size_t consumed = 0;
  std::vector<std::string> args;
  std::string frame;
  std::string error;

  bool operator==(const ParsedRequest&) const = default;
};

inline ParsedRequest Result(const RequestParser& parser, ParseStatus status) {
  ParsedRequest parsed;
  parsed.status = status;
  if (status == ParseStatus::kError) parsed.error = parser.error();
  if (status != ParseStatus::kComplete) return parsed;
  parsed.consumed = parser.consumed();
  const RequestView request = parser.request();
  for (size_t i = 0; i < request.size(); ++i) parsed.args.emplace_back(request[i]);
  parsed.frame = request.frame();
  return parsed;
}

inline ParsedRequest ParseWhole(std::string_view bytes, const RequestLimits& limits = {}) {
  RequestParser parser;
  return Result(parser, parser.Parse(bytes, limits));
}

// Shows the parser ever longer beginnings of `bytes`, ending at each of `ends` in turn. Every beginning
// lies in memory of its own of exactly its size, so that a sanitizer sees any look beyond it.
inline ParsedRequest ParseSplit(std::string_view bytes, const std::vector<size_t>& ends,
                                const RequestLimits& limits = {}) {
  RequestParser parser;
  std::unique_ptr<char[]> memory;
  for (size_t end : ends) {
    auto moved = std::make_unique<char[]>(end);
    std::memcpy(moved.get(), bytes.data(), end);
    memory = std::move(moved);
    const ParseStatus status = parser.Parse({memory.get(), end}, limits);
    if (status != ParseStatus::kNeedMore) return Result(parser, status);
  }
  return {};
}

inline std::vector<size_t> EveryByte(size_t size) {
  std::vector<size_t> ends;
  for (size_t i = 0; i <= size; ++i) ends.push_back(i);
  return ends;
}

// What scanning for one reply came to.
struct Scanned {
  ParseStatus status = ParseStatus::kNeedMore;
  size_t consumed = 0;  // over all pieces
  char type = 0;

  bool operator==(const Scanned&) const = default;
};

// Scans pieces of `bytes` that end at each of `ends` in turn, each in memory of its own.
inline Scanned ScanSplit(std::string_view bytes, const std::vector<size_t>& ends) {
  ReplyScanner scanner;
  size_t begin = 0;
  for (size_t end : ends) {
    auto piece = std::make_unique<char[]>(end - begin);
    std::memcpy(piece.get(), bytes.data() + begin, end - begin);
    const ReplyScanner::Result result = scanner.Scan({piece.get(), end - begin});
    if (result.status != ParseStatus::kNeedMore) {
      return {result.status, begin + result.consumed, scanner.type()};
    }
    if (result.consumed != end - begin) return {ParseStatus::kError, begin + result.consumed, '!'};
    begin = end;
  }
  return {ParseStatus::kNeedMore, begin, scanner.type()};
}

inline Scanned ScanWhole(std::string_view bytes) { return ScanSplit(bytes, {bytes.size()}); }

}  // namespace ringway::protocol::testing
