// A key that one client writes and many read.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "tests/integration/move_unit.h"

namespace ringway::test {

// A key whose values carry versions, or which is absent where a version says so: no read may be older than
// what was acknowledged, or read by anyone, before it began.
// Thread: any; writes one at a time. Owns: nothing. Limits: none.
class MoveRegister {
 public:
  // After a write whose answer was lost the key is no use any more: the writer makes another register.
  MoveRegister(std::string key, const MoveExcuses* excuses) : key_(std::move(key)), excuses_(excuses) {}

  const std::string& key() const { return key_; }
  // Its key may be lost with a server.
  void Excuse() { excused_ = true; }
  bool excused() const { return excused_; }

  Command NextWrite();
  // Empty, or what is wrong. `spoilt` is set when the answer was lost.
  std::string JudgeWrite(const Reply& reply, bool* spoilt);

  // To be called before a read is sent; the result goes into JudgeRead.
  int64_t BeginRead() const { return known_.load(); }
  std::string JudgeRead(int64_t known, const Reply& reply);

 private:
  static bool IsAbsence(int64_t version) { return version % 5 == 0; }
  std::string Value(int64_t version) const { return key_ + "@" + std::to_string(version) + ";"; }
  void Know(int64_t version);

  const std::string key_;
  const MoveExcuses* const excuses_;
  std::atomic<int64_t> sent_{0};
  std::atomic<int64_t> known_{0};  // acknowledged or read
  std::atomic<bool> excused_{false};
};

}  // namespace ringway::test
