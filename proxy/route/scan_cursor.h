#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ringway::proxy {

// SCAN's cursor over many shards, in the one decimal u64 that every client library passes back. From the low
// bits up:
//   14  the shard's id
//    2  the walk's part
//    7  a mark of the generation of the topology under which the walk began, 1 to 127
//   40  the shard's own cursor, which in Redis stays below the size of the hash table: 10^12 keys a shard
// No bit beyond: it fits where numbers have a sign; and it stays below 2^53, which is what a double keeps,
// while a shard has fewer than 10^9 keys. 0 begins and 0 ends; no cursor on the way is 0, since no mark is.
struct ScanCursor {
  static constexpr int kShardBits = 14;
  static constexpr int kPartBits = 2;
  static constexpr int kMarkBits = 7;
  static constexpr int kInnerBits = 40;
  static constexpr uint64_t kMaxInner = (uint64_t{1} << kInnerBits) - 1;
  // Stands behind all shards.
  static constexpr uint32_t kBehindLast = (1u << kShardBits) - 1;

  enum class Part : uint8_t {
    kFirst,        // the walk began while no keys moved
    kFirstMoving,  // it began while keys moved
    kSecond,       // what moves, on the servers that it moves to, under the move's own generation
    kUnknown,      // nobody makes it
  };

  uint32_t shard_id = 0;
  Part part = Part::kFirst;
  uint8_t mark = 0;
  uint64_t inner = 0;

  // 127 changes later a generation has the same mark; no walk lasts as long as that.
  static uint8_t MarkOf(uint64_t generation) { return static_cast<uint8_t>(1 + generation % 127); }
  // The mark of the generation before the one with this mark.
  static uint8_t Before(uint8_t mark) { return mark == 1 ? 127 : static_cast<uint8_t>(mark - 1); }

  uint64_t Encode() const {
    return ((inner << kMarkBits | mark) << kPartBits | static_cast<uint64_t>(part)) << kShardBits | shard_id;
  }
  static ScanCursor Decode(uint64_t cursor) {
    const auto take = [&cursor](int bits) {
      const uint64_t value = cursor & ((uint64_t{1} << bits) - 1);
      cursor >>= bits;
      return value;
    };
    ScanCursor decoded;
    decoded.shard_id = static_cast<uint32_t>(take(kShardBits));
    decoded.part = static_cast<Part>(take(kPartBits));
    decoded.mark = static_cast<uint8_t>(take(kMarkBits));
    decoded.inner = take(kInnerBits);
    return decoded;
  }
  bool operator==(const ScanCursor&) const = default;
};

// A decimal u64 and nothing else.
inline std::optional<uint64_t> ParseCursor(std::string_view text) {
  uint64_t value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace ringway::proxy
