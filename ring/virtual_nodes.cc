#include "ring/virtual_nodes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <tuple>

#include "ring/key_hash.h"

namespace ringway::ring {
namespace {

constexpr int kNodesPerBucketBits = 12;  // 4,096 nodes are 64 KB
constexpr int kMaxBucketBits = 10;

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

bool Before(const Point& a, const Point& b) {
  return std::tie(a.position, a.owner) < std::tie(b.position, b.owner);
}

// Sorts nodes whose positions are evenly spread from `start` on, over 2^span_bits positions, in linear time:
// about one node falls into each of many small buckets, and then only close neighbours are out of order.
// `scratch` and `ends` are working space, kept by the caller to be reused.
void SortSpread(std::span<Point> nodes, int span_bits, std::vector<Point>& scratch,
                std::vector<uint32_t>& ends) {
  const int bits = std::min(static_cast<int>(std::bit_width(nodes.size())), span_bits);
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  const auto bucket = [&](const Point& node) { return (node.position >> (span_bits - bits)) & mask; };
  ends.assign(mask + 2, 0);
  for (const Point& node : nodes) ++ends[bucket(node) + 1];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  scratch.resize(nodes.size());
  for (const Point& node : nodes) scratch[ends[bucket(node)]++] = node;
  // Insertion, which is quick where nothing is far from its place.
  for (size_t i = 0; i < nodes.size(); ++i) {
    size_t place = i;
    for (; place > 0 && Before(scratch[i], nodes[place - 1]); --place) nodes[place] = nodes[place - 1];
    nodes[place] = scratch[i];
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

  // Dealt into coarse buckets, each of which is then sorted within the processor's cache. More buckets at
  // once would cost a cache miss for each node.
  const int bucket_bits =
      std::clamp(static_cast<int>(std::bit_width(total)) - kNodesPerBucketBits, 1, kMaxBucketBits);
  const int shift = 64 - bucket_bits;
  std::vector<uint32_t> ends((size_t{1} << bucket_bits) + 1, 0);
  ForEachNode(members, per_unit, [&](uint64_t position, uint32_t) { ++ends[(position >> shift) + 1]; });
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  const std::vector<uint32_t> begins = ends;

  std::vector<Point> nodes(total);
  ForEachNode(members, per_unit, [&](uint64_t position, uint32_t m) {
    nodes[ends[position >> shift]++] = Point{position, m};
  });
  std::vector<Point> scratch;
  std::vector<uint32_t> scratch_ends;
  for (size_t bucket = 0; bucket + 1 < ends.size(); ++bucket) {
    const std::span<Point> content(nodes.begin() + begins[bucket], nodes.begin() + begins[bucket + 1]);
    SortSpread(content, shift, scratch, scratch_ends);
  }
  return nodes;
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
