#include "proxy/reshard/human.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace ringway::proxy::reshard {

namespace {

constexpr double kMinute = 60;
constexpr double kHour = 60 * kMinute;
constexpr double kDay = 24 * kHour;
// Beyond it a duration says nothing to a person, and its number of days would not fit.
constexpr double kLongest = 10'000 * kDay;

std::string WithDigits(double value, int digits) {
  std::array<char, 64> text;
  const int length = std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return std::string(text.data(), static_cast<size_t>(std::max(length, 0)));
}

// "3h 05m"
std::string TwoParts(double seconds, double large, const char* large_name, double small,
                     const char* small_name) {
  const auto whole = static_cast<uint64_t>(seconds / large);
  const auto rest = static_cast<uint64_t>((seconds - static_cast<double>(whole) * large) / small);
  const std::string rest_text = std::to_string(rest);
  return std::to_string(whole) + large_name + " " + (rest < 10 ? "0" : "") + rest_text + small_name;
}

}  // namespace

std::string HumanCount(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string HumanBytes(uint64_t bytes) {
  static constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // 1023.95 would be rounded to 1024.0 of a unit.
  for (; value >= 1023.95 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return WithDigits(value, 1) + " " + kUnits[unit];
}

std::string HumanDuration(double seconds) {
  if (!(seconds > 0)) return "0s";
  seconds = std::min(seconds, kLongest);
  // Whole seconds are likely all that is known.
  if (seconds < 9.95) return WithDigits(seconds, seconds == std::floor(seconds) ? 0 : 1) + "s";
  seconds = std::round(seconds);
  if (seconds < kMinute) return WithDigits(seconds, 0) + "s";
  if (seconds < kHour) return TwoParts(seconds, kMinute, "m", 1, "s");
  if (seconds < kDay) return TwoParts(seconds, kHour, "h", kMinute, "m");
  return TwoParts(seconds, kDay, "d", kHour, "h");
}

std::string HumanUsec(uint64_t usec) {
  if (usec < 1000) return std::to_string(usec) + "us";
  if (usec < 999'950) return WithDigits(static_cast<double>(usec) / 1e3, 1) + "ms";
  return HumanDuration(static_cast<double>(usec) / 1e6);
}

std::string HumanPercent(double fraction) {
  const double percent = std::clamp(std::isnan(fraction) ? 0.0 : fraction * 100, 0.0, 100.0);
  return WithDigits(percent < 100 ? std::min(percent, 99.9) : percent, 1) + "%";
}

std::string Printable(std::string_view text) {
  std::string printable(text);
  for (char& c : printable) {
    if (c < ' ' || c > '~') c = '?';
  }
  return printable;
}

}  // namespace ringway::proxy::reshard
