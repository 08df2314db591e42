// Text to value and back for each type a row can have; config_fields.cc chooses among these by the row's
// slot. A Parse gives what was expected when it refuses the text, and leaves the value as it was.
#ifndef RINGWAY_CONFIG_FIELD_VALUES_H_
#define RINGWAY_CONFIG_FIELD_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_fields.h"

namespace ringway::config {

// A list of listeners or patterns longer than this is a mistake.
inline constexpr size_t kMaxListItems = 1000;
// Longest text option, secrets and paths included.
inline constexpr size_t kMaxTextBytes = 4096;

using ParseError = std::optional<std::string>;
using Listeners = std::vector<ListenAddress>;
using Texts = std::vector<std::string>;

ParseError ParseValue(const Field& field, std::string_view text, bool* value);
ParseError ParseValue(const Field& field, std::string_view text, int64_t* value);
ParseError ParseValue(const Field& field, std::string_view text, uint32_t* value);
ParseError ParseValue(const Field& field, std::string_view text, double* value);
ParseError ParseValue(const Field& field, std::string_view text, std::optional<double>* value);
ParseError ParseValue(const Field& field, std::string_view text, std::string* value);
ParseError ParseValue(const Field& field, std::string_view text, std::optional<ListenAddress>* value);
ParseError ParseValue(const Field& field, std::string_view text, Listeners* value);  // appends one
ParseError ParseValue(const Field& field, std::string_view text, Texts* value);      // appends one
ParseError ParseValue(const Field& field, std::string_view text, ring::Distribution* value);
ParseError ParseValue(const Field& field, std::string_view text, ring::HashFunction* value);
ParseError ParseValue(const Field& field, std::string_view text, Mover* value);
ParseError ParseValue(const Field& field, std::string_view text, LogLevel* value);
ParseError ParseValue(const Field& field, std::string_view text, MultiKey* value);

std::string FormatValue(const Field& field, bool value);
std::string FormatValue(const Field& field, int64_t value);
std::string FormatValue(const Field& field, uint32_t value);
std::string FormatValue(const Field& field, double value);
std::string FormatValue(const Field& field, const std::optional<double>& value);
std::string FormatValue(const Field& field, const std::string& value);
std::string FormatValue(const Field& field, const std::optional<ListenAddress>& value);
std::string FormatValue(const Field& field, const Listeners& value);
std::string FormatValue(const Field& field, const Texts& value);
std::string FormatValue(const Field& field, ring::Distribution value);
std::string FormatValue(const Field& field, ring::HashFunction value);
std::string FormatValue(const Field& field, Mover value);
std::string FormatValue(const Field& field, LogLevel value);
std::string FormatValue(const Field& field, MultiKey value);

// What a message says was expected, by the type of `slot`; the value itself does not matter.
std::string ExpectedValue(const Field& field, const FieldSlot& slot);

}  // namespace ringway::config

#endif  // RINGWAY_CONFIG_FIELD_VALUES_H_
