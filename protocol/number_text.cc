#include "protocol/number_text.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace ringway::protocol {

std::optional<int64_t> ParseInt64(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const bool negative = text[0] == '-';
  const std::string_view digits = text.substr(negative ? 1 : 0);
  // std::from_chars takes leading zeros and "-0"; this leaves each number its one spelling.
  if (digits.empty() || digits[0] < '0' || digits[0] > '9') return std::nullopt;
  if (digits[0] == '0' && text.size() > 1) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> ParseDouble(std::string_view text) {
  // strtod wants a terminator. The longest number that is not rounded has about 770 digits, but any
  // length is legal, so no fixed buffer would do.
  const std::string terminated(text);
  if (text.empty() || text[0] == ' ' || (text[0] >= '\t' && text[0] <= '\r')) return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(terminated.c_str(), &end);
  if (end != terminated.c_str() + terminated.size() || std::isnan(value)) return std::nullopt;
  if (errno == ERANGE && (std::isinf(value) || value == 0)) return std::nullopt;
  return value;
}

std::string FormatDouble(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (std::isnan(value)) return "nan";
  char text[64];
  const int length = std::snprintf(text, sizeof text, "%.17g", value);
  return std::string(text, static_cast<size_t>(length));
}

}  // namespace ringway::protocol
