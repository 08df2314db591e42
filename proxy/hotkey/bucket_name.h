#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ringway::proxy {

// The names under which copies of hot keys are stored: the key, "\x1fringway:", eight hexadecimal digits for
// the run of the proxy, ":", sixteen for the copy, "\x1f". Pure.
inline constexpr size_t kBucketSuffixBytes = 35;
inline constexpr char kBucketMark = '\x1f';
// Of a command that names such a key.
inline constexpr std::string_view kReservedKey =
    "ERR keys of this form are reserved for the copies of hot keys (docs/hot-keys.md)";

bool HasBucketSuffix(std::string_view name);

// Whether `name` is one of any proxy's buckets. For all other keys one byte decides.
inline bool IsBucketName(std::string_view name) {
  return name.size() >= kBucketSuffixBytes && name.back() == kBucketMark && HasBucketSuffix(name);
}

// The suffix of a copy. `run`: ProxyState::run_id(), of which the first eight digits count.
std::string BucketSuffix(std::string_view run, uint64_t copy);

}  // namespace ringway::proxy
