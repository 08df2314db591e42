#include "config/values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <span>

namespace ringway::config {

namespace {

struct UnitName {
  std::string_view name;
  int64_t size;
};

constexpr std::array<UnitName, 6> kDurationUnits = {{{"d", int64_t{86400} * 1000000},
                                                     {"h", int64_t{3600} * 1000000},
                                                     {"m", int64_t{60} * 1000000},
                                                     {"s", 1000000},
                                                     {"ms", 1000},
                                                     {"us", 1}}};
constexpr int64_t kMaxDurationUsec = int64_t{36525} * 86400 * 1000000;

constexpr std::array<UnitName, 8> kByteUnits = {{{"gb", int64_t{1} << 30},
                                                 {"mb", int64_t{1} << 20},
                                                 {"kb", int64_t{1} << 10},
                                                 {"g", 1000000000},
                                                 {"m", 1000000},
                                                 {"k", 1000},
                                                 {"b", 1},
                                                 {"", 1}}};
constexpr int64_t kMaxBytes = int64_t{1} << 62;

std::optional<int64_t> ParseWithUnit(std::string_view text, std::span<const UnitName> units, int64_t max) {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = ParseInteger(text.substr(0, digits));
  if (!number) return std::nullopt;
  const std::string unit = Lower(text.substr(digits));
  for (const UnitName& candidate : units) {
    if (unit != candidate.name) continue;
    if (*number > max / candidate.size) return std::nullopt;
    return *number * candidate.size;
  }
  return std::nullopt;
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> ParseDecimal(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<int64_t> ParseDurationUsec(std::string_view text) {
  if (text == "0") return 0;
  return ParseWithUnit(text, kDurationUnits, kMaxDurationUsec);
}

std::optional<int64_t> ParseBytes(std::string_view text) {
  return ParseWithUnit(text, kByteUnits, kMaxBytes);
}

std::optional<bool> ParseBool(std::string_view text) {
  const std::string word = Lower(text);
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "no" || word == "off") return false;
  return std::nullopt;
}

std::string FormatDurationUsec(int64_t usec) {
  if (usec == 0) return "0";
  for (const UnitName& unit : kDurationUnits) {
    if (usec % unit.size == 0) return std::to_string(usec / unit.size) + std::string(unit.name);
  }
  return {};
}

std::string FormatBytes(int64_t bytes) {
  for (const UnitName& unit : std::span(kByteUnits).first(3)) {
    if (bytes != 0 && bytes % unit.size == 0)
      return std::to_string(bytes / unit.size) + std::string(unit.name);
  }
  return std::to_string(bytes);
}

std::string FormatDecimal(double value) {
  std::array<char, 64> buffer;
  // 1000000 reads better than 1e+06.
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-6 && size < 1e15);
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                          plain ? std::chars_format::fixed : std::chars_format::general);
  return error == std::errc() ? std::string(buffer.data(), end) : std::string();
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::vector<std::string> SplitAtBlanks(std::string_view text) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while ((begin = text.find_first_not_of(" \t", begin)) != std::string_view::npos) {
    const size_t end = std::min(text.find_first_of(" \t", begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return parts;
}

std::string Quoted(std::string_view text) {
  constexpr size_t kMaxShown = 60;
  std::string quoted = "\"";
  for (const char c : text.substr(0, kMaxShown)) {
    const auto byte = static_cast<unsigned char>(c);
    quoted += byte < 0x20 || byte >= 0x7f ? '?' : c;
  }
  return quoted + (text.size() > kMaxShown ? "...\"" : "\"");
}

std::string_view Nearest(std::string_view name, const std::vector<std::string_view>& candidates) {
  constexpr size_t kMaxNameBytes = 64;
  if (name.size() > kMaxNameBytes) return {};
  std::string_view best;
  size_t best_distance = std::max<size_t>(2, name.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const size_t distance = EditDistance(name, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace ringway::config
