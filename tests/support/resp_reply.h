// RESP replies as trees, and requests as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace ringway::test {

// One RESP2 or RESP3 reply as a tree, for tests to look into. Deliberately not the proxy's own scanner: a
// mistake there must not hide here.
struct Reply {
  // RESP's own first byte (+ - : $ * _ # , ( = % ~ > !), or 0 when there was no reply: then `text` says why.
  char type = 0;
  // A null bulk string or null array of RESP2 ($-1, *-1) or RESP3's null (_).
  bool null = false;
  // What a scalar holds. Errors without their '-'; doubles, booleans and numbers as they were written;
  // verbatim strings with their "txt:".
  std::string text;
  // Of : only.
  int64_t integer = 0;
  // Of * ~ > and, keys and values in turn, of %.
  std::vector<Reply> elements;

  bool IsError() const { return type == '-' || type == '!'; }
  bool IsString() const { return (type == '$' || type == '+' || type == '=') && !null; }
  bool IsInteger() const { return type == ':'; }
  bool IsArray() const { return (type == '*' || type == '~' || type == '>' || type == '%') && !null; }
  bool IsNull() const { return null; }
  bool IsOk() const { return type == '+' && text == "OK"; }
  // An error whose text starts with `start`.
  bool IsErrorStartingWith(std::string_view start) const { return IsError() && text.starts_with(start); }

  // The value after `key` in a map, or in an array of keys and values in turn; nullptr when absent.
  const Reply* Find(std::string_view key) const;
  // Texts of the elements; integers as decimals, nulls as "(nil)".
  std::vector<std::string> Texts() const;
};

// One line for a reply: 1 (integer), "text" (bulk string), +OK, -ERR ..., nil ($-1), nil* (*-1), _ (RESP3's
// null), [a, b] (array), ~[a] (set), >[a] (push), {k: v} (map), and other types as on the wire. Long strings
// are cut.
std::ostream& operator<<(std::ostream& out, const Reply& reply);
std::string ToText(const Reply& reply);

// Length in bytes of the first complete reply in `bytes`, attributes before it included; 0 when more bytes
// are needed; nullopt when the bytes are no RESP.
std::optional<size_t> ReplyLength(std::string_view bytes);

// Parses one complete reply. Attributes before it are dropped.
Reply ParseReply(std::string_view bytes);

// The multibulk request for `arguments`.
std::string EncodeCommand(const std::vector<std::string>& arguments);

}  // namespace ringway::test
