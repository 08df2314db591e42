// One client of the move checker.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/integration/move_checker.h"

namespace ringway::test {

// Sends pipelines of some of its units, with reads and writes of registers and of ballast between them, and
// judges the replies. Thread: one at a time. Owns: its connection. Limits: none.
class MoveClient {
 public:
  MoveClient(int id, int database, MoveChecker* checker);

  // Connects where needed, and sends one round; Collect reads and judges its replies.
  void SendRound();
  void Collect();

  int database() const { return database_; }
  std::vector<MoveUnit>& units() { return units_; }
  const std::vector<MoveUnit>& units() const { return units_; }

 private:
  enum class Kind { kUnit, kRead, kWrite, kBallast };
  struct Awaited {
    Kind kind;
    size_t index;  // of the unit, the register or the ballast
    std::shared_ptr<MoveRegister> shared;
    int64_t known = 0;
  };

  bool Connected();
  void Add(std::string* bytes, const Command& command, Awaited awaited);
  void AddUnits(std::string* bytes);
  void AddRegisters(std::string* bytes);
  void AddBallast(std::string* bytes);
  std::string Judge(const Awaited& awaited, const Reply& reply);
  uint64_t Pick(size_t count) { return random_() % count; }

  const int id_;
  const int database_;
  MoveChecker* const checker_;
  std::mt19937_64 random_;
  RespClient connection_;
  std::vector<MoveUnit> units_;
  std::vector<Awaited> awaited_;
};

}  // namespace ringway::test
