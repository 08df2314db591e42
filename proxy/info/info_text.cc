#include "proxy/info/info_text.h"

#include <array>
#include <cstdio>

namespace ringway::proxy {
namespace {

void AppendWithout(std::string& out, std::string_view text, std::string_view unwanted) {
  for (const char c : text) out += unwanted.find(c) == std::string_view::npos ? c : '_';
}

}  // namespace

void InfoText::Field(std::string_view name, std::string_view value) {
  out_.append(name).append(":");
  AppendWithout(out_, value, "\r\n");
  out_.append("\r\n");
}

void InfoText::Human(std::string_view name, uint64_t bytes) { Field(name, FormatBytes(bytes)); }

void InfoText::Decimal(std::string_view name, double value, int digits) {
  Field(name, FormatDecimal(value, digits));
}

std::string FormatDecimal(double value, int digits) {
  std::array<char, 400> text;  // the longest double is 309 digits long
  const int length = std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return std::string(text.data(), static_cast<size_t>(length));
}

std::string FormatBytes(uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + "B";
  auto value = static_cast<double>(bytes);
  for (const char unit : {'K', 'M', 'G', 'T'}) {
    value /= 1024;
    if (value < 1024) return FormatDecimal(value, 2) + unit;
  }
  return FormatDecimal(value / 1024, 2) + 'P';
}

std::string EscapeBytes(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    if (c >= ' ' && c <= '~' && c != ',' && c != '=' && c != '\\') {
      text += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      text.append("\\x").append(1, kDigits[byte / 16]).append(1, kDigits[byte % 16]);
    }
  }
  return text;
}

InfoLine::InfoLine(std::string_view name) { AppendWithout(line_, name, "#:\r\n"); }

InfoLine& InfoLine::Add(std::string_view name, std::string_view value) {
  line_ += separator_;
  line_.append(name).append("=");
  AppendWithout(line_, value, ",=\r\n");
  separator_ = ',';
  return *this;
}

void InfoLine::EndInto(std::string& out) { out.append(line_).append("\r\n"); }

}  // namespace ringway::proxy
