// Looks over whole databases while keys move.
#pragma once

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/move_checker.h"

namespace ringway::test {

// Asks SCAN, KEYS, DBSIZE and RANDOMKEY all the while: a database that nobody writes must be told exactly,
// and a SCAN of the others from 0 to 0 must give every key that lives throughout. Thread: the test's own;
// looks on a thread of its own. Owns: the thread. Limits: none.
class MoveSurvey {
 public:
  // Writes `quiet_keys` into the quiet database of `checker`, which has been started.
  MoveSurvey(MoveChecker* checker, int quiet_keys);
  ~MoveSurvey() { Stop(); }

  void Stop();
  std::vector<std::string> Complaints() const;
  int64_t rounds() const { return rounds_; }

 private:
  void Run();
  void LookAtQuiet();
  void LookAtBallast(int database);
  // All keys by SCAN; false when it was not answered to the end.
  bool Scan(std::multiset<std::string>* keys);
  // An answer that is to be judged: false for one that is excused.
  bool Judgeable(const std::string& what, const Reply& reply);
  void Complain(const std::string& wrong);
  bool Select(int database);

  MoveChecker* const checker_;
  std::set<std::string> quiet_;
  RespClient connection_;
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> rounds_{0};
  mutable std::mutex mutex_;
  std::vector<std::string> complaints_;
  std::thread thread_;
};

}  // namespace ringway::test
