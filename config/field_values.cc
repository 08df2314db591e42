#include "config/field_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "config/address.h"
#include "config/values.h"

namespace ringway::config {

namespace {

template <class T>
using Named = std::pair<std::string_view, T>;

constexpr std::array<Named<Mover>, 2> kMovers = {{{"migrate", Mover::kMigrate}, {"relay", Mover::kRelay}}};
constexpr std::array<Named<LogLevel>, 5> kLogLevels = {{{"trace", LogLevel::kTrace},
                                                        {"debug", LogLevel::kDebug},
                                                        {"info", LogLevel::kInfo},
                                                        {"warn", LogLevel::kWarn},
                                                        {"error", LogLevel::kError}}};
constexpr std::array<Named<MultiKey>, 2> kMultiKeys = {
    {{"hash_tag", MultiKey::kHashTag}, {"same_shard", MultiKey::kSameShard}}};

ParseError Expect(const Field& field) { return "expected " + field.Expected(); }

template <class T>
ParseError ParseName(const Field& field, std::string_view text, std::span<const Named<T>> names, T* value) {
  const auto found =
      std::find_if(names.begin(), names.end(), [text](const auto& row) { return row.first == text; });
  if (found == names.end()) return Expect(field);
  *value = found->second;
  return std::nullopt;
}

template <class T>
std::string NameOf(T value, std::span<const Named<T>> names) {
  const auto found =
      std::find_if(names.begin(), names.end(), [value](const auto& row) { return row.second == value; });
  return found == names.end() ? std::string() : std::string(found->first);
}

template <class T>
std::string Names(std::span<const T> values, std::string_view (*name)(T)) {
  std::string text = "one of ";
  for (const T value : values) text.append(text.size() > 7 ? ", " : "").append(name(value));
  return text;
}

template <class T>
std::string Names(std::span<const Named<T>> rows) {
  std::string text = "one of ";
  for (const auto& [name, value] : rows) text.append(text.size() > 7 ? ", " : "").append(name);
  return text;
}

std::optional<int64_t> ParseStored(Unit unit, std::string_view text) {
  switch (unit) {
    case Unit::kBytes:
      return ParseBytes(text);
    case Unit::kMicroseconds:
      return ParseDurationUsec(text);
    case Unit::kMilliseconds: {
      const auto usec = ParseDurationUsec(text);
      if (!usec || *usec % 1000 != 0) return std::nullopt;
      return *usec / 1000;
    }
    default:
      return ParseInteger(text);
  }
}

std::string FormatStored(Unit unit, int64_t value) {
  switch (unit) {
    case Unit::kBytes:
      return FormatBytes(value);
    case Unit::kMicroseconds:
      return FormatDurationUsec(value);
    case Unit::kMilliseconds:
      return FormatDurationUsec(value * 1000);
    default:
      return std::to_string(value);
  }
}

std::string_view UnitNoun(Unit unit) {
  switch (unit) {
    case Unit::kBytes:
      return "a size";
    case Unit::kMicroseconds:
    case Unit::kMilliseconds:
      return "a duration";
    default:
      return "a whole number";
  }
}

std::string Range(const Field& field) {
  if (field.unit == Unit::kRatio)
    return "a number from " + FormatDecimal(field.min) + " to " + FormatDecimal(field.max);
  return std::string(UnitNoun(field.unit)) + " from " + FormatStored(field.unit, std::llround(field.min)) +
         " to " + FormatStored(field.unit, std::llround(field.max));
}

ParseError CheckText(std::string_view text) {
  if (text.size() > kMaxTextBytes) return "expected at most " + std::to_string(kMaxTextBytes) + " bytes";
  const bool plain = std::none_of(text.begin(), text.end(),
                                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (!plain) return "expected a text without control characters";
  return std::nullopt;
}

struct Expectation {
  const Field& field;

  std::string operator()(const bool*) const { return "true or false"; }
  std::string operator()(const int64_t*) const { return Number(); }
  std::string operator()(const uint32_t*) const { return Number(); }
  std::string operator()(const double*) const { return Number(); }
  std::string operator()(const std::optional<double>*) const { return Number(); }
  std::string operator()(const std::string*) const { return "a text"; }
  std::string operator()(const std::optional<ListenAddress>*) const { return "host:port, unix:/path or off"; }
  std::string operator()(const Listeners*) const { return "host:port or unix:/path, or a list of these"; }
  std::string operator()(const Texts*) const { return "a pattern, or a list of these"; }
  std::string operator()(const ring::Distribution*) const {
    return Names<ring::Distribution>(ring::AllDistributions(), ring::Name);
  }
  std::string operator()(const ring::HashFunction*) const {
    return Names<ring::HashFunction>(ring::AllHashFunctions(), ring::Name);
  }
  std::string operator()(const Mover*) const { return Names<Mover>(kMovers); }
  std::string operator()(const LogLevel*) const { return Names<LogLevel>(kLogLevels); }
  std::string operator()(const MultiKey*) const { return Names<MultiKey>(kMultiKeys); }

  std::string Number() const {
    return Range(field) + (field.word.empty() ? std::string() : ", or " + std::string(field.word));
  }
};

}  // namespace

ParseError ParseValue(const Field& field, std::string_view text, bool* value) {
  const auto parsed = ParseBool(text);
  if (!parsed) return Expect(field);
  *value = *parsed;
  return std::nullopt;
}

ParseError ParseValue(const Field& field, std::string_view text, int64_t* value) {
  if (!field.word.empty() && text == field.word) {
    *value = field.word_value;
    return std::nullopt;
  }
  const auto parsed = ParseStored(field.unit, text);
  if (parsed && !field.word.empty() && *parsed == field.word_value) {
    *value = *parsed;
    return std::nullopt;
  }
  const bool fits =
      parsed && static_cast<double>(*parsed) >= field.min && static_cast<double>(*parsed) <= field.max;
  if (!fits) {
    const bool bare =
        (field.unit == Unit::kMilliseconds || field.unit == Unit::kMicroseconds) && ParseInteger(text);
    return *Expect(field) + (bare ? ", with its unit (us, ms, s, m, h, d)" : "");
  }
  *value = *parsed;
  return std::nullopt;
}

ParseError ParseValue(const Field& field, std::string_view text, uint32_t* value) {
  int64_t wide = *value;
  if (auto error = ParseValue(field, text, &wide)) return error;
  *value = static_cast<uint32_t>(wide);  // the row's range fits
  return std::nullopt;
}

ParseError ParseValue(const Field& field, std::string_view text, double* value) {
  const auto parsed = ParseDecimal(text);
  if (!parsed || *parsed < field.min || *parsed > field.max) return Expect(field);
  *value = *parsed;
  return std::nullopt;
}

ParseError ParseValue(const Field& field, std::string_view text, std::optional<double>* value) {
  if (text == field.word) {
    value->reset();
    return std::nullopt;
  }
  double parsed = 0;
  if (auto error = ParseValue(field, text, &parsed)) return error;
  *value = parsed;
  return std::nullopt;
}

ParseError ParseValue(const Field&, std::string_view text, std::string* value) {
  if (auto error = CheckText(text)) return error;
  *value = text;
  return std::nullopt;
}

ParseError ParseValue(const Field&, std::string_view text, std::optional<ListenAddress>* value) {
  if (text == "off") {
    value->reset();
    return std::nullopt;
  }
  ParsedAddress parsed = ParseListenAddress(text);
  if (!parsed.error.empty()) return parsed.error + ", or off";
  *value = std::move(parsed.address);
  return std::nullopt;
}

ParseError ParseValue(const Field&, std::string_view text, Listeners* value) {
  if (value->size() >= kMaxListItems)
    return "expected at most " + std::to_string(kMaxListItems) + " addresses";
  ParsedAddress parsed = ParseListenAddress(text);
  if (!parsed.error.empty()) return std::move(parsed.error);
  const bool free_port = parsed.address.kind == ListenAddress::Kind::kTcp && parsed.address.port == 0;
  if (!free_port && std::find(value->begin(), value->end(), parsed.address) != value->end()) {
    return "this address is already in the list";
  }
  value->push_back(std::move(parsed.address));
  return std::nullopt;
}

ParseError ParseValue(const Field&, std::string_view text, Texts* value) {
  if (value->size() >= kMaxListItems)
    return "expected at most " + std::to_string(kMaxListItems) + " patterns";
  if (text.empty()) return "expected a pattern that is not empty";
  if (auto error = CheckText(text)) return error;
  // A list is printed with blanks between its items, and must be read back as the same.
  if (text.find(' ') != std::string_view::npos)
    return "a pattern holds no blanks; ? stands for any character";
  value->emplace_back(text);
  return std::nullopt;
}

ParseError ParseValue(const Field& field, std::string_view text, ring::Distribution* value) {
  const auto parsed = ring::ParseDistribution(text);
  if (!parsed) return Expect(field);
  *value = *parsed;
  return std::nullopt;
}

ParseError ParseValue(const Field& field, std::string_view text, ring::HashFunction* value) {
  const auto parsed = ring::ParseHashFunction(text);
  if (!parsed) return Expect(field);
  *value = *parsed;
  return std::nullopt;
}

ParseError ParseValue(const Field& field, std::string_view text, Mover* value) {
  return ParseName<Mover>(field, text, kMovers, value);
}
ParseError ParseValue(const Field& field, std::string_view text, LogLevel* value) {
  return ParseName<LogLevel>(field, text, kLogLevels, value);
}
ParseError ParseValue(const Field& field, std::string_view text, MultiKey* value) {
  return ParseName<MultiKey>(field, text, kMultiKeys, value);
}

std::string FormatValue(const Field&, bool value) { return value ? "true" : "false"; }

std::string FormatValue(const Field& field, int64_t value) {
  if (!field.word.empty() && value == field.word_value) return std::string(field.word);
  return FormatStored(field.unit, value);
}

std::string FormatValue(const Field& field, uint32_t value) { return FormatValue(field, int64_t{value}); }
std::string FormatValue(const Field&, double value) { return FormatDecimal(value); }

std::string FormatValue(const Field& field, const std::optional<double>& value) {
  return value ? FormatDecimal(*value) : std::string(field.word);
}

std::string FormatValue(const Field&, const std::string& value) { return value; }

std::string FormatValue(const Field&, const std::optional<ListenAddress>& value) {
  return value ? value->ToString() : "off";
}

std::string FormatValue(const Field&, const Listeners& value) {
  std::string text;
  for (const ListenAddress& address : value) text.append(text.empty() ? "" : " ").append(address.ToString());
  return text;
}

std::string FormatValue(const Field&, const Texts& value) {
  std::string text;
  for (const std::string& item : value) text.append(text.empty() ? "" : " ").append(item);
  return text;
}

std::string FormatValue(const Field&, ring::Distribution value) { return std::string(ring::Name(value)); }
std::string FormatValue(const Field&, ring::HashFunction value) { return std::string(ring::Name(value)); }
std::string FormatValue(const Field&, Mover value) { return NameOf<Mover>(value, kMovers); }
std::string FormatValue(const Field&, LogLevel value) { return NameOf<LogLevel>(value, kLogLevels); }
std::string FormatValue(const Field&, MultiKey value) { return NameOf<MultiKey>(value, kMultiKeys); }

std::string ExpectedValue(const Field& field, const FieldSlot& slot) {
  return std::visit(Expectation{field}, slot);
}

}  // namespace ringway::config
