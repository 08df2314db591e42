#include "bench/load/reply_reader.h"

#include <algorithm>
#include <charconv>

namespace ringway::bench {

void ReplyReader::Reset() {
  partial_line_.clear();
  elements_left_ = 0;
  bulk_left_ = 0;
  terminator_left_ = 0;
}

bool ReplyReader::Feed(std::string_view data) {
  while (!data.empty()) {
    if (terminator_left_ > 0) {
      if (!TakeBulk(&data)) return false;
      continue;
    }
    const std::size_t end = data.find('\n');
    const std::string_view head = data.substr(0, end);
    if (partial_line_.size() + head.size() > kMaxLine) return false;
    if (end == std::string_view::npos) {
      partial_line_.append(head);
      return true;
    }
    data.remove_prefix(end + 1);
    if (partial_line_.empty()) {
      if (!TakeLine(head)) return false;
    } else {
      partial_line_.append(head);
      const bool ok = TakeLine(partial_line_);
      partial_line_.clear();
      if (!ok) return false;
    }
  }
  return true;
}

bool ReplyReader::TakeBulk(std::string_view* data) {
  if (bulk_left_ > 0) {
    const std::size_t part = std::min<uint64_t>(bulk_left_, data->size());
    sink_->OnBulkBytes(data->substr(0, part));
    data->remove_prefix(part);
    bulk_left_ -= part;
  }
  while (bulk_left_ == 0 && terminator_left_ > 0 && !data->empty()) {
    if (data->front() != (terminator_left_ == 2 ? '\r' : '\n')) return false;
    data->remove_prefix(1);
    if (--terminator_left_ == 0) {
      sink_->OnBulkEnd();
      ElementDone();
    }
  }
  return true;
}

bool ReplyReader::TakeLine(std::string_view line) {
  if (line.size() < 2 || line.back() != '\r') return false;
  const char type = line.front();
  const std::string_view text = line.substr(1, line.size() - 2);
  if (elements_left_ == 0) elements_left_ = 1;
  switch (type) {
    case '+':
    case '-':
    case ':':
      sink_->OnScalar(type, text);
      ElementDone();
      return true;
    case '$':
    case '*':
      return TakeHeader(type, text);
    default:
      return false;
  }
}

bool ReplyReader::TakeHeader(char type, std::string_view text) {
  int64_t length = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (code != std::errc() || end != text.data() + text.size() || length < -1) return false;
  if (length == -1) {
    sink_->OnNull();
    ElementDone();
  } else if (type == '*') {
    sink_->OnArray(static_cast<uint64_t>(length));
    elements_left_ += static_cast<uint64_t>(length);
    ElementDone();
  } else {
    sink_->OnBulkBegin(static_cast<uint64_t>(length));
    bulk_left_ = static_cast<uint64_t>(length);
    terminator_left_ = 2;
  }
  return true;
}

void ReplyReader::ElementDone() {
  if (--elements_left_ > 0) return;
  ++replies_;
  sink_->OnReplyEnd();
}

}  // namespace ringway::bench
