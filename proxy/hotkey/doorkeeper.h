#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ringway::proxy {

// Keeps keys that are seen once from taking a counter from keys that are seen often (the idea: Einziger,
// Friedman, Manes: "TinyLFU", 2017): remembers what has knocked, each in one place, where a later one takes
// over. Thread: one. Owns: what has knocked. Limits: kPlaces.
class Doorkeeper {
 public:
  static constexpr size_t kPlaces = 4096;

  // Whether one with this hash has knocked before, and no other at its place since.
  bool Knock(uint64_t hash) {
    uint16_t& mark = marks_[hash % kPlaces];
    // Never 0, which is nobody's.
    const auto own = static_cast<uint16_t>(hash >> 48 | 1);
    if (mark == own) return true;
    mark = own;
    return false;
  }

 private:
  std::array<uint16_t, kPlaces> marks_{};
};

}  // namespace ringway::proxy
