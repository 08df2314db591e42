// The clients that find a missed key.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/move_register.h"
#include "tests/integration/move_unit.h"

namespace ringway::test {

// A key and its database.
struct PlacedKey {
  int database;
  std::string key;
};

struct MoveCheckerOptions {
  std::string address;
  int threads = 8;
  int clients_per_thread = 4;
  int units_per_client = 12;
  int registers_per_database = 6;
  int ballast_per_database = 1000;  // keys that nobody changes
};

class MoveClient;

// At least 32 clients over 9 databases, each with keys of its own of every kind, with registers that all
// clients of a database read, and with ballast that must always be there.
// Thread: the test's own; clients run on threads of the checker. Owns: threads and connections.
// Limits: databases 0 to 8; database 8 has one client, which flushes it.
class MoveChecker {
 public:
  static constexpr int kSharedDatabases = 8;
  static constexpr int kFlushedDatabase = 8;
  static constexpr int kQuietDatabase = 9;

  // Asks the proxy whether it serves transactions. Throws SetUpFailure when it does not answer.
  explicit MoveChecker(MoveCheckerOptions options);
  ~MoveChecker();

  // Writes the ballast, and starts the clients.
  void Start();
  // Returns when no client has a request under way; Resume lets them go on.
  void Pause();
  void Resume();
  void Stop();

  MoveExcuses& excuses() { return excuses_; }
  // While paused: marks what may be lost with a server, by key; EndExcuses gives new keys to those.
  void Excuse(const std::function<bool(const PlacedKey&)>& may_be_lost);
  void EndExcuses();
  // While paused: all keys that the clients use now.
  std::vector<PlacedKey> Keys() const;
  // After Stop: how often units have taken new keys, because they could not know any more what theirs held.
  int64_t NewKeys() const;

  // What was wrong so far; any thread.
  std::vector<std::string> Complaints() const;
  int64_t judged() const { return judged_; }
  int64_t lost_answers() const { return lost_answers_; }

  static std::string BallastKey(int index) { return "ballast:" + std::to_string(index); }
  const MoveCheckerOptions& options() const { return options_; }

 private:
  friend class MoveClient;
  void RunThread(int thread);
  // False when the checker is stopped.
  bool WaitWhilePaused();
  void Complain(const std::string& wrong);
  std::shared_ptr<MoveRegister> RegisterAt(int database, int index) const;
  // Another key in the place of a register.
  void RenewRegister(int database, int index);

  const MoveCheckerOptions options_;
  const int kinds_;  // of work, which clients share out among their units
  MoveExcuses excuses_;
  std::vector<std::unique_ptr<MoveClient>> clients_;
  std::vector<std::thread> threads_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool paused_ = false;
  int waiting_ = 0;
  std::atomic<bool> stop_{false};
  std::vector<std::string> complaints_;
  std::vector<std::vector<std::shared_ptr<MoveRegister>>> registers_;  // by database
  int register_generation_ = 0;
  std::vector<std::vector<bool>> ballast_excused_;  // by database; changed only while paused
  std::atomic<int64_t> judged_{0};
  std::atomic<int64_t> lost_answers_{0};
};

}  // namespace ringway::test
