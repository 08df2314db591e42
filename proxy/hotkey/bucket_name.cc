#include "proxy/hotkey/bucket_name.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace ringway::proxy {
namespace {

constexpr std::string_view kWord = "ringway:";
constexpr size_t kRunDigits = 8;
constexpr size_t kCopyDigits = 16;
static_assert(kBucketSuffixBytes == 1 + kWord.size() + kRunDigits + 1 + kCopyDigits + 1);

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

bool HasBucketSuffix(std::string_view name) {
  const std::string_view suffix = name.substr(name.size() - kBucketSuffixBytes);
  const std::string_view run = suffix.substr(1 + kWord.size(), kRunDigits);
  const std::string_view copy = suffix.substr(1 + kWord.size() + kRunDigits + 1, kCopyDigits);
  return suffix.front() == kBucketMark && suffix.substr(1, kWord.size()) == kWord && IsHex(run) &&
         suffix[1 + kWord.size() + kRunDigits] == ':' && IsHex(copy);
}

std::string BucketSuffix(std::string_view run, uint64_t copy) {
  char digits[kCopyDigits + 1];
  std::snprintf(digits, sizeof digits, "%016" PRIx64, copy);
  std::string suffix(1, kBucketMark);
  suffix.append(kWord).append(run.substr(0, kRunDigits)).append(":").append(digits).append(1, kBucketMark);
  return suffix;
}

}  // namespace ringway::proxy
