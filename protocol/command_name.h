// A command's name made ready to be compared: lower case, in three machine words.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace ringway::protocol {

// Limits: names longer than kMaxLength are no names ("count-failure-reports" has 21 letters).
struct FoldedName {
  static constexpr size_t kMaxLength = 24;

  std::array<uint64_t, 3> words = {};
  uint8_t length = 0;
};

// Lowers the letters among eight bytes at once and leaves every other byte as it is. Adding to the
// low seven bits carries into bit 7 exactly for bytes from 'A' on, and for bytes beyond 'Z'; where
// the two differ stands a capital. (Mycroft's method; see "Bit Twiddling Hacks", S. E. Anderson.)
constexpr uint64_t LowerEight(uint64_t word) {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  const uint64_t low_bits = word & (kOnes * 0x7f);
  const uint64_t from_a = low_bits + kOnes * (0x80 - 'A');
  const uint64_t beyond_z = low_bits + kOnes * (0x7f - 'Z');
  const uint64_t capital = (from_a ^ beyond_z) & ~word & (kOnes * 0x80);
  return word | (capital >> 2);
}

namespace internal {

// Up to eight bytes as a little-endian word. Loads of fixed size that overlap are far cheaper than
// a loop over the bytes; the overlapping bytes are equal, so joining them by "or" is harmless.
constexpr uint64_t LoadUpToEight(const char* data, size_t size) {
  if (std::is_constant_evaluated()) {
    uint64_t word = 0;
    for (size_t i = 0; i < size; ++i) word |= uint64_t{static_cast<unsigned char>(data[i])} << (8 * i);
    return word;
  }
  if (size >= 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    return word;
  }
  if (size >= 4) {
    uint32_t head;
    uint32_t tail;
    std::memcpy(&head, data, 4);
    std::memcpy(&tail, data + size - 4, 4);
    return head | uint64_t{tail} << (8 * (size - 4));
  }
  if (size == 0) return 0;
  const auto byte = [&](size_t i) { return uint64_t{static_cast<unsigned char>(data[i])} << (8 * i); };
  return byte(0) | byte(size / 2) | byte(size - 1);
}

}  // namespace internal

// `name` of at most kMaxLength bytes.
constexpr FoldedName FoldName(std::string_view name) {
  FoldedName folded;
  folded.length = static_cast<uint8_t>(name.size());
  folded.words[0] = LowerEight(internal::LoadUpToEight(name.data(), name.size() < 8 ? name.size() : 8));
  for (size_t i = 1; i < 3 && name.size() > 8 * i; ++i) {
    const size_t left = name.size() - 8 * i;
    folded.words[i] = LowerEight(internal::LoadUpToEight(name.data() + 8 * i, left < 8 ? left : 8));
  }
  return folded;
}

constexpr char LowerLetter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// Whether the two texts differ at most in the case of their letters (ASCII, as Redis compares).
constexpr bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (LowerLetter(a[i]) != LowerLetter(b[i])) return false;
  }
  return true;
}

}  // namespace ringway::protocol
