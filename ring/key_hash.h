#ifndef RINGWAY_RING_KEY_HASH_H_
#define RINGWAY_RING_KEY_HASH_H_

#include <cstdint>
#include <cstring>
#include <string_view>

#include "ring/distribution.h"

namespace ringway::ring {

// XXH3, 64 bits, seed 0. The position of a key on the ring.
uint64_t Xxh3(std::string_view bytes);

// One of twemproxy's 32-bit hashes.
using Hash32 = uint32_t (*)(std::string_view key);

// The function behind a name; nullptr for kXxh3, which has 64 bits.
Hash32 Hash32Of(HashFunction hash);

// The part of a key that decides its shard, so that keys can be kept together: what stands between the first
// opening character and the next closing one, when that is not empty; else the whole key. Redis Cluster and
// twemproxy have the same rule.
//
// Thread: any; immutable.
// Owns: nothing; results point into the key.
// Limits: none; cost grows with the key's length (about 1 ns for 20 bytes without a tag).
class HashTag {
 public:
  // Two characters, or empty for "no tags". Any other length also means no tags; CheckRing refuses it.
  explicit HashTag(std::string_view characters) {
    if (characters.size() != 2) return;
    enabled_ = true;
    open_ = characters[0];
    close_ = characters[1];
  }

  std::string_view Of(std::string_view key) const {
    if (!enabled_ || !HasOpen(key)) return key;
    return Extract(key);
  }

 private:
  // Beyond this length the C library's memchr beats the loop below.
  static constexpr size_t kLongKey = 48;

  // Whether any of the eight bytes equals the opening character: the well-known "has a zero byte" test.
  bool WordHasOpen(const char* bytes) const {
    constexpr uint64_t kOnes = 0x0101010101010101;
    uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    word ^= kOnes * static_cast<unsigned char>(open_);
    return ((word - kOnes) & ~word & (kOnes << 7)) != 0;
  }

  bool HasOpen(std::string_view key) const {
    const char* data = key.data();
    const size_t size = key.size();
    if (size < sizeof(uint64_t)) {
      for (char c : key) {
        if (c == open_) return true;
      }
      return false;
    }
    if (size > kLongKey) return std::memchr(data, open_, size) != nullptr;
    // The last word overlaps the one before it, which saves a loop over the tail.
    for (size_t i = 0; i + sizeof(uint64_t) < size; i += sizeof(uint64_t)) {
      if (WordHasOpen(data + i)) return true;
    }
    return WordHasOpen(data + size - sizeof(uint64_t));
  }

  std::string_view Extract(std::string_view key) const;

  bool enabled_ = false;
  char open_ = 0;
  char close_ = 0;
};

}  // namespace ringway::ring

#endif  // RINGWAY_RING_KEY_HASH_H_
