// Appends requests, as multibulk frames, to a string.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace ringway::protocol {

// `*<args>\r\n`: a request of that many arguments begins.
void AppendHeader(std::string& out, size_t args);

// `$<length>\r\n<arg>\r\n`.
void AppendArg(std::string& out, std::string_view arg);
void AppendArg(std::string& out, int64_t number);

// A whole request.
void AppendCommand(std::string& out, std::initializer_list<std::string_view> args);
void AppendCommand(std::string& out, std::span<const std::string_view> args);

// The bytes AppendCommand would append.
size_t CommandBytes(std::span<const std::string_view> args);

}  // namespace ringway::protocol
