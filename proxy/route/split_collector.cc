#include "proxy/route/split_collector.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "proxy/check.h"

namespace ringway::proxy {
namespace {

using protocol::ResponsePolicy;

// Appends `:5\r\n` or `*5\r\n`.
void AppendNumberLine(OutputQueue& out, char type, int64_t number) {
  char line[24];
  line[0] = type;
  char* end = std::to_chars(line + 1, line + sizeof(line) - 2, number).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out.Append(std::string_view(line, static_cast<size_t>(end - line)));
}

// Elements a collector keeps room for between requests.
constexpr size_t kMaxKeptKeys = 4096;

}  // namespace

SplitCollector::Pool::~Pool() {
  for (SplitCollector* collector : free_) delete collector;
}

SplitCollector* SplitCollector::Pool::Take(ResponsePolicy policy, size_t parts) {
  SplitCollector* collector;
  if (free_.empty()) {
    collector = new SplitCollector(*this);
  } else {
    collector = free_.back();
    free_.pop_back();
  }
  collector->policy_ = policy;
  collector->parts_.resize(parts);
  return collector;
}

void SplitCollector::Release() {
  parts_.clear();
  order_.clear();
  cursors_.clear();
  if (order_.capacity() > kMaxKeptKeys) order_.shrink_to_fit();
  partial_write_ = has_success_ = false;
  errors_ = first_error_ = first_success_ = 0;
  pool_.free_.push_back(this);
}

void SplitCollector::OnPart(Request& request, uint32_t part, const Slice& reply) {
  if (request.client != nullptr) parts_[part] = pool_.requests_.Held(reply);
  if (protocol::IsError(reply.view())) {
    if (errors_++ == 0) first_error_ = part;
  } else if (!has_success_) {
    has_success_ = true;
    first_success_ = part;
  }
  if (IsErrorReply(request) && !request.failed) {
    request.failed = true;
    pool_.requests_.stats().NoteError(reply.view());
  }
}

void SplitCollector::OnAbandoned() {
  for (Slice& part : parts_) part = Slice{};
}

bool SplitCollector::IsErrorReply(const Request& request) const {
  if (policy_ != ResponsePolicy::kOneSucceeded) return errors_ > 0;
  return request.parts_pending <= 1 && !has_success_;
}

void SplitCollector::Finish(Request& request, OutputQueue& out) {
  if (request.failed) {
    FinishError(out);
    return;
  }
  switch (policy_) {
    case ResponsePolicy::kSum:
    case ResponsePolicy::kMin:
    case ResponsePolicy::kMax:
      FinishIntegers(out);
      return;
    case ResponsePolicy::kLogicalAnd:
    case ResponsePolicy::kLogicalOr:
      FinishLogical(out);
      return;
    case ResponsePolicy::kConcatenate:
      FinishConcatenation(out);
      return;
    case ResponsePolicy::kKeyOrder:
      FinishInKeyOrder(out);
      return;
    default:
      out.Append(parts_[first_success_]);
      return;
  }
}

void SplitCollector::FinishError(OutputQueue& out) const {
  const std::string_view error = parts_[first_error_].view();
  if (!partial_write_ || !error.starts_with("-SHARD")) {
    out.Append(error);
    return;
  }
  out.Append(error.substr(0, error.size() - 2));
  out.Append(" (" + std::to_string(parts_.size() - errors_) + " of " + std::to_string(parts_.size()) +
             " shards have carried out their part)\r\n");
}

void SplitCollector::FinishIntegers(OutputQueue& out) const {
  std::optional<int64_t> result;
  for (const Slice& part : parts_) {
    const int64_t value = protocol::IntegerOf(part.view()).value_or(0);
    if (!result.has_value()) {
      result = value;
    } else if (policy_ == ResponsePolicy::kSum) {
      // Beyond 64 bits it wraps round: no keyspace counts that far.
      result = static_cast<int64_t>(static_cast<uint64_t>(*result) + static_cast<uint64_t>(value));
    } else {
      result = policy_ == ResponsePolicy::kMin ? std::min(*result, value) : std::max(*result, value);
    }
  }
  AppendNumberLine(out, ':', result.value_or(0));
}

void SplitCollector::FinishLogical(OutputQueue& out) const {
  const bool is_and = policy_ == ResponsePolicy::kLogicalAnd;
  std::vector<bool> merged;
  for (const Slice& part : parts_) {
    protocol::ReplyCursor cursor(part.view());
    std::string_view element;
    for (size_t i = 0; cursor.Next(&element); ++i) {
      if (i == merged.size()) merged.push_back(is_and);
      const bool value = protocol::IntegerOf(element).value_or(0) != 0;
      merged[i] = is_and ? merged[i] && value : merged[i] || value;
    }
  }
  AppendNumberLine(out, '*', static_cast<int64_t>(merged.size()));
  for (const bool value : merged) AppendNumberLine(out, ':', value ? 1 : 0);
}

void SplitCollector::FinishConcatenation(OutputQueue& out) const {
  int64_t elements = 0;
  for (const Slice& part : parts_) {
    elements += std::max(protocol::ReplyCursor(part.view()).length(), int64_t{0});
  }
  // A map counts its pairs; ReplyCursor counts keys and values.
  const char type = protocol::ReplyCursor(parts_.front().view()).type();
  AppendNumberLine(out, type, type == '%' ? elements / 2 : elements);
  for (const Slice& part : parts_) {
    const std::string_view rest = protocol::ReplyCursor(part.view()).rest();
    out.Append(rest, &part.block);
  }
}

void SplitCollector::FinishInKeyOrder(OutputQueue& out) {
  for (const Slice& part : parts_) cursors_.emplace_back(part.view());
  AppendNumberLine(out, '*', static_cast<int64_t>(order_.size()));
  for (const uint16_t part : order_) {
    std::string_view element;
    // A shard that gave fewer elements than keys were asked for is no Redis.
    if (!cursors_[part].Next(&element)) element = "$-1\r\n";
    out.Append(element, &parts_[part].block);
  }
}

}  // namespace ringway::proxy
