#ifndef RINGWAY_RING_DISTRIBUTION_H_
#define RINGWAY_RING_DISTRIBUTION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ringway::ring {

// How a hash becomes a shard. kKetama and kModula place keys exactly where twemproxy does.
enum class Distribution : uint8_t { kRing, kKetama, kModula };

// How a key becomes a hash. kXxh3 (64 bits) belongs to kRing; the others (32 bits) are twemproxy's and belong
// to kKetama and kModula.
enum class HashFunction : uint8_t {
  kXxh3,
  kOneAtATime,
  kMd5,
  kCrc16,
  kCrc32,
  kCrc32a,
  kFnv1_64,
  kFnv1a_64,
  kFnv1_32,
  kFnv1a_32,
  kHsieh,
  kMurmur,
  kJenkins,
};

// The names used in configuration files: ring, ketama, modula; xxh3, fnv1a_64, ... (twemproxy's spelling).
// Case matters. nullopt for any other text.
std::optional<Distribution> ParseDistribution(std::string_view name);
std::optional<HashFunction> ParseHashFunction(std::string_view name);
std::string_view Name(Distribution distribution);
std::string_view Name(HashFunction hash);

// Every value, for help texts and for tests that must not forget one.
std::span<const Distribution> AllDistributions();
std::span<const HashFunction> AllHashFunctions();

}  // namespace ringway::ring

#endif  // RINGWAY_RING_DISTRIBUTION_H_
