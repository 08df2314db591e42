#include "ring/capped_table.h"

#include <cmath>

#include "ring/check.h"

namespace ringway::ring {
namespace {

// A one-to-one scrambling of the numbers below 2^bits: each step can be undone, so no slot comes twice.
uint32_t ScrambledSlot(uint32_t i, int bits) {
  const uint32_t mask = (uint32_t{1} << bits) - 1;
  const int half = (bits + 1) / 2;
  uint32_t x = (i + 0x2545f491u) & mask;
  for (uint32_t odd : {0x9e3779b1u, 0x85ebca6bu, 0xc2b2ae35u}) {
    x ^= x >> half;
    x = (x * odd) & mask;
  }
  return x ^ (x >> half);
}

// How many more slots each member may take.
std::vector<uint32_t> SlotsAllowed(std::span<const double> weights, double balance_cap, uint32_t slots) {
  double total = 0;
  for (double weight : weights) total += weight;
  std::vector<uint32_t> allowed;
  allowed.reserve(weights.size());
  uint64_t sum = 0;
  for (double weight : weights) {
    const double share = weight / total;
    allowed.push_back(static_cast<uint32_t>(std::ceil((1 + balance_cap) * slots * share)));
    sum += allowed.back();
  }
  RINGWAY_RING_CHECK(sum >= slots, "the caps must leave room for every slot");
  return allowed;
}

// For each slot the index of the first point at or after its start; the first point when there is none.
std::vector<uint32_t> FirstPoints(std::span<const Point> points, int slot_bits) {
  std::vector<uint32_t> first(size_t{1} << slot_bits);
  size_t point = 0;
  for (uint64_t slot = 0; slot < first.size(); ++slot) {
    const uint64_t start = slot << (64 - slot_bits);
    while (point < points.size() && points[point].position < start) ++point;
    first[slot] = point == points.size() ? 0 : static_cast<uint32_t>(point);
  }
  return first;
}

}  // namespace

std::vector<uint16_t> ResolveCapped(std::span<const Point> points, std::span<const double> weights,
                                    double balance_cap, int slot_bits) {
  const uint32_t slots = uint32_t{1} << slot_bits;
  std::vector<uint32_t> allowed = SlotsAllowed(weights, balance_cap, slots);
  const std::vector<uint32_t> first = FirstPoints(points, slot_bits);

  // Where to look on from a point whose member is full. Members never become less full, so a jump stays
  // valid.
  std::vector<uint32_t> jump(points.size());
  for (size_t i = 0; i < jump.size(); ++i) jump[i] = i + 1 == jump.size() ? 0 : static_cast<uint32_t>(i + 1);

  std::vector<uint16_t> owners(slots);
  for (uint32_t i = 0; i < slots; ++i) {
    const uint32_t slot = ScrambledSlot(i, slot_bits);
    uint32_t point = first[slot];
    size_t steps = 0;
    while (allowed[points[point].owner] == 0) {
      point = jump[point];
      RINGWAY_RING_CHECK(++steps <= points.size(), "went round the circle without finding room");
    }
    // Let every point passed lead straight here, for the next slot that comes this way.
    for (uint32_t passed = first[slot]; passed != point;) {
      const uint32_t next = jump[passed];
      jump[passed] = point;
      passed = next;
    }
    const uint32_t owner = points[point].owner;
    --allowed[owner];
    owners[slot] = static_cast<uint16_t>(owner);
  }
  return owners;
}

}  // namespace ringway::ring
