#include "ring/ketama_ring.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string_view>

#include "ring/md5.h"

namespace ringway::ring {
namespace {

constexpr int kPointsPerServer = 160;
constexpr uint32_t kPointsPerHash = 4;  // an MD5 has four words
constexpr int kMemcachedPort = 11211;

}  // namespace

std::string TwemproxyIdentifier(const Member& member) {
  if (!member.name.empty()) return member.name;
  const std::string_view address = member.address;
  if (address.starts_with('/')) return member.address + ":";
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return member.address;
  int port = 0;
  std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
  return std::string(port == kMemcachedPort ? address.substr(0, colon) : address);
}

std::vector<uint32_t> TwemproxyOrder(std::span<const Member> members) {
  std::vector<std::string> identifiers;
  identifiers.reserve(members.size());
  for (const Member& member : members) identifiers.push_back(TwemproxyIdentifier(member));
  std::vector<uint32_t> order(members.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const std::string& left = identifiers[a];
    const std::string& right = identifiers[b];
    return left.size() != right.size() ? left.size() < right.size() : left < right;
  });
  return order;
}

uint32_t KetamaPointCount(uint32_t weight, uint32_t total_weight, uint32_t live_servers) {
  // The types decide the result: single precision throughout, one addition in double, back to single.
  const float share = static_cast<float>(weight) / static_cast<float>(total_weight);
  const float hashes = static_cast<float>(
      static_cast<double>(share * kPointsPerServer / kPointsPerHash * static_cast<float>(live_servers)) +
      1e-10);
  return static_cast<uint32_t>(std::floor(hashes)) * kPointsPerHash;
}

std::vector<Point> PlaceKetamaPoints(std::span<const Member> members) {
  uint32_t total_weight = 0;
  uint32_t live = 0;
  for (const Member& member : members) {
    total_weight += static_cast<uint32_t>(member.weight);
    if (member.weight > 0) ++live;
  }
  std::vector<Point> points;
  for (uint32_t m : TwemproxyOrder(members)) {
    const uint32_t count = KetamaPointCount(static_cast<uint32_t>(members[m].weight), total_weight, live);
    const std::string prefix = TwemproxyIdentifier(members[m]) + "-";
    for (uint32_t i = 0; i < count / kPointsPerHash; ++i) {
      for (uint32_t position : Md5Words(prefix + std::to_string(i))) points.push_back(Point{position, m});
    }
  }
  // Stable: of two points on one position twemproxy's qsort keeps the server first that was placed first.
  std::stable_sort(points.begin(), points.end(),
                   [](const Point& a, const Point& b) { return a.position < b.position; });
  return points;
}

std::vector<uint16_t> ModulaSlots(std::span<const Member> members) {
  std::vector<uint16_t> slots;
  for (uint32_t m : TwemproxyOrder(members)) {
    slots.insert(slots.end(), static_cast<size_t>(members[m].weight), static_cast<uint16_t>(m));
  }
  return slots;
}

}  // namespace ringway::ring
