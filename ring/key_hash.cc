#include "ring/key_hash.h"

// Compiled into this file: a call into the shared library costs as much again as hashing a short key.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ringway::ring {

uint64_t Xxh3(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string_view HashTag::Extract(std::string_view key) const {
  const size_t open = key.find(open_);
  if (open == std::string_view::npos) return key;
  const size_t close = key.find(close_, open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

}  // namespace ringway::ring
