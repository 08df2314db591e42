#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "ring/key_hash.h"

namespace ringway::proxy {

// The keys that a worker knows to have left their source, so that only their first command costs a call
// there. Exact: a key that is merely likely to have been pulled could be missed. The longest unused leave
// first, in halves. Thread: one worker. Owns: copies of the keys. Limits: kMaxBytes.
class PulledKeys {
 public:
  // Some 300,000 keys of a usual length.
  static constexpr size_t kMaxBytes = 32 * 1024 * 1024;

  void Add(uint32_t db, std::string_view key);
  bool Has(uint32_t db, std::string_view key);
  void Clear();
  size_t size() const { return young_.size() + old_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return ring::Xxh3(text); }
  };
  using Set = std::unordered_set<std::string, Hash, std::equal_to<>>;

  std::string_view NameOf(uint32_t db, std::string_view key);
  void AddName(std::string_view name);

  // What has been asked for since the last change of generations, and what had been before.
  Set young_;
  Set old_;
  size_t young_bytes_ = 0;
  std::string scratch_;
};

}  // namespace ringway::proxy
