#ifndef RINGWAY_TESTS_UNIT_RING_GOLDEN_FILE_H_
#define RINGWAY_TESTS_UNIT_RING_GOLDEN_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

// tests/data/twemproxy-golden.txt, values printed by twemproxy's own code.
namespace ringway::ring {

struct GoldenKetama {
  uint64_t points = 0;
  // Position and owner (twemproxy's index) of the first points on the circle.
  std::vector<std::pair<uint64_t, uint32_t>> first_points;
  // Points of the first servers.
  std::vector<uint32_t> points_per_server;
  // Where the key user:1000 goes with fnv1a_64.
  uint32_t owner_of_user_1000 = 0;
};

struct GoldenRange {
  double ketama_max = 0;
  double ketama_min = 0;
  int ketama_servers_used = 0;
  double modula_max = 0;
  double modula_min = 0;
};

struct GoldenFile {
  // key -> name of the hash -> value
  std::map<std::string, std::map<std::string, uint32_t>> hashes;
  // title of the case -> its figures
  std::map<std::string, GoldenKetama> ketama;
  // name of the hash -> load of ten servers under 100,000 keys
  std::map<std::string, GoldenRange> ranges;
  // Numbers of equal servers that get fewer than 160 points each: count -> points (the first few).
  std::map<uint32_t, uint32_t> short_counts;
  uint32_t short_counts_total = 0;
};

// Fails the running test when the file cannot be read.
GoldenFile ReadGoldenFile();

}  // namespace ringway::ring

#endif  // RINGWAY_TESTS_UNIT_RING_GOLDEN_FILE_H_
