#include "tests/integration/hot_subject.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace ringway::test {

namespace {

constexpr int64_t kUsecPerMs = 1000;
constexpr size_t kVersions = 64;
constexpr size_t kHistory = 24;
// Redis's clock has milliseconds, and may be the one of the iteration before.
constexpr int64_t kClockSlackUsec = 5 * kUsecPerMs;

std::string Least(const HotTicket& ticket) {
  return std::to_string(ticket.least) +
         (ticket.in_pipeline ? " was seen earlier in its pipeline" : " was known before");
}

std::string Joined(const Command& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word.substr(0, 40);
  return text;
}

}  // namespace

HotRegister::HotRegister(HotKind kind, HotNames names, int database, const MoveExcuses* excuses)
    : kind_(kind),
      names_(std::move(names)),
      database_(database),
      excuses_(excuses),
      reads_(HotReads(kind_, names_)) {
  states_[0] = EmptyHotStore(kind_, names_);
}

void HotRegister::Advance(int64_t now) {
  if (may_expire_usec_ && now >= *may_expire_usec_) {
    ModelStore store = states_.at(sent_);
    store.erase(names_.key);
    states_[++sent_] = std::move(store);
    may_expire_usec_.reset();
    Note("may have expired: version " + std::to_string(sent_));
  }
  if (has_expired_usec_ && now >= *has_expired_usec_) {
    has_expired_usec_.reset();
    Know(sent_);
  }
}

void HotRegister::Know(int64_t version) {
  known_ = std::max(known_, version);
  while (states_.size() > kVersions) states_.erase(states_.begin());
}

HotTicket HotRegister::BeginRead() {
  const std::lock_guard lock(mutex_);
  const int64_t now = NowUsec();
  Advance(now);
  return {known_, INT64_MAX, epoch_, now};
}

std::string HotRegister::JudgeRead(const HotTicket& ticket, const Command& command, const Reply& reply,
                                   int64_t* version) {
  const std::lock_guard lock(mutex_);
  const int64_t now = NowUsec();
  Advance(now);
  const MoveFate fate = FateOf(reply, *excuses_);
  if (fate == MoveFate::kUnknown || fate == MoveFate::kRefused) return "";
  if (excused_ || ticket.epoch != epoch_ || ticket.least < states_.begin()->first) return "";
  const std::string answer = HotAnswer(command, reply);
  if (fate == MoveFate::kDone) {
    for (auto state = states_.lower_bound(ticket.least); state != states_.end(); ++state) {
      if (state->first > ticket.most) break;
      if (ExpectedHotRead(state->second, command) != answer) continue;
      *version = std::max(*version, state->first);
      Know(state->first);
      return "";
    }
  }
  std::string wrong = Joined(command) + " (database " + std::to_string(database_) + "), sent " +
                      std::to_string(ticket.sent_usec / kUsecPerMs) + ", judged " +
                      std::to_string(now / kUsecPerMs) + " ms, answered " + answer + "when version " +
                      Least(ticket);
  if (ticket.most != INT64_MAX) wrong += ", and a later command wrote " + std::to_string(ticket.most + 1);
  for (const auto& [number, store] : states_) {
    if (number + 4 < ticket.least) continue;
    wrong += "\n    version " + std::to_string(number) + ": " + ExpectedHotRead(store, command);
  }
  return wrong + "\n" + History();
}

std::optional<HotWrite> HotRegister::BeginWrite(HotTicket* ticket) {
  const std::lock_guard lock(mutex_);
  const int64_t now = NowUsec();
  Advance(now);
  const bool expires = may_expire_usec_ || has_expired_usec_;
  if (writing_ || (excused_ && !recovers_) || now < next_write_usec_ || (expires && !begins_anew_)) {
    return std::nullopt;
  }
  writing_ = true;
  may_expire_usec_.reset();
  has_expired_usec_.reset();
  *ticket = {known_, INT64_MAX, epoch_, now};
  const ModelStore before = begins_anew_ ? EmptyHotStore(kind_, names_) : states_.at(sent_);
  if (begins_anew_) sent_ += kHotRound - 1 - sent_ % kHotRound;
  HotWrite write = MakeHotWrite(kind_, names_, ++sent_);
  ModelStore& after = states_[sent_] = before;
  answer_ = ApplyHotWrite(&after, write);
  // What was there before is not known.
  if (begins_anew_) answer_.clear();
  if (write.ttl_ms > 0) may_expire_usec_ = now + write.ttl_ms * kUsecPerMs - kClockSlackUsec;
  Note(std::to_string(now / kUsecPerMs) + " ms: " + std::to_string(sent_) + " = " + Joined(write.command));
  return write;
}

std::string HotRegister::JudgeWrite(const HotTicket& ticket, const HotWrite& write,
                                    const std::vector<Reply>& replies, int64_t pause_usec, int64_t* version) {
  const std::lock_guard lock(mutex_);
  const int64_t now = NowUsec();
  writing_ = false;
  next_write_usec_ = now + pause_usec;
  std::string text = HotAnswer(write.command, replies.back());
  Note(std::to_string(now / kUsecPerMs) + " ms: " + std::to_string(write.version) + " answered " + text);
  bool lost = false;
  std::string wrong;
  for (const Reply& reply : replies) {
    const MoveFate fate = FateOf(reply, *excuses_);
    lost = lost || fate == MoveFate::kUnknown || fate == MoveFate::kRefused;
    if (fate == MoveFate::kWrong) wrong = "no answer: " + reply.text;
  }
  if (lost || (excused_ && !recovers_) || ticket.epoch != epoch_) {
    Lose();
    return "";
  }
  if (!answer_.empty() && text != answer_) wrong = "answered " + text + "instead of " + answer_;
  if (!wrong.empty()) {
    Lose();
    return Joined(write.command) + " (database " + std::to_string(database_) + ") " + wrong + "\n" +
           History();
  }
  if (begins_anew_) states_.erase(states_.begin(), states_.find(write.version));
  begins_anew_ = false;
  if (recovers_) {
    excused_ = recovers_ = false;
    ++epoch_;
  }
  *version = std::max(*version, write.version);
  Know(write.version);
  if (write.ttl_ms > 0) has_expired_usec_ = now + write.ttl_ms * kUsecPerMs + kClockSlackUsec;
  Advance(now);
  return "";
}

void HotRegister::Lose() {
  begins_anew_ = true;
  next_write_usec_ = NowUsec() + excuses_->ghost_life_usec;
}

void HotRegister::Excuse() {
  const std::lock_guard lock(mutex_);
  excused_ = true;
  recovers_ = false;
  ++epoch_;
}

void HotRegister::EndExcuse() {
  const std::lock_guard lock(mutex_);
  if (!excused_) return;
  recovers_ = true;
  begins_anew_ = true;
  next_write_usec_ = 0;
}

void HotRegister::Note(const std::string& line) {
  history_.push_back(line);
  if (history_.size() > kHistory) history_.pop_front();
}

std::string HotRegister::History() const {
  std::string text;
  for (const std::string& line : history_) text += "      " + line + "\n";
  return text;
}

HotCounter::HotCounter(HotNames names, int database, const MoveExcuses* excuses)
    : names_(std::move(names)),
      database_(database),
      excuses_(excuses),
      reads_({{"GET", names_.key}, {"MGET", names_.key}, {"GETRANGE", names_.key, "0", "-1"}}) {}

HotTicket HotCounter::BeginRead() {
  const std::lock_guard lock(mutex_);
  return {known_, INT64_MAX, epoch_, NowUsec()};
}

std::string HotCounter::JudgeValue(const HotTicket& ticket, int64_t least, const std::string& what,
                                   const Reply& reply, int64_t* version) {
  const MoveFate fate = FateOf(reply, *excuses_);
  if (fate == MoveFate::kUnknown || fate == MoveFate::kRefused || excused_ || ticket.epoch != epoch_)
    return "";
  const Reply& one = reply.IsArray() && reply.elements.size() == 1 ? reply.elements[0] : reply;
  const int64_t value = one.IsInteger() ? one.integer : std::atoll(one.text.c_str());
  const bool number = one.IsInteger() || one.null || one.text == std::to_string(value) || one.text.empty();
  if (fate == MoveFate::kDone && number && value >= least && value <= sent_) {
    known_ = std::max(known_, value);
    *version = std::max(*version, value);
    return "";
  }
  return what + " answered " + ToText(reply) + " when " + Least(ticket) + ", and " + std::to_string(sent_) +
         " increments sent";
}

std::string HotCounter::JudgeRead(const HotTicket& ticket, const Command& command, const Reply& reply,
                                  int64_t* version) {
  const std::lock_guard lock(mutex_);
  return JudgeValue(ticket, ticket.least, Joined(command), reply, version);
}

std::optional<HotWrite> HotCounter::BeginWrite(HotTicket* ticket) {
  const std::lock_guard lock(mutex_);
  const int64_t now = NowUsec();
  if (now < next_write_usec_) return std::nullopt;
  *ticket = {known_, INT64_MAX, epoch_, now};
  ++sent_;
  // Others may be under way at the same time.
  return HotWrite{0, {}, {"INCR", names_.key}, 0};
}

std::string HotCounter::JudgeWrite(const HotTicket& ticket, const HotWrite& write,
                                   const std::vector<Reply>& replies, int64_t pause_usec, int64_t* version) {
  const std::lock_guard lock(mutex_);
  next_write_usec_ = NowUsec() + pause_usec;
  return JudgeValue(ticket, ticket.least + 1, Joined(write.command), replies.back(), version);
}

void HotCounter::Excuse() {
  const std::lock_guard lock(mutex_);
  excused_ = true;
  ++epoch_;
}

void HotCounter::EndExcuse() {
  const std::lock_guard lock(mutex_);
  if (!excused_) return;
  excused_ = false;
  ++epoch_;
  known_ = 0;
}

}  // namespace ringway::test
