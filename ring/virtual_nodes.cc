#include "ring/virtual_nodes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <tuple>

#include "ring/key_hash.h"

namespace ringway::ring {
namespace {

void StoreLittleEndian(uint64_t value, char* out) {
  for (int i = 0; i < 8; ++i) out[i] = static_cast<char>(value >> (8 * i));
}

// Calls visit(position, member) for every virtual node.
template <typename Visit>
void ForEachNode(std::span<const Member> members, uint32_t per_unit, Visit visit) {
  for (uint32_t m = 0; m < members.size(); ++m) {
    char seed[16];
    StoreLittleEndian(Xxh3(members[m].name), seed);
    const uint32_t count = VirtualNodeCount(members[m].weight, per_unit);
    for (uint32_t i = 0; i < count; ++i) {
      StoreLittleEndian(i, seed + 8);
      visit(Xxh3(std::string_view(seed, sizeof seed)), m);
    }
  }
}

}  // namespace

uint32_t VirtualNodeCount(double weight, uint32_t per_unit) {
  if (weight <= 0) return 0;
  return static_cast<uint32_t>(std::max(1LL, std::llround(weight * per_unit)));
}

std::vector<Point> PlaceVirtualNodes(std::span<const Member> members, uint32_t per_unit) {
  uint64_t total = 0;
  for (const Member& member : members) total += VirtualNodeCount(member.weight, per_unit);

  // Positions are evenly spread, so dealing them into about as many buckets as there are nodes leaves next to
  // nothing to sort: linear, where sorting 4 million nodes takes a good half second.
  const int shift = 64 - std::max(1, static_cast<int>(std::bit_width(total)) - 2);
  std::vector<uint32_t> end((size_t{1} << (64 - shift)) + 1, 0);
  ForEachNode(members, per_unit, [&](uint64_t position, uint32_t) { ++end[(position >> shift) + 1]; });
  std::partial_sum(end.begin(), end.end(), end.begin());

  std::vector<Point> points(total);
  ForEachNode(members, per_unit, [&](uint64_t position, uint32_t m) {
    points[end[position >> shift]++] = Point{position, m};
  });
  // Filling a bucket has moved its entry to its end, which is where the next one began.
  size_t begin = 0;
  for (size_t bucket = 0; bucket + 1 < end.size(); ++bucket) {
    std::sort(points.begin() + begin, points.begin() + end[bucket], [](const Point& a, const Point& b) {
      return std::tie(a.position, a.owner) < std::tie(b.position, b.owner);
    });
    begin = end[bucket];
  }
  return points;
}

std::vector<uint32_t> CanonicalOrder(std::span<const Member> members) {
  std::vector<uint64_t> hashes;
  hashes.reserve(members.size());
  for (const Member& member : members) hashes.push_back(Xxh3(member.name));
  std::vector<uint32_t> order(members.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::tie(hashes[a], members[a].name) < std::tie(hashes[b], members[b].name);
  });
  return order;
}

}  // namespace ringway::ring
