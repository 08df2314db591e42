#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ringway::protocol {

// Appends replies to a string in the client's RESP version. What RESP3 has a type for and RESP2 has
// not is written to a RESP2 client as Redis writes it: a map as a flat array, a double as a bulk, ...
//
// Thread: one. Owns: nothing; the string must outlive it. Limits: none, the caller bounds its output.
class ReplyWriter {
 public:
  // resp_version: 2 or 3.
  ReplyWriter(std::string& out, int resp_version) : out_(out), resp3_(resp_version >= 3) {}

  // Line ends within the text of a status or an error become spaces, or they would end the reply.
  void Simple(std::string_view text);
  void Ok();
  // `text` begins with its code word: "ERR syntax error".
  void Error(std::string_view text);

  void Integer(int64_t value);
  void Bulk(std::string_view text);
  void Null();       // a missing value
  void NullArray();  // a missing array: RESP2 tells the two apart
  void Double(double value);
  void Boolean(bool value);
  // `format`: three characters such as "txt" or "mkd"; shorter ones are filled up with spaces.
  void Verbatim(std::string_view text, std::string_view format = "txt");
  void BigNumber(std::string_view digits);

  // Each is to be followed by so many elements; Map by twice as many, keys and values in turn.
  void Array(size_t elements);
  void Map(size_t pairs);
  void Set(size_t elements);
  void Push(size_t elements);

  // A reply, or a part of one, that is already in the client's RESP version.
  void Raw(std::string_view bytes) { out_.append(bytes); }

  int resp_version() const { return resp3_ ? 3 : 2; }

 private:
  void Line(char type, std::string_view text);
  void CleanLine(char type, std::string_view text);

  std::string& out_;
  const bool resp3_;
};

}  // namespace ringway::protocol
