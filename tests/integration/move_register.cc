#include "tests/integration/move_register.h"

#include <cstdlib>

namespace ringway::test {

Command MoveRegister::NextWrite() {
  const int64_t version = ++sent_;
  if (IsAbsence(version)) return {"DEL", key_};
  return {"SET", key_, Value(version)};
}

std::string MoveRegister::JudgeWrite(const Reply& reply, bool* spoilt) {
  const MoveFate fate = FateOf(reply, *excuses_);
  *spoilt = fate == MoveFate::kUnknown || fate == MoveFate::kRefused;
  if (*spoilt || excused_) return "";
  const int64_t version = sent_;
  const bool fits = IsAbsence(version) ? reply.IsInteger() && reply.integer == 1 : reply.IsOk();
  if (fate == MoveFate::kWrong || !fits) {
    excused_ = true;
    return "register " + key_ + ": write of version " + std::to_string(version) + " was answered " +
           ToText(reply);
  }
  Know(version);
  return "";
}

std::string MoveRegister::JudgeRead(int64_t known, const Reply& reply) {
  const MoveFate fate = FateOf(reply, *excuses_);
  if (fate == MoveFate::kUnknown || fate == MoveFate::kRefused || excused_) return "";
  const int64_t latest = sent_;
  int64_t version = -1;
  if (fate == MoveFate::kDone && reply.null) {
    version = known + (5 - known % 5) % 5;
  } else if (fate == MoveFate::kDone && reply.text.starts_with(key_ + "@")) {
    version = std::atoll(reply.text.c_str() + key_.size() + 1);
    if (reply.text != Value(version)) version = -1;
  }
  if (version >= known && version <= latest) {
    Know(version);
    return "";
  }
  excused_ = true;
  return "register " + key_ + ": read " + ToText(reply) + " when version " + std::to_string(known) +
         " was known before it began, and " + std::to_string(latest) + " sent";
}

void MoveRegister::Know(int64_t version) {
  int64_t before = known_;
  while (before < version && !known_.compare_exchange_weak(before, version)) {
  }
}

}  // namespace ringway::test
