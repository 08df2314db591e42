#include "protocol/reply_writer.h"

#include <algorithm>

#include "protocol/length_line.h"
#include "protocol/number_text.h"

namespace ringway::protocol {
namespace {

constexpr size_t kFormatBytes = 3;  // of a verbatim string's format

int64_t Count(size_t count) { return static_cast<int64_t>(count); }

}  // namespace

void ReplyWriter::Line(char type, std::string_view text) {
  out_.push_back(type);
  out_.append(text);
  out_.append("\r\n", 2);
}

void ReplyWriter::CleanLine(char type, std::string_view text) {
  const size_t begin = out_.size() + 1;
  Line(type, text);
  const auto first = out_.begin() + static_cast<ptrdiff_t>(begin);
  std::replace_if(
      first, first + static_cast<ptrdiff_t>(text.size()), [](char c) { return c == '\r' || c == '\n'; }, ' ');
}

void ReplyWriter::Simple(std::string_view text) { CleanLine('+', text); }

void ReplyWriter::Ok() { out_.append("+OK\r\n", 5); }

void ReplyWriter::Error(std::string_view text) { CleanLine('-', text); }

void ReplyWriter::Integer(int64_t value) { AppendLengthLine(out_, ':', value); }

void ReplyWriter::Bulk(std::string_view text) {
  AppendLengthLine(out_, '$', Count(text.size()));
  out_.append(text);
  out_.append("\r\n", 2);
}

void ReplyWriter::Null() { out_.append(resp3_ ? "_\r\n" : "$-1\r\n"); }

void ReplyWriter::NullArray() { out_.append(resp3_ ? "_\r\n" : "*-1\r\n"); }

void ReplyWriter::Double(double value) {
  const std::string text = FormatDouble(value);
  if (resp3_) {
    Line(',', text);
  } else {
    Bulk(text);
  }
}

void ReplyWriter::Boolean(bool value) {
  if (resp3_) {
    out_.append(value ? "#t\r\n" : "#f\r\n", 4);
  } else {
    Integer(value ? 1 : 0);
  }
}

void ReplyWriter::Verbatim(std::string_view text, std::string_view format) {
  if (!resp3_) return Bulk(text);
  AppendLengthLine(out_, '=', Count(kFormatBytes + 1 + text.size()));
  out_.append(format.substr(0, kFormatBytes));
  if (format.size() < kFormatBytes) out_.append(kFormatBytes - format.size(), ' ');
  out_.push_back(':');
  out_.append(text);
  out_.append("\r\n", 2);
}

void ReplyWriter::BigNumber(std::string_view digits) {
  if (resp3_) {
    Line('(', digits);
  } else {
    Bulk(digits);
  }
}

void ReplyWriter::Array(size_t elements) { AppendLengthLine(out_, '*', Count(elements)); }

void ReplyWriter::Map(size_t pairs) {
  AppendLengthLine(out_, resp3_ ? '%' : '*', Count(resp3_ ? pairs : 2 * pairs));
}

void ReplyWriter::Set(size_t elements) { AppendLengthLine(out_, resp3_ ? '~' : '*', Count(elements)); }

void ReplyWriter::Push(size_t elements) { AppendLengthLine(out_, resp3_ ? '>' : '*', Count(elements)); }

}  // namespace ringway::protocol
