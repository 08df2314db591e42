#include "ring/circle.h"

#include <algorithm>
#include <bit>

#include "ring/check.h"

namespace ringway::ring {

Circle::Circle(const std::vector<Point>& points, int width_bits) {
  RINGWAY_RING_CHECK(!points.empty(), "a circle without points has no owners");
  RINGWAY_RING_CHECK(points.size() < UINT32_MAX, "too many points");
  // As many index entries as points, or twice as many: then one comparison decides most look-ups.
  const int index_bits = std::min(static_cast<int>(std::bit_width(points.size())), width_bits);
  shift_ = width_bits - index_bits;

  positions_.reserve(points.size() + 1);
  owners_.reserve(points.size() + 1);
  for (const Point& point : points) {
    positions_.push_back(point.position);
    owners_.push_back(static_cast<uint16_t>(point.owner));
  }
  positions_.push_back(UINT64_MAX);
  owners_.push_back(owners_.front());

  first_.resize(size_t{1} << index_bits);
  uint32_t i = 0;
  for (size_t bucket = 0; bucket < first_.size(); ++bucket) {
    while (i < points.size() && (positions_[i] >> shift_) < bucket) ++i;
    first_[bucket] = i;
  }
}

}  // namespace ringway::ring
