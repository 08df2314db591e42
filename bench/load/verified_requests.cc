#include "bench/load/verified_requests.h"

#include <algorithm>
#include <charconv>

namespace ringway::bench {
namespace {

constexpr std::size_t kShown = 80;  // bytes of a wrong reply worth showing

}  // namespace

VerifiedConversation::VerifiedConversation(const LoadOptions& options, std::string_view run,
                                           std::size_t client, Tally* tally)
    : options_(options),
      label_(std::string(run) + ":" + std::to_string(client)),
      tally_(tally),
      random_(options.seed * 1000003 + client),
      keys_(std::max<std::size_t>(1, options.keys / options.clients)) {}

std::string VerifiedConversation::KeyName(std::size_t key) const {
  return "verify:" + label_ + ":" + std::to_string(generation_) + ":" + std::to_string(key);
}

std::string VerifiedConversation::Value(std::size_t key, uint64_t number) const {
  std::string value = KeyName(key) + "=" + std::to_string(number) + ".";
  if (value.size() < options_.value_size) value.resize(options_.value_size, 'x');
  return value;
}

std::string_view VerifiedConversation::NextBatch() {
  batch_.clear();
  expected_.clear();
  parts_.clear();
  reply_ = element_ = 0;
  array_seen_ = failed_ = false;
  for (std::size_t i = 0; i < options_.pipeline; ++i) AppendCommand();
  return batch_;
}

void VerifiedConversation::AppendCommand() {
  switch (options_.command) {
    case LoadCommand::kMGet:  // something must have been written for a read to prove anything
      if (random_() % 2 == 0) return AppendKeyed(Kind::kWrite, "SET", 1);
      return AppendKeyed(Kind::kMGet, "MGET", options_.keys_per_command);
    case LoadCommand::kMSet:
      if (random_() % 2 == 0) return AppendKeyed(Kind::kGet, "GET", 1);
      return AppendKeyed(Kind::kWrite, "MSET", options_.keys_per_command);
    case LoadCommand::kGetSet:
      if (random_() % (options_.gets + options_.sets) < options_.sets)
        return AppendKeyed(Kind::kWrite, "SET", 1);
      return AppendKeyed(Kind::kGet, "GET", 1);
    case LoadCommand::kPing:
    case LoadCommand::kConnect:
    case LoadCommand::kFill:
      return AppendKeyed(Kind::kPing, "PING", 0);
  }
}

void VerifiedConversation::AppendKeyed(Kind kind, std::string_view name, std::size_t keys) {
  expected_.push_back({kind, parts_.size(), keys});
  AppendArray(1 + keys * (kind == Kind::kWrite ? 2 : 1), &batch_);
  AppendBulk(name, &batch_);
  for (std::size_t i = 0; i < keys; ++i) {
    const std::size_t key = random_() % keys_.size();
    if (kind == Kind::kWrite) keys_[key].sent = ++writes_;
    parts_.push_back({key, keys_[key].sent});
    AppendBulk(KeyName(key), &batch_);
    if (kind == Kind::kWrite) AppendBulk(Value(key, writes_), &batch_);
  }
}

void VerifiedConversation::ConnectionLost() {
  ++generation_;
  std::fill(keys_.begin(), keys_.end(), KeyState());
  expected_.clear();
  value_.clear();
}

void VerifiedConversation::OnScalar(char type, std::string_view text) {
  if (reply_ >= expected_.size()) return Wrong("no reply", text);
  if (type == '-' && !array_seen_) {
    failed_ = true;
    ++tally_->errors;
    if (tally_->first_error.empty()) tally_->first_error = text;
    return;
  }
  const Kind kind = expected_[reply_].kind;
  if (kind == Kind::kWrite && type == '+' && text == "OK") return;
  if (kind == Kind::kPing && type == '+' && text == "PONG") return;
  failed_ = true;
  Wrong(kind == Kind::kWrite ? "+OK" : kind == Kind::kPing ? "+PONG" : "a value", text);
}

// The key whose value comes next in a reply that carries values, nullptr if none is due.
const VerifiedConversation::Part* VerifiedConversation::NextPart() {
  if (reply_ >= expected_.size()) return nullptr;
  const Expected& expected = expected_[reply_];
  const bool carries = expected.kind == Kind::kGet || (expected.kind == Kind::kMGet && array_seen_);
  if (!carries || element_ >= expected.parts) return nullptr;
  return &parts_[expected.first_part + element_++];
}

void VerifiedConversation::OnNull() {
  const Part* part = NextPart();
  if (part == nullptr) return Wrong("no null", "null");
  KeyState& key = keys_[part->key];
  if (key.acknowledged == 0) {
    ++tally_->misses;
  } else {
    ++tally_->lost;
    key.acknowledged = 0;  // one lost value is counted once
  }
}

void VerifiedConversation::OnArray(uint64_t elements) {
  const bool right = reply_ < expected_.size() && expected_[reply_].kind == Kind::kMGet && !array_seen_ &&
                     elements == expected_[reply_].parts;
  array_seen_ = true;
  if (!right) Wrong("another number of values", std::to_string(elements));
}

void VerifiedConversation::OnBulkBegin(uint64_t) { value_.clear(); }
void VerifiedConversation::OnBulkBytes(std::string_view part) { value_.append(part); }

void VerifiedConversation::OnBulkEnd() {
  if (const Part* part = NextPart()) {
    JudgeValue(*part);
  } else {
    Wrong("no value", value_);
  }
}

void VerifiedConversation::JudgeValue(const Part& part) {
  const std::string prefix = KeyName(part.key) + "=";
  uint64_t number = 0;
  if (value_.starts_with(prefix)) {
    std::from_chars(value_.data() + prefix.size(), value_.data() + value_.size(), number);
  }
  const uint64_t oldest = keys_[part.key].acknowledged;
  const bool in_time = number != 0 && number >= oldest && number <= part.newest;
  if (in_time && value_ == Value(part.key, number)) return;
  Wrong(prefix + std::to_string(oldest) + ".." + std::to_string(part.newest), value_);
}

void VerifiedConversation::OnReplyEnd() {
  ++tally_->requests;
  if (reply_ < expected_.size()) {
    const Expected& expected = expected_[reply_];
    if (expected.kind == Kind::kWrite && !failed_) {
      for (std::size_t i = 0; i < expected.parts; ++i) {
        const Part& part = parts_[expected.first_part + i];
        keys_[part.key].acknowledged = std::max(keys_[part.key].acknowledged, part.newest);
      }
    }
  }
  ++reply_;
  element_ = 0;
  array_seen_ = failed_ = false;
}

void VerifiedConversation::Wrong(std::string_view expected, std::string_view got) {
  failed_ = true;
  ++tally_->wrong;
  if (!tally_->first_wrong.empty()) return;
  tally_->first_wrong = "client " + label_ + " expected " + std::string(expected) + ", got " +
                        std::string(got.substr(0, kShown));
}

}  // namespace ringway::bench
