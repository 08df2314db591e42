#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ringway::proxy {

// SCAN's cursor over many shards, in the one decimal u64 that every client library passes back: the shard's
// id in the low 14 bits, the shard's own cursor above them. A Redis cursor stays below the size of its hash
// table, so 50 bits hold it for up to 10^15 keys. 0 begins and 0 ends.
struct ScanCursor {
  static constexpr int kShardBits = 14;
  static constexpr uint64_t kMaxInner = (uint64_t{1} << (64 - kShardBits)) - 1;

  uint32_t shard_id = 0;
  uint64_t inner = 0;

  uint64_t Encode() const { return inner << kShardBits | shard_id; }
  static ScanCursor Decode(uint64_t cursor) {
    return {static_cast<uint32_t>(cursor & ((1u << kShardBits) - 1)), cursor >> kShardBits};
  }
};

// A decimal u64 and nothing else.
inline std::optional<uint64_t> ParseCursor(std::string_view text) {
  uint64_t value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace ringway::proxy
