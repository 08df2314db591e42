#include "ring/distribution.h"

#include <array>

namespace ringway::ring {
namespace {

constexpr std::array kDistributions = {Distribution::kRing, Distribution::kKetama, Distribution::kModula};
constexpr std::array<std::string_view, kDistributions.size()> kDistributionNames = {"ring", "ketama",
                                                                                    "modula"};

constexpr std::array kHashFunctions = {
    HashFunction::kXxh3,    HashFunction::kOneAtATime, HashFunction::kMd5,     HashFunction::kCrc16,
    HashFunction::kCrc32,   HashFunction::kCrc32a,     HashFunction::kFnv1_64, HashFunction::kFnv1a_64,
    HashFunction::kFnv1_32, HashFunction::kFnv1a_32,   HashFunction::kHsieh,   HashFunction::kMurmur,
    HashFunction::kJenkins,
};
constexpr std::array<std::string_view, kHashFunctions.size()> kHashNames = {
    "xxh3",     "one_at_a_time", "md5",      "crc16", "crc32",  "crc32a",  "fnv1_64",
    "fnv1a_64", "fnv1_32",       "fnv1a_32", "hsieh", "murmur", "jenkins",
};

// The values are listed in the order of their enumerators, so an enumerator is the index of its name.
template <typename Enum, size_t kCount>
std::optional<Enum> Find(const std::array<std::string_view, kCount>& names, std::string_view name) {
  for (size_t i = 0; i < kCount; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Distribution> ParseDistribution(std::string_view name) {
  return Find<Distribution>(kDistributionNames, name);
}

std::optional<HashFunction> ParseHashFunction(std::string_view name) {
  return Find<HashFunction>(kHashNames, name);
}

std::string_view Name(Distribution distribution) {
  return kDistributionNames[static_cast<size_t>(distribution)];
}

std::string_view Name(HashFunction hash) { return kHashNames[static_cast<size_t>(hash)]; }

std::span<const Distribution> AllDistributions() { return kDistributions; }

std::span<const HashFunction> AllHashFunctions() { return kHashFunctions; }

}  // namespace ringway::ring
