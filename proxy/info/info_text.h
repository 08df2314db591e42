#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace ringway::proxy {

// Appends INFO's lines: "name:value", values that hold no line end, so that every reader can take them apart.
// Thread: one. Owns: nothing; the string must outlive it.
class InfoText {
 public:
  explicit InfoText(std::string& out) : out_(out) {}

  void Field(std::string_view name, std::string_view value);
  void Field(std::string_view name, std::integral auto value) { Field(name, std::to_string(value)); }
  // "947.51K", as Redis shortens bytes.
  void Human(std::string_view name, uint64_t bytes);
  // With so many digits behind the point.
  void Decimal(std::string_view name, double value, int digits);

 private:
  std::string& out_;
};

// "0.3341"
std::string FormatDecimal(double value, int digits);
// "947.51K"
std::string FormatBytes(uint64_t bytes);
// Any bytes as text that a line of figures can hold and that can be read back: "\xHH" stands for whatever is
// not printable ASCII, and for a comma, an equals sign and a backslash.
std::string EscapeBytes(std::string_view bytes);

// A line of several figures: "shard0:name=a,keys=3".
class InfoLine {
 public:
  // '#', ':' and line ends in `name` become '_', as Redis does it.
  explicit InfoLine(std::string_view name);

  // Commas, equals signs and line ends in `value` become '_': they would end the value.
  InfoLine& Add(std::string_view name, std::string_view value);
  InfoLine& Add(std::string_view name, std::integral auto value) { return Add(name, std::to_string(value)); }
  InfoLine& Decimal(std::string_view name, double value, int digits) {
    return Add(name, FormatDecimal(value, digits));
  }
  void EndInto(std::string& out);

 private:
  std::string line_;
  char separator_ = ':';
};

}  // namespace ringway::proxy
